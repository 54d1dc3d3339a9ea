// Draws the payload of case_rows.py.
const KEYS = [["j k ↓ ↑", "next, previous case"], ["Enter", "open the case"], ["n", "next failing case"], ["?", "this help"], ["Ctrl K, ⌘ K", "go anywhere"]];

export default function (component) {
  const { parentElement } = component;
  const data = JSON.parse(new TextDecoder().decode(component.data));
  const list = parentElement.querySelector(".cases");
  const keys = parentElement.querySelector(".keys");
  drawCases(list, data.cases);
  drawKeys(keys, KEYS);
  followClicks(list);
  const onKey = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.key === "Escape") keys.hidden = true;
    if (isTyping(event)) return;
    const target = event.composedPath()[0];
    const inside = list.contains(target);
    if (event.key === "?") keys.hidden = !keys.hidden;
    else if (!(inside || !event.key.startsWith("Arrow")) || !walkCases(list, event.key, target)) return;
    event.preventDefault();
  };
  document.addEventListener("keydown", onKey);
  return () => document.removeEventListener("keydown", onKey);
}
