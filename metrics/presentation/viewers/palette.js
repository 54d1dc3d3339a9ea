// Draws the payload of components/widgets/palette.py: one box to go anywhere, opened by Ctrl K or ⌘ K.
const MOST = 50;

// Entries that have every word, those whose name begins with what was typed before the others.
function matching(entries, typed) {
  const wanted = typed.trim().toLowerCase();
  const words = wanted.split(/\s+/).filter(Boolean);
  const found = entries.filter(([kind, name, href, detail]) => {
    const text = `${name} ${kind} ${detail} ${href.split("?")[0]}`.toLowerCase(); // an address is a name, too
    return words.every((word) => text.includes(word));
  });
  const rank = ([, name]) => (name.toLowerCase().startsWith(wanted) ? 0 : name.toLowerCase().includes(wanted) ? 1 : 2);
  return (wanted ? found.sort((a, b) => rank(a) - rank(b)) : found).slice(0, MOST);
}

export default function (component) {
  const { parentElement } = component;
  const entries = JSON.parse(new TextDecoder().decode(component.data)).entries;
  const find = (selector) => parentElement.querySelector(selector);
  const [shade, input, list] = [find(".shade"), find("input"), find(".found")];
  find("kbd").textContent = /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘ K" : "Ctrl K";
  let before = null;
  let chosen = 0;

  const choose = (place) => {
    const links = list.querySelectorAll("a");
    if (!links.length) return;
    chosen = (place + links.length) % links.length;
    links.forEach((link, index) => link.setAttribute("aria-selected", String(index === chosen)));
    input.setAttribute("aria-activedescendant", links[chosen].id);
    links[chosen].scrollIntoView({ block: "nearest" });
  };
  const draw = () => {
    const found = matching(entries, input.value);
    const links = found.map(([kind, name, href, detail], index) => {
      const link = element("a");
      link.href = href;
      link.id = `found-${index}`;
      link.tabIndex = -1;
      link.setAttribute("role", "option");
      link.append(element("b", "", name), element("small", "", [kind, detail].filter(Boolean).join(" · ")));
      return link;
    });
    list.replaceChildren(...(links.length ? links : [element("p", "", "Nothing has this name.")]));
    choose(0);
  };
  const open = () => {
    before = document.activeElement;
    input.value = "";
    shade.hidden = false;
    draw();
    input.focus();
  };
  const close = () => {
    shade.hidden = true;
    if (before && before.focus) before.focus();
  };
  find(".open").onclick = open;
  input.oninput = draw;
  shade.onmousedown = (event) => {
    if (event.target === shade) close();
  };
  followClicks(list, () => {
    shade.hidden = true;
    return false;
  });
  input.onkeydown = (event) => {
    const deeds = {
      ArrowDown: () => choose(chosen + 1), ArrowUp: () => choose(chosen - 1), Escape: close, Tab: () => {},
      Enter: () => list.querySelectorAll("a")[chosen]?.click(),
    };
    event.stopPropagation();
    if (event.isComposing || !deeds[event.key]) return;
    event.preventDefault();
    deeds[event.key]();
  };
  const onKey = (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey || event.key.toLowerCase() !== "k") return;
    event.preventDefault();
    event.stopPropagation();
    shade.hidden ? open() : close();
  };
  document.addEventListener("keydown", onKey, true);
  return () => document.removeEventListener("keydown", onKey, true);
}
