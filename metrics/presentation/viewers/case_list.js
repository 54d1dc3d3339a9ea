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
  return followKeys(list, keys, (key, target) => walkCases(list, key, target));
}
