// Draws the payload of evidence_rows.py: verdicts, and what they rest on. Every text is textContent.
const name = (group, number) => `${group}.${number}`;

function drawRow(group, row) {
  const made = element("button", "row");
  made.type = "button";
  made.dataset.name = name(group, row.number);
  made.links = row.restsOn.map(([target, number]) => name(target, number));
  made.quotes = row.quotes;
  const glyph = element("span", "glyph", row.glyph);
  glyph.style.setProperty("--mark", row.colour);
  const words = element("span");
  words.dir = "auto";
  words.append(element("span", "", row.text + " "), element("span", "verdict", row.label));
  if (row.links) words.append(element("span", "links", ` · ${row.links}`));
  for (const text of [row.reason, ...row.notes]) if (text) words.append(element("small", "", text));
  made.append(element("span", "number", row.number), glyph, words);
  return made;
}

function drawPair(group, row, counts) {
  const made = element("button", "row pair");
  made.type = "button";
  made.dataset.name = name(group, row.number);
  made.links = [];
  const glyph = element("span", "glyph", row.glyph);
  glyph.style.setProperty("--mark", row.colour);
  made.append(glyph);
  for (const [side, text] of [row.expected, row.text].entries()) {
    const words = element("span", text ? "words" : "absent");
    words.append(element("span", "number", text ? `${++counts[side]} ` : ""), text || "–");
    made.append(words);
  }
  const judged = element("span");
  judged.append(element("span", "verdict", row.label));
  for (const text of [row.reason, ...row.notes]) if (text) judged.append(element("small", "", text));
  made.append(judged);
  return made;
}

function drawRows(group) {
  if (!group.rows.some((row) => row.expected !== null)) return group.rows.map((row) => drawRow(group.name, row));
  const head = element("div", "pair head");
  for (const text of ["", "Expected", "Answer", ""]) head.append(element("span", "", text));
  const counts = [0, 0];
  return [head, ...group.rows.map((row) => drawPair(group.name, row, counts))];
}

function drawContext(text, place, title) {
  const made = element("button", "row context");
  made.type = "button";
  made.dataset.name = name("contexts", place + 1);
  made.links = [];
  made.text = text;
  made.words = element("span", "words", text);
  made.words.dir = "auto";
  made.append(element("span", "number", title), made.words);
  return made;
}

// Draw the words of a context, those that are quoted marked.
function quote(row, quotes) {
  const spans = quotes.map((text) => [row.text.indexOf(text), text.length]).filter(([start]) => start >= 0);
  const parts = [];
  let end = 0;
  for (const [start, length] of spans.sort((a, b) => a[0] - b[0])) {
    if (start < end) continue;
    parts.push(element("span", "", row.text.slice(end, start)), element("mark", "", row.text.slice(start, start + length)));
    end = start + length;
  }
  row.words.replaceChildren(...parts, element("span", "", row.text.slice(end)));
  row.classList.toggle("quoted", parts.length > 0);
}

function drawList(title, note, rows) {
  const part = element("section");
  const head = element("h4", "", title);
  if (note) head.append(element("small", "", ` · ${note}`));
  const list = element("ol");
  for (const row of rows) {
    const entry = element("li");
    entry.append(row);
    list.append(entry);
  }
  part.append(head, list);
  return part;
}

export default function (component) {
  const root = component.parentElement.querySelector(".evidence");
  const data = newData(component, root);
  if (!data) return;
  const left = element("div", "side");
  for (const group of data.groups) left.append(drawList(group.title, group.note, drawRows(group)));
  const sides = element("div", data.contexts.length ? "sides two" : "sides");
  sides.append(left);
  if (data.contexts.length) {
    const right = element("div", "side");
    right.append(drawList("Retrieved contexts", data.hint, data.contexts.map((text, place) => drawContext(text, place, data.titles[place]))));
    sides.append(right);
  }
  root.replaceChildren(sides);

  const rows = [...root.querySelectorAll(".row")];
  const joined = (row) => [row, ...rows.filter((other) => row.links.includes(other.dataset.name) || other.links.includes(row.dataset.name))];
  for (const row of rows) row.classList.toggle("linked", joined(row).length > 1);
  const every = rows.flatMap((row) => row.quotes || []);
  let pinned = null;
  function light(row, scroll) {
    const lit = row ? joined(row) : [];
    sides.classList.toggle("choosing", lit.length > 1);
    for (const one of rows) {
      one.classList.toggle("lit", lit.includes(one));
      if (one.words) quote(one, !row ? every : lit.includes(one) && row.quotes ? row.quotes : []);
    }
    const far = lit.find((one) => one.closest(".side") !== row.closest(".side"));
    if (scroll && far) {
      const side = far.closest(".side");
      const seen = side.querySelector("mark") || far;
      side.scrollTop += seen.getBoundingClientRect().top - side.getBoundingClientRect().top - 30;
    }
  }
  for (const row of rows) {
    row.onclick = () => {
      pinned = pinned === row ? null : row;
      for (const one of rows) one.setAttribute("aria-pressed", String(one === pinned));
      light(pinned, true);
    };
    row.onpointerenter = () => pinned || light(row, false);
    row.onpointerleave = () => pinned || light(null);
    row.onfocus = () => pinned || light(row, true);
    row.onblur = () => pinned || light(null);
  }
  light(null);
}
