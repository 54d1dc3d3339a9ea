// Draws the payload of components/heatmap.py. Every text reaches the page as textContent: names of models are hostile.
const FIRST_ROWS = 60;

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function drawHead(head, data, sortBy) {
  const groups = element("tr");
  const corner = element("th", "corner");
  groups.append(corner);
  for (const [title, span] of data.groups) {
    const cell = element("th", "group");
    cell.colSpan = span;
    cell.scope = "colgroup";
    cell.append(element("span", "", title));
    groups.append(cell);
  }
  const metrics = element("tr");
  const columns = [{ key: "model", title: `Model (${data.models.length})`, arrow: "" }, ...data.columns];
  columns.forEach((column, index) => {
    const cell = element("th", index ? "" : "corner");
    const sorted = data.sort.key === column.key;
    cell.scope = "col";
    cell.setAttribute("aria-sort", sorted ? (data.sort.down ? "descending" : "ascending") : "none");
    if (index) cell.dataset.column = index - 1;
    const button = element("button", "", column.title.replaceAll("_", "_\u200b") + (column.arrow || sorted ? "\u00a0" : ""));
    button.append(element("span", "arrow", column.arrow + (sorted ? (data.sort.down ? " ▼" : " ▲") : "")));
    button.onclick = () => sortBy(column.key);
    cell.append(button);
    metrics.append(cell);
  });
  head.replaceChildren(groups, metrics);
  // The second row sticks below the first, whose height is known only when it is laid out and changes with the fonts.
  new ResizeObserver(() => head.style.setProperty("--groups", `${groups.offsetHeight}px`)).observe(groups);
}

function drawRow(data, row) {
  const line = element("tr");
  const name = element("th");
  name.scope = "row";
  name.append(element("div", "model", data.models[row]));
  name.title = data.models[row];
  line.append(name);
  data.cells[row].forEach((cell, column) => {
    const [text, step, interval, size, marks, , rank] = cell;
    const box = element("td", step === null ? (text === data.missing ? "none" : "") : `s${step}`);
    if (marks & 1) box.classList.add("best");
    const link = element("a");
    link.href = `${data.columns[column].behind}&model=${encodeURIComponent(data.models[row])}`;
    link.tabIndex = -1;
    const value = element("b", "", text);
    if (marks & 2) value.prepend(element("span", "bang", "!"));
    link.append(value);
    if (interval) link.append(element("small", "", interval));
    if (size) link.append(element("small", "", size));
    // the best have a corner of their own
    if (rank && !(marks & 1)) link.append(element("i", "rank", String(parseInt(rank))));
    box.append(link);
    box.dataset.row = row;
    box.dataset.column = column;
    line.append(box);
  });
  return line;
}

function tipLines(data, row, column) {
  const about = data.columns[column];
  if (row === null) return [about.title, about.about];
  const [text, , interval, size, marks, note, rank] = data.cells[row][column];
  const lines = [`${text.trim()}${about.unit ? " " + about.unit : ""}${interval ? `, 95 % interval ${interval}` : ""}`];
  if (size) lines.push(size.replace("∅", "unscored"));
  if (note) lines.push(note);
  if (rank) lines.push(`Rank ${rank}: paired tests, Holm-corrected over all pairs of models.`);
  if (marks & 1) lines.push("No model is significantly better.");
  if (marks & 2) lines.push(`On the wrong side of its threshold, ${about.threshold}.`);
  return [`${data.models[row]} · ${about.title}`, lines.join("\n") + "\n\n" + about.about];
}

export default function (component) {
  const { parentElement, setTriggerValue } = component;
  const data = JSON.parse(new TextDecoder().decode(component.data));
  const find = (selector) => parentElement.querySelector(selector);
  const scroll = find(".scroll");
  const body = find("tbody");
  const tip = find(".tip");
  const more = find(".more");
  find(".headline").textContent = data.headline;
  find(".headline").hidden = !data.headline;
  drawHead(find("thead"), data, (key) => setTriggerValue("sort", key));

  const draw = (limit) => {
    const shown = Math.min(limit, data.models.length);
    const lines = [];
    for (let row = 0; row < shown; row++) lines.push(drawRow(data, row));
    body.replaceChildren(...lines);
    more.hidden = shown === data.models.length;
    more.textContent = `Show all ${data.models.length} models (${shown} shown)`;
    const first = body.querySelector("td a");
    if (first) first.tabIndex = 0;
  };
  draw(FIRST_ROWS);
  more.onclick = () => draw(Infinity);

  const hide = () => (tip.hidden = true);
  const show = (box) => {
    const row = box.dataset.row === undefined ? null : +box.dataset.row;
    const [title, text] = tipLines(data, row, +box.dataset.column);
    tip.replaceChildren(element("strong", "", title), element("span", "", text));
    tip.hidden = false;
    const at = box.getBoundingClientRect();
    const left = Math.min(at.left, window.innerWidth - tip.offsetWidth - 12);
    const below = at.bottom + 6 + tip.offsetHeight < window.innerHeight;
    tip.style.left = `${Math.max(8, left)}px`;
    tip.style.top = `${below ? at.bottom + 6 : Math.max(8, at.top - tip.offsetHeight - 6)}px`;
  };
  scroll.onmouseover = (event) => {
    const box = event.target.closest("[data-column]");
    box ? show(box) : hide();
  };
  scroll.onmouseleave = hide;
  scroll.onscroll = hide;
  // The studio follows the address without loading the page anew, and Back returns to this very view.
  body.onclick = (event) => {
    const link = event.target.closest("a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    hide();
    history.pushState({}, "", link.href);
    window.dispatchEvent(new PopStateEvent("popstate"));
  };
  const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  body.onkeydown = (event) => {
    const box = event.target.closest("td");
    if (!box) return;
    if (event.key === "Escape") {
      hide();
    } else if (steps[event.key]) {
      event.preventDefault();
      const [down, right] = steps[event.key];
      const row = body.rows[+box.dataset.row + down];
      const next = row && row.querySelector(`td[data-column="${+box.dataset.column + right}"]`);
      if (!next) return;
      box.firstChild.tabIndex = -1;
      next.firstChild.tabIndex = 0;
      next.firstChild.focus();
      next.scrollIntoView({ block: "nearest", inline: "nearest" });
      show(next);
    }
  };
  return hide;
}
