// Draws the payload of case_rows.py.
const KEYS = [["↑ ↓ ← →", "move over the cells"], ["Enter", "open the case"], ["n", "next failing cell"], ["?", "this help"], ["Ctrl K, ⌘ K", "go anywhere"]];
const MARKS = { passes: "✓", fails: "✗" };
const ARROWS = { better: "▲", worse: "▼", same: "=" };

function drawScore(cell) {
  const score = element("span", "score");
  if (cell.mark) {
    const mark = element("span", `mark ${cell.mark}`, MARKS[cell.mark]);
    mark.setAttribute("aria-label", cell.mark);
    mark.setAttribute("role", "img");
    score.append(mark);
  }
  score.append(element("b", "", cell.value));
  if (cell.change) {
    const { kind, amount, was } = cell.change;
    const change = element("span", `change ${kind}`, kind === "same" ? ARROWS.same : `${ARROWS[kind]} ${amount}`);
    change.title = kind === "same" ? `as before: ${was}` : `${kind}; compared with ${was}`;
    score.append(change);
  }
  if (cell.share !== null) score.append(drawBar(cell));
  return score;
}

function drawCell(cell, model) {
  const place = element("td");
  if (!cell) return place;
  const link = element("a");
  link.href = cell.href;
  link.tabIndex = -1;
  if (cell.mark === "fails") link.dataset.failing = "";
  link.append(element("small", "name", model.name), drawScore(cell));
  if (cell.answer) {
    const answer = element("span", "answer", cell.answer);
    answer.dir = "auto";
    link.append(answer);
    link.title = cell.answer;
  }
  place.append(link);
  return place;
}

function drawRow(row, models) {
  const made = element("tr");
  const head = element("th");
  head.scope = "row";
  const link = element("a");
  link.href = row.href;
  link.tabIndex = -1;
  if (row.image) {
    const picture = element("img", "picture");
    picture.src = row.image;
    picture.alt = "";
    link.append(picture);
  }
  const question = element("span", "question", row.question);
  question.dir = "auto";
  link.append(question);
  const facts = [row.id !== row.question && row.id, row.tags].filter(Boolean).join(" · ");
  if (facts) link.append(element("small", "", facts));
  link.title = row.question;
  head.append(link);
  made.append(head, ...row.cells.map((cell, place) => drawCell(cell, models[place])));
  return made;
}

function drawHead(models) {
  const row = element("tr");
  const heads = models.map(({ name, value }) => {
    const head = element("th");
    head.append(element("b", "", name));
    if (value) head.append(element("small", "", value));
    return head;
  });
  row.append(element("th", "", "Case"), ...heads);
  for (const head of row.children) head.scope = "col";
  const made = element("thead");
  made.append(row);
  return made;
}

// Whether the key was one of the table's.
function walk(table, key, link) {
  const links = [...table.querySelectorAll("tbody a")];
  const place = link && link.closest("th, td");
  const [column, row] = place ? [place.cellIndex, place.parentElement] : [0, null];
  const beside = (to, step) => {
    for (let next = to; next; next = next[step]) if (next.querySelector("a")) return next.querySelector("a");
  };
  const vertical = (to) => to && (to.cells[column].querySelector("a") || to.cells[0].querySelector("a"));
  const next = {
    ArrowDown: () => (row ? vertical(row.nextElementSibling) : links[0]),
    ArrowUp: () => row && vertical(row.previousElementSibling),
    ArrowRight: () => place && beside(place.nextElementSibling, "nextElementSibling"),
    ArrowLeft: () => place && beside(place.previousElementSibling, "previousElementSibling"),
    n: () => links.slice(links.indexOf(link) + 1).find((other) => "failing" in other.dataset),
  }[key];
  if (!next) return false;
  const target = next();
  if (target) focusOn(target, links);
  return true;
}

export default function (component) {
  const { parentElement } = component;
  const frame = parentElement.querySelector(".frame");
  const table = frame.querySelector("table");
  const keys = parentElement.querySelector(".keys");
  const data = newData(component, table);
  if (data) {
    const body = element("tbody");
    body.append(...data.rows.map((row) => drawRow(row, data.models)));
    table.replaceChildren(drawHead(data.models), body);
    const first = body.querySelector("a");
    if (first) first.tabIndex = 0;
    frame.scrollTop = 0;
  }
  drawKeys(keys, KEYS);
  followClicks(frame);
  return followKeys(frame, keys, (key, target) => walk(table, key, frame.contains(target) ? target.closest("a") : null));
}
