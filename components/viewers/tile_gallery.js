// Draws the payload of components/gallery.py. Every text reaches the page as textContent: labels and names are hostile.
const SVG = "http://www.w3.org/2000/svg";

function html(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}

function svg(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function swatch(style) {
  const made = html("i", "swatch");
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
  if (tile.reason) stage.append(html("div", "reason", tile.reason));
}

function drawTile(tile, styles) {
  const [kind, name, value, words, detail] = tile.lines;
  const link = html("a", "tile");
  link.href = tile.href;
  link.title = tile.about;
  link.tabIndex = -1;
  link.setAttribute("role", "listitem");
  const stage = html("div", "stage");
  drawStage(stage, tile, styles);
  const text = html("div", "text");
  const first = html("div");
  if (kind) first.append(swatch(styles[kind]));
  first.append(html("span", "name", name), html("b", "", value));
  const second = html("div");
  second.append(html("small", "words", words), html("small", "", detail));
  text.append(first, second);
  link.append(stage, text);
  return link;
}

export default function (component) {
  const { parentElement } = component;
  const data = JSON.parse(new TextDecoder().decode(component.data));
  const grid = parentElement.querySelector(".grid");
  const before = grid.drawn || [];
  // only what changed is drawn again: thumbnails that arrive late do not take the focus away
  data.tiles.forEach((tile, place) => {
    const packed = JSON.stringify(tile);
    if (before[place] === packed) return;
    const made = drawTile(tile, data.styles);
    const old = grid.children[place];
    const focused = old && old.getRootNode().activeElement === old;
    made.tabIndex = old ? old.tabIndex : -1;
    old ? old.replaceWith(made) : grid.append(made);
    if (focused) made.focus();
    before[place] = packed;
  });
  before.length = data.tiles.length;
  grid.drawn = before;
  while (grid.children.length > data.tiles.length) grid.lastChild.remove();
  if (grid.firstChild && !grid.querySelector('[tabindex="0"]')) grid.firstChild.tabIndex = 0;
  const entries = data.legend.map(([kind, title, glyph]) => {
    const entry = html("span");
    entry.append(swatch(data.styles[kind]), document.createTextNode(`${glyph} ${title}`));
    return entry;
  });
  parentElement.querySelector(".legend").replaceChildren(...entries);

  // The studio follows the address without loading the page anew, and Back returns to this very view.
  grid.onclick = (event) => {
    const link = event.target.closest("a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    history.pushState({}, "", link.href);
    window.dispatchEvent(new PopStateEvent("popstate"));
  };
  grid.onkeydown = (event) => {
    const tiles = [...grid.children];
    const place = tiles.indexOf(event.target.closest("a"));
    if (place < 0) return;
    const columns = tiles.filter((tile) => tile.offsetTop === tiles[0].offsetTop).length;
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
}
