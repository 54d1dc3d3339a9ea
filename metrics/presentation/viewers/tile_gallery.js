// Draws the payload of tile_gallery.py. Every text reaches the page as textContent: labels and names are hostile.

function swatch(style) {
  const made = element("i", "swatch");
  made.style.borderStyle = style.line;
  made.style.borderColor = style.colour;
  return made;
}

function drawStage(stage, tile, styles) {
  const [x, y, width, height] = tile.view;
  const canvas = svg("svg", { viewBox: tile.view.join(" "), preserveAspectRatio: "xMidYMid meet", "aria-hidden": "true" });
  const area = { x, y, width, height };
  if (tile.image) canvas.append(svg("image", { ...area, href: tile.image, preserveAspectRatio: "none" }));
  else canvas.append(svg("rect", { ...area, class: "canvas" }));
  for (const shape of tile.shapes) {
    const style = styles[shape.kind];
    const scale = tile.fine ? 0.6 : 1; // many small boxes in one picture want finer lines
    const dash = style.dash.split(" ").filter(Boolean).map((length) => length * scale).join(" ");
    const line = { d: shape.path, fill: "none" };
    if (shape.filled) canvas.append(svg("path", { d: shape.path, fill: style.colour, "fill-opacity": 0.25, "fill-rule": "evenodd" }));
    canvas.append(svg("path", { ...line, stroke: "#000", "stroke-opacity": 0.5 * scale, "stroke-width": (style.width + 1.6) * scale }));
    canvas.append(svg("path", { ...line, stroke: style.colour, "stroke-width": style.width * scale, "stroke-dasharray": dash }));
  }
  stage.replaceChildren(canvas);
  stage.classList.toggle("waiting", !tile.image && !tile.reason);
  if (tile.reason) stage.append(element("div", "reason", tile.reason));
}

function drawTile(tile, styles) {
  const [kind, name, value, words, detail] = tile.lines;
  const link = element("a", "tile");
  link.href = tile.href;
  link.title = tile.about;
  link.tabIndex = -1;
  const stage = element("div", "stage");
  drawStage(stage, tile, styles);
  const text = element("div", "text");
  const first = element("div");
  if (kind) first.append(swatch(styles[kind]));
  first.append(element("span", "name", name), element("b", "", value));
  const second = element("div");
  second.append(element("small", "words", words), element("small", "", detail));
  text.append(first, second);
  link.append(stage, text);
  const cell = element("div", "cell");
  cell.setAttribute("role", "listitem");
  cell.append(link);
  if (tile.key) {
    const tick = element("input", "tick");
    tick.type = "checkbox";
    tick.dataset.key = tile.key;
    tick.setAttribute("aria-label", `Tick ${name} ${words}`);
    cell.append(tick);
  }
  for (const tag of tile.tags || []) text.append(element("span", "tag", tag));
  return cell;
}

export default function (component) {
  const { parentElement, setStateValue, setTriggerValue } = component;
  const data = JSON.parse(new TextDecoder().decode(component.data));
  const grid = parentElement.querySelector(".grid");
  const linkOf = (cell) => cell.querySelector("a.tile");
  const links = () => [...grid.querySelectorAll("a.tile")];
  const before = grid.drawn || [];
  // only what changed is drawn again: thumbnails that arrive late do not take the focus away
  data.tiles.forEach((tile, place) => {
    const packed = JSON.stringify(tile);
    if (before[place] === packed) return;
    const made = drawTile(tile, data.styles);
    const old = grid.children[place];
    const focused = old && old.getRootNode().activeElement === linkOf(old);
    linkOf(made).tabIndex = old ? linkOf(old).tabIndex : -1;
    old ? old.replaceWith(made) : grid.append(made);
    if (focused) linkOf(made).focus();
    before[place] = packed;
  });
  before.length = data.tiles.length;
  grid.drawn = before;
  while (grid.children.length > data.tiles.length) grid.lastChild.remove();
  if (grid.firstChild && !grid.querySelector('a[tabindex="0"]')) linkOf(grid.firstChild).tabIndex = 0;

  // What is ticked stays so while this list of tiles does.
  if (grid.of !== data.of) {
    grid.of = data.of;
    grid.ticked = new Set();
    grid.seen = 0;
  }
  for (const tick of grid.querySelectorAll(".tick")) tick.checked = grid.ticked.has(tick.dataset.key);
  grid.onchange = (event) => {
    const { key } = event.target.dataset;
    event.target.checked ? grid.ticked.add(key) : grid.ticked.delete(key);
    setStateValue("ticked", [...grid.ticked]);
  };

  // Pictures are asked for once their tiles are seen, or about to be.
  const waiting = (cell) => data.tiles[[...grid.children].indexOf(cell)]?.waits;
  const watcher = new IntersectionObserver((entries) => {
    const near = entries.filter((entry) => entry.isIntersecting && waiting(entry.target));
    if (!near.length) return;
    const last = Math.max(...near.map((entry) => [...grid.children].indexOf(entry.target))) + 1;
    if (last > grid.seen) setStateValue("seen", { of: data.of, tiles: (grid.seen = last) });
    else setTriggerValue("more", Date.now());
  }, { rootMargin: "300px" });
  for (const cell of grid.children) if (waiting(cell)) watcher.observe(cell);

  const entries = data.legend.map(([kind, title, glyph]) => {
    const entry = element("span");
    entry.append(swatch(data.styles[kind]), document.createTextNode(`${glyph} ${title}`));
    return entry;
  });
  parentElement.querySelector(".legend").replaceChildren(...entries);

  followClicks(grid);
  grid.onkeydown = (event) => {
    const tiles = links();
    if (event.target.matches?.("a.tile") && event.key === "x") {
      event.preventDefault();
      event.target.parentElement.querySelector(".tick")?.click();
      return;
    }
    const place = tiles.indexOf(event.target.closest("a"));
    if (place < 0) return;
    const columns = tiles.filter((tile) => tile.parentElement.offsetTop === tiles[0].parentElement.offsetTop).length;
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns, Home: -place, End: tiles.length - 1 - place };
    const next = event.key in steps && tiles[place + steps[event.key]];
    if (!next) return;
    event.preventDefault();
    event.stopPropagation();
    tiles[place].tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  };
  const full = parentElement.querySelector(".full");
  full.hidden = !data.full;
  full.onclick = () => (document.fullscreenElement ? document.exitFullscreen() : parentElement.querySelector(".whole").requestFullscreen());
  return () => watcher.disconnect();
}
