// What the scripts of the studio share. Every text reaches the page as textContent: ids, answers and names are hostile.
function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined && text !== null) made.textContent = text;
  return made;
}

function svg(tag, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

// The data to draw into `root`, null where that shows it already.
function newData(component, root) {
  const packed = new TextDecoder().decode(component.data);
  if (root.packed === packed) return null;
  root.packed = packed;
  return JSON.parse(packed);
}

// The studio follows the address without a reload, and Back returns to this very view.
function follow(href) {
  history.pushState({}, "", href);
  window.dispatchEvent(new PopStateEvent("popstate"));
}

function followClicks(root, before) {
  root.onclick = (event) => {
    const link = event.target.closest("a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    if (before && before(link)) return;
    follow(link.href);
  };
}

function isTyping(event) {
  const box = event.composedPath()[0];
  return !(box instanceof Element) || box.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(box.tagName);
}

function drawKeys(box, keys) {
  const lines = keys.map(([key, deed]) => {
    const line = element("div");
    line.append(element("kbd", "", key), element("span", "", deed));
    return line;
  });
  const close = element("button", "plain", "Close");
  close.onclick = () => (box.hidden = true);
  box.replaceChildren(element("strong", "", "Keyboard"), ...lines, close);
}
