// Draws the payload of board_drawing.py. Every text reaches the page as textContent: names of models are hostile.
const FIRST_ROWS = 60;
const FEW = 12; // rows that leave room for the legend below them
const BREAKS = /(?<=[a-z]{5})(?=(?:cation|nation|nated|zation|ness)\b)/g; // where a long word of a head may be hyphenated
const KEYS = [
  ["← ↑ ↓ → h j k l", "walk over cells or cases"], ["Enter", "open the cell's worst cases, or a case"],
  ["n", "next failing cell or case"], ["Esc", "close"], ["?", "this help"], ["Ctrl K, ⌘ K", "go anywhere"],
];
const STEPS = {
  ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0],
  h: [0, -1], l: [0, 1], k: [-1, 0], j: [1, 0],
};

function sortButton(column, sort, sortBy) {
  const sorted = sort.key === column.key;
  const title = column.title.replace(BREAKS, "\u00ad");
  const button = element("button", "", title + (column.arrow || sorted ? "\u00a0" : ""));
  button.append(element("span", "arrow", column.arrow + (sorted ? (sort.down ? " ▼" : " ▲") : "")));
  button.onclick = () => sortBy(column.key);
  return button;
}

function headCell(column, sort, sortBy) {
  const cell = element("th");
  cell.scope = "col";
  cell.setAttribute("aria-sort", sort.key === column.key ? (sort.down ? "descending" : "ascending") : "none");
  cell.append(sortButton(column, sort, sortBy));
  return cell;
}

function drawHead(head, data, sortBy) {
  const groups = element("tr");
  const metrics = element("tr");
  const counted = `Model (${data.models.length})`;
  const corner = headCell({ key: "model", title: counted, arrow: "" }, data.sort, sortBy);
  corner.className = "corner";
  corner.rowSpan = 2;
  if (data.prefix) corner.append(element("small", "prefix", `${data.prefix}…`));
  groups.append(corner);
  let index = 0;
  for (const [title, span] of data.groups) {
    const columns = data.columns.slice(index, index + span);
    const alone = span === 1; // its own header then says what the evaluator is called
    if (!alone) {
      const cell = element("th", "group");
      cell.colSpan = span;
      cell.scope = "colgroup";
      cell.title = title;
      cell.append(element("span", "", title));
      groups.append(cell);
    }
    for (const column of columns) {
      const cell = headCell(alone ? { ...column, title: column.full } : column, data.sort, sortBy);
      cell.dataset.column = index++;
      if (alone) cell.rowSpan = 2;
      (alone ? groups : metrics).append(cell);
    }
  }
  head.classList.toggle("grouped", data.groups.some(([, span]) => span > 1));
  head.replaceChildren(groups, metrics);
}

function drawRow(data, row) {
  const line = element("tr");
  const name = element("th");
  name.scope = "row";
  name.append(element("div", "model", data.names[row]));
  name.title = data.models[row];
  line.append(name);
  data.cells[row].forEach((cell, column) => {
    const [text, step, interval, size, marks, , rank] = cell;
    const box = element("td", step === null ? (text === data.missing ? "none" : "") : `s${step}`);
    if (marks & 1) box.classList.add("best");
    if (data.open && data.open.key === data.columns[column].key && data.open.model === data.models[row]) box.classList.add("open");
    const link = element("a");
    link.href = `${data.columns[column].behind}&model=${encodeURIComponent(data.models[row])}`;
    link.tabIndex = -1;
    const value = element("b", text.trim().length > 5 ? "long" : "", text);
    if (marks & 2) value.prepend(element("span", "bang", "!"));
    if (marks & 4) value.prepend(element("span", "apart", "≠"));
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

// The columns to choose from; what is typed narrows them, and stays while the board is drawn again.
function drawChooser(box, data, choose) {
  const input = box.querySelector("input");
  const shown = new Set(data.columns.map((column) => column.key));
  const options = data.every.map(([key, group, title, text]) => {
    const label = element("label");
    const check = element("input");
    check.type = "checkbox";
    check.checked = shown.has(key);
    check.onchange = () => {
      check.checked ? shown.add(key) : shown.delete(key);
      choose(data.every.map((each) => each[0]).filter((each) => shown.has(each)));
    };
    label.append(check, element("span", "", title), element("small", "", group === title ? "" : group));
    label.title = text;
    return label;
  });
  const find = () => {
    const wanted = input.value.toLowerCase();
    for (const label of options) label.hidden = !`${label.textContent} ${label.title}`.toLowerCase().includes(wanted);
  };
  input.oninput = find;
  for (const button of box.querySelectorAll("button"))
    button.onclick = () => choose(button.value === "all" ? data.every.map((each) => each[0]) : []);
  box.querySelector(".options").replaceChildren(...options);
  find();
}

function drawDrawer(find, data) {
  const drawer = find(".drawer");
  drawer.hidden = !data.open;
  if (!data.open) return;
  const open = data.open;
  find(".drawer-head strong").textContent = open.title;
  find(".drawer-facts").textContent = open.facts;
  const links = open.links.map(([text, href]) => {
    const link = element("a", "plain", text);
    link.href = href;
    return link;
  });
  find(".drawer-links").replaceChildren(...links);
  drawCases(find(".cases"), open.cases);
}

function cellAddress(key, model) {
  const address = new URL(location.href);
  for (const [name, value] of [["cell", key], ["of", model]])
    value === null ? address.searchParams.delete(name) : address.searchParams.set(name, value);
  return address.href;
}

export default function (component) {
  const { parentElement, setTriggerValue } = component;
  const data = JSON.parse(new TextDecoder().decode(component.data));
  const find = (selector) => parentElement.querySelector(selector);
  const root = find(".board");
  const scroll = find(".scroll");
  const table = find("table");
  const body = find("tbody");
  const tip = find(".tip");
  const more = find(".more");
  const keys = find(".keys");
  find(".headline").textContent = data.headline;
  root.dataset.cells = data.cells_as;
  root.classList.toggle("signed", data.cells.flat().some((cell) => cell?.[2]?.includes("−"))); // intervals with a sign are wider
  const longest = Math.max(...data.names.map((name) => name.length), 12);
  root.style.setProperty("--name", `min(${Math.min(212, 24 + 7.8 * longest)}px, 48vw)`);
  root.style.setProperty("--columns", data.columns.length);
  drawHead(find("thead"), data, (key) => setTriggerValue("sort", key));
  drawKeys(keys, KEYS);

  const choose = find(".choose");
  const chooser = find(".chooser");
  choose.textContent = `Columns (${data.columns.length} of ${data.every.length}) ▾`;
  choose.onclick = () => {
    chooser.hidden = !chooser.hidden;
    choose.setAttribute("aria-expanded", String(!chooser.hidden));
    if (!chooser.hidden) chooser.querySelector("input").focus();
  };
  drawChooser(chooser, data, (chosen) => setTriggerValue("columns", chosen));
  const densities = data.densities.map(([name, title, about]) => {
    const button = element("button", "plain", title);
    button.title = about;
    button.setAttribute("aria-pressed", String(name === data.cells_as));
    button.onclick = () => setTriggerValue("cells", name);
    return button;
  });
  find(".densities").replaceChildren(...densities);
  find(".help").onclick = () => (keys.hidden = !keys.hidden);

  // what is below or to the right of the edge shows as a fade, and how many columns it is
  const edges = () => {
    const right = scroll.scrollWidth - scroll.clientWidth - scroll.scrollLeft;
    const below = scroll.scrollHeight - scroll.clientHeight - scroll.scrollTop;
    find(".fade.right").classList.toggle("on", right > 2);
    find(".fade.below").classList.toggle("on", below > 2);
    const edge = scroll.getBoundingClientRect().left + scroll.clientWidth;
    const cells = body.firstChild ? [...body.firstChild.querySelectorAll("td")] : [];
    const hidden = cells.filter((cell) => cell.getBoundingClientRect().right > edge + 2).length;
    find(".further").hidden = !hidden;
    find(".further").textContent = `${hidden} more ›`;
  };
  find(".further").onclick = () => scroll.scrollBy({ left: scroll.clientWidth - 220 });
  // as high as fits above the fold, wherever the page's head ends
  const fit = () => {
    const page = scroll.closest("[data-testid=stMain]") || parentElement.host?.closest("[data-testid=stMain]");
    const top = scroll.getBoundingClientRect().top + (page ? page.scrollTop : 0);
    scroll.style.maxHeight = `${Math.max(320, window.innerHeight - top - (data.models.length > FEW ? 10 : 34))}px`;
    root.classList.toggle("narrow", (scroll.clientWidth - 190) / data.columns.length < 64 && data.cells_as !== "full");
    find("thead").style.setProperty("--groups", `${find("thead tr").offsetHeight}px`);
    edges();
  };

  const draw = (limit) => {
    const shown = Math.min(limit, data.models.length);
    const lines = [];
    for (let row = 0; row < shown; row++) lines.push(drawRow(data, row));
    body.replaceChildren(...lines);
    more.hidden = shown === data.models.length;
    more.textContent = `Show all ${data.models.length} models (${shown} shown)`;
    const first = body.querySelector("td.open a") || body.querySelector("td a");
    if (first) first.tabIndex = 0;
    fit();
  };
  const active = () => parentElement.activeElement || document.activeElement;
  const before = active() && active().closest && active().closest("td");
  const at = before ? [before.dataset.row, before.dataset.column] : null;
  const wasOpen = find(".drawer").dataset.cell || "";
  draw(FIRST_ROWS);
  more.onclick = () => draw(Infinity);
  const cellAt = (row, column) => body.rows[row] && body.rows[row].querySelector(`td[data-column="${column}"]`);
  if (at && cellAt(...at)) focusOn(cellAt(...at).firstChild, body.querySelectorAll("a[tabindex='0']"));
  drawDrawer(find, data);
  const nowOpen = data.open ? `${data.open.key}\n${data.open.model}` : "";
  find(".drawer").dataset.cell = nowOpen;
  if (nowOpen && nowOpen !== wasOpen && find(".case")) find(".case").focus({ preventScroll: true });
  if (body.querySelector(".open")) body.querySelector(".open").scrollIntoView({ block: "nearest", inline: "nearest" });
  const watching = new ResizeObserver(fit);
  watching.observe(scroll);
  watching.observe(table);

  const hide = () => (tip.hidden = true);
  const show = (box) => {
    const row = box.dataset.row === undefined ? null : +box.dataset.row;
    const [title, text] = tipLines(data, row, +box.dataset.column);
    tip.replaceChildren(element("strong", "", title), element("span", "", text));
    tip.hidden = false;
    const place = box.getBoundingClientRect();
    const left = Math.min(place.left, window.innerWidth - tip.offsetWidth - 12);
    const below = place.bottom + 6 + tip.offsetHeight < window.innerHeight;
    tip.style.left = `${Math.max(8, left)}px`;
    tip.style.top = `${below ? place.bottom + 6 : Math.max(8, place.top - tip.offsetHeight - 6)}px`;
  };
  scroll.onmouseover = (event) => {
    // a drawer that opens moves the cells below a mouse that stays where it is
    if (scroll.dataset.still === `${event.clientX} ${event.clientY}`) return;
    const box = event.target.closest("[data-column]");
    box ? show(box) : hide();
  };
  scroll.onmouseleave = hide;
  scroll.onscroll = () => {
    hide();
    edges();
  };

  const close = () => {
    const cell = body.querySelector("td.open a");
    follow(cellAddress(null, null));
    if (cell) focusOn(cell, body.querySelectorAll("a[tabindex='0']"));
  };
  // the drawer is there at once; what is in it comes with the next script run
  const open = (link) => {
    const box = link.closest("td");
    if (!box) return false;
    hide();
    const column = data.columns[+box.dataset.column];
    const model = data.models[+box.dataset.row];
    for (const other of body.querySelectorAll("td.open")) other.classList.remove("open");
    box.classList.add("open");
    find(".drawer").hidden = false;
    find(".drawer-head strong").textContent = `${model} · ${column.title}`;
    find(".drawer-facts").textContent = "Reading the cases …";
    find(".drawer-links").replaceChildren();
    find(".cases").replaceChildren();
    follow(cellAddress(column.key, model));
    return true;
  };
  scroll.onmousedown = (event) => (scroll.dataset.still = `${event.clientX} ${event.clientY}`);
  followClicks(root, open);
  find(".close").onclick = close;

  const walk = (from, [down, right]) => {
    const next = from ? cellAt(+from.dataset.row + down, +from.dataset.column + right) : cellAt(0, 0);
    if (!next) return;
    focusOn(next.firstChild, body.querySelectorAll("a[tabindex='0']"));
    show(next);
  };
  const nextFailing = (from) => {
    const cells = [...body.querySelectorAll("td")];
    const next = cells.slice(from ? cells.indexOf(from) + 1 : 0).find((cell) => cell.querySelector(".bang"));
    if (!next) return;
    focusOn(next.firstChild, body.querySelectorAll("a[tabindex='0']"));
    show(next);
  };
  const onKey = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const target = event.composedPath()[0];
    if (event.key === "Escape") {
      if (!keys.hidden) keys.hidden = true;
      else if (!chooser.hidden) choose.onclick();
      else if (!tip.hidden) hide();
      else if (data.open && parentElement.contains(target)) close();
      else return;
      event.preventDefault(); // else the listener of a drawing that is about to go would close the next thing, too
      return;
    }
    if (isTyping(event)) return;
    const inside = parentElement.contains(target);
    const list = find(".cases");
    if (event.key === "?") keys.hidden = !keys.hidden;
    else if (list.contains(target)) {
      if (!walkCases(list, event.key, target)) return;
    } else if ((inside || (target === document.body && !event.key.startsWith("Arrow"))) && STEPS[event.key]) {
      walk(target.closest("td") || null, STEPS[event.key]);
    } else if (event.key === "n") nextFailing(target.closest("td"));
    else return;
    event.preventDefault();
  };
  document.addEventListener("keydown", onKey);
  return () => {
    hide();
    watching.disconnect();
    document.removeEventListener("keydown", onKey);
  };
}
