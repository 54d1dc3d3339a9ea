// What the pages of a bundle share. Every text reaches the page as textContent: all that models wrote is hostile.
"use strict";

const read = new Map(); // the data that has arrived, by name
const asked = new Map(); // what is waited for, by name

// Called by every data file.
function receiveData(name, text) {
  read.set(name, JSON.parse(text));
  if (name === "run") start(read.get(name));
}

// The data of that name; a script brings it, because a page from a disk may not fetch.
function load(name) {
  if (!asked.has(name)) {
    asked.set(name, new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = `data/${name}.js`;
      script.onload = () => resolve(read.get(name));
      script.onerror = () => reject(new Error(`The file data/${name}.js of this bundle is missing.`));
      document.head.append(script);
    }));
  }
  return asked.get(name);
}

function make(tag, className, ...inside) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...inside.filter((part) => part !== null && part !== undefined)); // texts become text nodes
  return made;
}

function link(href, ...inside) {
  const made = make("a", "", ...inside);
  made.href = href;
  return made;
}

function button(text, act, className = "") {
  const made = make("button", className, text);
  made.type = "button";
  made.onclick = act;
  return made;
}

function table(heads, rows, className = "") {
  const cells = (tag, row) => make("tr", "", ...row.map((cell) => make(tag, "", cell)));
  const made = make("table", className, make("thead", "", cells("th", heads)), make("tbody", "", ...rows.map((row) => cells("td", row))));
  for (const head of made.querySelectorAll("th")) head.scope = "col";
  return made;
}

function folded(title, open, ...inside) {
  const made = make("details", "", make("summary", "", title), ...inside);
  made.open = open;
  return made;
}

function choice(label, options, chosen, choose) {
  const select = make("select");
  for (const [value, text] of options) {
    const option = make("option", "", text);
    option.value = value;
    option.selected = value === chosen;
    select.append(option);
  }
  select.onchange = () => choose(select.value);
  return make("label", "field", make("span", "", label), select);
}

const plural = (number, unit) => `${number.toLocaleString("en")} ${unit}${number === 1 ? "" : "s"}`;

// Where one is: #/page?name=value.
function place() {
  const [page, query] = location.hash.replace(/^#\/?/, "").split("?");
  return { page: page || "board", params: new URLSearchParams(query || "") };
}

function addressOf(page, values) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== null && value !== undefined && value !== "") query.set(name, value);
  return `#/${page}?${query}`;
}

// A viewer of the studio in a shadow root, as there; `draw` draws other data in its place.
const sheets = new Map();
const cleanups = [];
function mount(name, data, triggers = {}) {
  if (!sheets.has(name)) {
    sheets.set(name, new CSSStyleSheet());
    sheets.get(name).replaceSync(`${viewers[name].style}\n@media print { .prose, .side, .scroll { max-height: none !important; mask: none; animation: none; }\n`
      + ".bar, .controls, .chooser, .help { display: none !important; } }");
  }
  const host = make("div", `viewer-host of-${name}`);
  const root = host.attachShadow({ mode: "open" });
  root.adoptedStyleSheets = [sheets.get(name)];
  root.append(document.getElementById(`viewer-${name}`).content.cloneNode(true));
  let cleanup = null;
  const leave = () => cleanup && cleanup();
  const draw = (given) => {
    leave();
    const packed = new TextEncoder().encode(JSON.stringify(given));
    const setTriggerValue = (trigger, value) => triggers[trigger](value);
    cleanup = viewers[name].draw({ parentElement: root, data: packed, setTriggerValue, setStateValue() {} });
  };
  cleanups.push(leave);
  return { host, draw, show: () => draw(data) };
}

// Puts a viewer into the page and draws it there: it measures its place.
function put(parent, name, data, triggers) {
  const viewer = mount(name, data, triggers);
  parent.append(viewer.host);
  viewer.show();
  return viewer;
}

const prose = (parent, blocks, height = 420) => put(parent, "prose", { blocks, height });
const plain = (title, text) => ({ title, parts: [[text, "", ""]] });
