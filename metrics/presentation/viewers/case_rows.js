// Rows of cases and the keys that walk over them, shared by the board's drawer and the list of cases.
function drawBar({ share, step }) {
  const bar = element("i", "track");
  const fill = element("i", step === null ? "fill" : `fill s${step}`);
  fill.style.width = `${100 * share}%`;
  bar.append(fill);
  return bar;
}

function drawCase(entry) {
  const link = element("a", "case");
  link.href = entry.href;
  link.tabIndex = -1;
  if (entry.failing) link.dataset.failing = "";
  if (entry.image) {
    const picture = element("img", "picture");
    picture.src = entry.image;
    picture.alt = "";
    link.append(picture);
  }
  const head = element("span", "top");
  head.append(element("b", "id", entry.id));
  if (entry.model) head.append(element("span", "of", entry.model));
  if (entry.facts) head.append(element("span", "facts", entry.facts));
  const score = element("span", "score");
  if (entry.share !== null) score.append(drawBar(entry));
  score.append(element("b", entry.failing ? "value wrong" : "value", entry.value));
  head.append(score);
  link.append(head);
  if (entry.question) link.append(element("span", "line question", entry.question));
  if (entry.answer) link.append(element("span", "line answer", entry.answer));
  if (entry.reason) link.append(element("span", "line reason", entry.reason));
  link.title = [entry.question, entry.answer, entry.reason].filter(Boolean).join("\n");
  return link;
}

function drawCases(list, entries) {
  list.replaceChildren(...entries.map(drawCase));
  if (list.firstChild) list.firstChild.tabIndex = 0;
}

function focusOn(link, others) {
  for (const other of others) other.tabIndex = -1;
  link.tabIndex = 0;
  link.focus({ preventScroll: true });
  link.scrollIntoView({ block: "nearest", inline: "nearest" });
}

// Whether the key was one of the list's: j and k or the arrows, n for the next one that fails.
function walkCases(list, key, active) {
  const links = [...list.children];
  const at = links.indexOf(active);
  const next = {
    j: () => links[at + 1], ArrowDown: () => links[at + 1],
    k: () => links[at - 1], ArrowUp: () => links[at - 1],
    n: () => links.slice(at + 1).find((link) => "failing" in link.dataset),
  }[key];
  if (!next) return false;
  const link = next();
  if (link) focusOn(link, links);
  return true;
}

// Follow the keys of a list; `walk` returns whether a key was one of its own. What is returned ends it.
function followKeys(box, keys, walk) {
  const onKey = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.key === "Escape") keys.hidden = true;
    if (isTyping(event)) return;
    const target = event.composedPath()[0];
    if (event.key === "?") keys.hidden = !keys.hidden;
    else if ((!box.contains(target) && event.key.startsWith("Arrow")) || !walk(event.key, target)) return;
    event.preventDefault();
  };
  document.addEventListener("keydown", onKey);
  return () => document.removeEventListener("keydown", onKey);
}
