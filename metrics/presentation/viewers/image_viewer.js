// Draws the payload of object_panels.py: one picture, a panel a model, the zoom shared. Every text is textContent.
const DEEPEST = 40; // times the whole picture
const FONT = 12; // pixels on the screen, at any zoom
const HEAVY = 5000; // corners; a picture with more is stretched while it moves and drawn anew when it rests
const REST = 150; // milliseconds
const CORNER = 12; // pixels on the screen of the brackets around the marked object, and AWAY from it
const AWAY = 6;
const MOST_TILES = 4; // across what is looked at

const outline = (rings) =>
  rings.map((ring) => "M" + ring.map((value, index) => value + (index % 2 ? " L" : ",")).join("").slice(0, -2) + "Z").join("");

function bounds(rings) {
  const xs = rings.flatMap((ring) => ring.filter((_, index) => index % 2 === 0));
  const ys = rings.flatMap((ring) => ring.filter((_, index) => index % 2));
  return { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) };
}

function covers(rings, { x, y }) {
  let winding = 0; // as the rule "nonzero" fills
  for (const ring of rings) {
    for (let i = 0, j = ring.length - 2; i < ring.length; j = i, i += 2) {
      const [x1, y1, x2, y2] = [ring[j], ring[j + 1], ring[i], ring[i + 1]];
      if (y1 > y === y2 > y || x1 + ((y - y1) * (x2 - x1)) / (y2 - y1) < x) continue;
      winding += y2 > y1 ? 1 : -1;
    }
  }
  return winding !== 0;
}

// Brackets at the four corners of a box: a mark by shape, whatever the colours of the picture.
function brackets(data, scale) {
  const [left, top, right, bottom] = data.focus.box;
  const away = AWAY * scale, arm = CORNER * scale, edge = 3 * scale; // of an object at the edge they stay in the picture
  const [x0, y0] = [Math.max(edge, left - away), Math.max(edge, top - away)];
  const [x1, y1] = [Math.min(data.width - edge, right + away), Math.min(data.height - edge, bottom + away)];
  return [[x0, y0, 1, 1], [x1, y0, -1, 1], [x0, y1, 1, -1], [x1, y1, -1, -1]]
    .map(([x, y, right, down]) => `M${x + right * arm},${y}L${x},${y}L${x},${y + down * arm}`).join("");
}

// Lines between key points, and each of them as a dot: a line of no length, at the size of its round caps.
function drawBones(canvas, bones, style, width) {
  const path = (chosen) => chosen.map(([x1, y1, x2, y2]) => `M${x1},${y1}L${x2},${y2}`).join("");
  const isDot = ([x1, y1, x2, y2]) => x1 === x2 && y1 === y2;
  const [dots, lines] = [path(bones.filter(isDot)), path(bones.filter((bone) => !isDot(bone)))];
  for (const [d, wide, dash] of [[lines, width, style.dash], [dots, 2.6 * width, ""]]) {
    if (!d) continue;
    canvas.append(svg("path", { class: "bones", d, stroke: "#000", "stroke-opacity": 0.55, "stroke-width": wide + 2 }));
    canvas.append(svg("path", { class: dash ? "" : "bones", d, stroke: style.colour, "stroke-width": wide, "stroke-dasharray": dash }));
  }
}

function drawPanel(data, panel) {
  const figure = element("figure", "panel");
  const caption = element("figcaption", "");
  caption.append(element("div", "name", panel.title), element("div", "counts", panel.counts));
  const stage = element("div", "stage");
  stage.tabIndex = 0;
  stage.setAttribute("role", "img");
  stage.setAttribute("aria-label", `${panel.title}: ${panel.counts}` + (data.focus ? `. Marked: ${data.focus.name}` : ""));
  stage.style.aspectRatio = `${data.width} / ${data.height}`;
  const high = document.fullscreenElement ? innerHeight - 90 : data.high;
  stage.style.maxWidth = `${(high * data.width) / data.height}px`;
  const canvas = svg("svg", { preserveAspectRatio: "xMidYMid meet" });
  const whole = { href: data.image, width: data.width, height: data.height, preserveAspectRatio: "none" };
  const picture = data.image ? svg("image", whole) : null;
  if (picture) canvas.append(picture);
  const boxes = [];
  const texts = [];
  let corners = 0;
  for (const [kind, objects] of Object.entries(panel.objects)) {
    const style = data.styles[kind];
    const outlined = panel.posed ? objects.filter((object) => !object.bones) : objects; // a box would hide the pose
    const drawn = outlined.map((object) => outline(object.rings)).join("");
    const width = panel.crowded ? 1.3 : style.width;
    if (!panel.crowded) canvas.append(svg("path", { d: drawn, stroke: "#000", "stroke-opacity": 0.55, "stroke-width": width + 2 }));
    const surface = panel.filled.includes(kind) ? { class: "surface", color: style.colour } : {};
    canvas.append(svg("path", { d: drawn, stroke: style.colour, "stroke-width": width, "stroke-dasharray": style.dash, ...surface }));
    drawBones(canvas, objects.flatMap((object) => object.bones || []), style, width);
    for (const object of objects) {
      const box = { ...bounds(object.rings), lines: object.lines, rings: panel.shaped ? object.rings : null };
      corners += object.rings.reduce((sum, ring) => sum + ring.length / 2, 0);
      box.area = (box.right - box.left) * (box.bottom - box.top);
      boxes.push(box);
      if (!object.caption || !panel.labelled) continue;
      const text = svg("text", { fill: style.ink, stroke: style.colour });
      text.textContent = object.caption;
      texts.push({ text, box, below: kind === "fn", inside: panel.named ? bounds(object.rings.slice(0, 1)) : null });
    }
  }
  const marks = data.focus ? [["#000", 6], ["#fff", 3]].map(([stroke, width]) => svg("path", { class: "marked", stroke, "stroke-width": width })) : [];
  canvas.append(...marks, ...texts.map((entry) => entry.text));
  canvas.classList.toggle("heavy", corners > HEAVY);
  stage.append(canvas);
  figure.append(caption, stage);
  return { figure, stage, canvas, boxes, texts, marks, picture, tiles: new Set(), heavy: corners > HEAVY };
}

// Whether the first picture has fewer pixels of what is looked at than the screen has.
function isCoarse(drawn, data, view) {
  const sent = Math.min(1, data.sent / Math.max(data.width, data.height)); // of its pixels to those of the image
  return data.sent && view.width * sent < drawn.stage.clientWidth;
}

// Lays tiles of the full resolution over what is looked at; each is fetched once, when it is first in view.
function sharpen(drawn, data, view) {
  if (!data.tiles || view.width > MOST_TILES * data.tiles.side || !isCoarse(drawn, data, view)) return;
  const { side, columns, urls } = data.tiles;
  const height = (view.width * data.height) / data.width;
  const last = [Math.ceil((view.x + view.width) / side), Math.ceil((view.y + height) / side)];
  for (let row = Math.max(0, Math.floor(view.y / side)); row < last[1]; row += 1) {
    for (let column = Math.max(0, Math.floor(view.x / side)); column < Math.min(columns, last[0]); column += 1) {
      const number = row * columns + column;
      if (number >= urls.length || drawn.tiles.has(number)) continue;
      const [x, y] = [column * side, row * side];
      const size = { width: Math.min(side, data.width - x), height: Math.min(side, data.height - y) };
      const tile = svg("image", { href: new URL(urls[number], document.baseURI).href, x, y, ...size, preserveAspectRatio: "none" });
      drawn.tiles.add(number);
      drawn.picture.after(tile);
    }
  }
}

function place(drawn, data, view, rested = false) {
  clearTimeout(drawn.timer);
  if (drawn.heavy && drawn.placed && !rested) {
    const zoomed = drawn.stage.clientWidth / view.width; // screen pixels of one picture pixel
    const by = [drawn.placed.x - view.x, drawn.placed.y - view.y].map((part) => `${part * zoomed}px`).join();
    drawn.canvas.style.transform = `translate(${by}) scale(${drawn.placed.width / view.width})`;
    drawn.timer = setTimeout(() => place(drawn, data, view, true), REST);
    return;
  }
  drawn.placed = { ...view };
  drawn.canvas.style.transform = "";
  if (drawn.picture) sharpen(drawn, data, view);
  const scale = view.width / (drawn.stage.clientWidth || data.width); // picture pixels of one screen pixel
  drawn.canvas.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${(view.width * data.height) / data.width}`);
  for (const mark of drawn.marks) mark.setAttribute("d", brackets(data, scale));
  const taken = []; // by labels; one that would cover another waits until there is room, those of mistakes come first
  for (const { text, box, below, inside: part } of [...drawn.texts].reverse()) {
    text.setAttribute("font-size", FONT * scale);
    text.setAttribute("stroke-width", 5 * scale);
    if (part) {
      text.setAttribute("x", (part.left + part.right) / 2);
      text.setAttribute("y", (part.top + part.bottom) / 2 + (FONT / 3) * scale);
      text.setAttribute("text-anchor", "middle");
      continue;
    }
    const right = box.left > data.width * 0.75;
    const edge = below ? box.bottom : box.top;
    const inside = below ? edge > data.height * 0.95 : edge < data.height * 0.05;
    const x = right ? box.right - 3 * scale : box.left + 3 * scale;
    const y = edge + (below !== inside ? FONT + 2 : -5) * scale;
    text.setAttribute("x", x);
    text.setAttribute("y", y);
    text.setAttribute("text-anchor", right ? "end" : "start");
    const wide = text.textContent.length * FONT * 0.58 * scale;
    const own = { left: right ? x - wide : x, right: right ? x : x + wide, top: y - FONT * scale, bottom: y + 3 * scale };
    const covers = taken.some((other) => own.left < other.right && other.left < own.right && own.top < other.bottom && other.top < own.bottom);
    text.style.display = covers ? "none" : "";
    if (!covers) taken.push(own);
  }
}

export default function (component) {
  const { parentElement, setStateValue } = component;
  const data = JSON.parse(new TextDecoder().decode(component.data));
  const root = parentElement.querySelector(".viewer");
  const tip = root.querySelector(".tip");
  const opened = () => (data.focus ? { x: data.focus.view[0], y: data.focus.view[1], width: data.focus.view[2] } : { x: 0, y: 0, width: data.width });
  if (!root.view || root.view.of !== data.key) root.view = { of: data.key, ...opened() };
  const view = root.view; // outlives a moved slider, which draws the panels anew
  const grid = root.querySelector(".panels");
  const panels = data.panels.map((panel) => drawPanel(data, panel));
  grid.style.gridTemplateColumns = `repeat(${panels.length}, minmax(0, 1fr))`;
  grid.classList.toggle("one", panels.length === 1);
  grid.replaceChildren(...panels.map((panel) => panel.figure));
  const update = (rested) => {
    panels.forEach((panel) => place(panel, data, view, rested));
    if (data.sent && !data.tiles && root.asked !== data.key && isCoarse(panels[0], data, view)) {
      clearTimeout(root.asking); // when the zoom rests
      root.asking = setTimeout(() => setStateValue("sharp", (root.asked = data.key)), REST);
    }
  };

  function zoom(factor, x = view.x + view.width / 2, y = view.y + (view.width * data.height) / data.width / 2) {
    const width = factor ? Math.min(data.width, Math.max(data.width / DEEPEST, view.width / factor)) : data.width;
    move(x - ((x - view.x) * width) / view.width, y - ((y - view.y) * width) / view.width, width);
  }
  function move(x, y, width = view.width) {
    const height = (width * data.height) / data.width;
    view.width = width;
    view.x = Math.min(data.width - width, Math.max(0, x));
    view.y = Math.min(data.height - height, Math.max(0, y));
    update();
  }
  function toObject() {
    const { x, y, width } = opened();
    move(x, y, width);
  }
  function fullScreen() {
    document.fullscreenElement ? document.exitFullscreen() : root.requestFullscreen();
  }
  function spot(panel, event) {
    const area = panel.stage.getBoundingClientRect();
    const scale = view.width / area.width;
    return { x: view.x + (event.clientX - area.left) * scale, y: view.y + (event.clientY - area.top) * scale, scale };
  }

  for (const panel of panels) {
    let held = null;
    const { stage } = panel;
    stage.onwheel = (event) => {
      if (!event.ctrlKey && !event.metaKey && document.activeElement !== stage && parentElement.activeElement !== stage) return;
      event.preventDefault();
      const { x, y } = spot(panel, event);
      zoom(event.deltaY < 0 ? 1.25 : 0.8, x, y);
    };
    stage.ondblclick = (event) => zoom(2, spot(panel, event).x, spot(panel, event).y);
    stage.onpointerdown = (event) => {
      held = { px: event.clientX, py: event.clientY, x: view.x, y: view.y };
      stage.setPointerCapture(event.pointerId);
      stage.classList.add("dragged");
    };
    stage.onpointerup = stage.onpointercancel = () => {
      held = null;
      stage.classList.remove("dragged");
    };
    stage.onpointermove = (event) => {
      const at = spot(panel, event);
      if (held) move(held.x - (event.clientX - held.px) * at.scale, held.y - (event.clientY - held.py) * at.scale);
      const slack = 4 * at.scale;
      const under = panel.boxes
        .filter((box) => at.x > box.left - slack && at.x < box.right + slack && at.y > box.top - slack && at.y < box.bottom + slack)
        .filter((box) => !box.rings || Math.min(box.right - box.left, box.bottom - box.top) < 2 * slack || covers(box.rings, at))
        .sort((a, b) => a.area - b.area);
      tip.hidden = !under.length || Boolean(held);
      if (tip.hidden) return;
      tip.textContent = under.slice(0, 3).map((box) => box.lines).join("\n") + (under.length > 3 ? `\n… ${under.length - 3} more here` : "");
      const frame = root.getBoundingClientRect();
      tip.style.left = `${Math.min(event.clientX - frame.left + 14, frame.width - 220)}px`;
      tip.style.top = `${event.clientY - frame.top + 14}px`;
    };
    stage.onpointerleave = () => (tip.hidden = true);
    stage.onkeydown = (event) => {
      const step = view.width / 10;
      const acts = {
        "+": () => zoom(1.5), "-": () => zoom(1 / 1.5), 0: () => zoom(0), o: toObject, f: fullScreen,
        w: () => move(view.x, view.y - step), s: () => move(view.x, view.y + step),
        a: () => move(view.x - step, view.y), d: () => move(view.x + step, view.y),
      };
      acts[event.key]?.();
    };
  }
  root.querySelector("[data-to=object]").hidden = !data.focus;
  root.querySelector("[data-to=object]").onclick = toObject;
  root.querySelector("[data-to=full]").onclick = fullScreen;
  root.onfullscreenchange = () => {
    const full = Boolean(document.fullscreenElement);
    panels.forEach(({ stage }) => (stage.style.maxWidth = `${((full ? innerHeight - 90 : data.high) * data.width) / data.height}px`));
  };
  for (const button of root.querySelectorAll("[data-zoom]")) button.onclick = () => zoom(Number(button.dataset.zoom));
  const sized = new ResizeObserver(() => update(true));
  panels.forEach((panel) => sized.observe(panel.stage));
  update();
  return () => sized.disconnect();
}
