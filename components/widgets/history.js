// Back returns to the view one came from. Streamlit writes the browser's history in more steps than a person takes: it puts
// a link's parameters first on the old page and then on the new one (1.67), and what a page completes in its address as it
// runs becomes an entry as well. Only the first entry after something that a person did is a view; any other takes its place.
export default function () {
  if (window.assayHistory) return;
  window.assayHistory = true;
  const push = history.pushState.bind(history);
  let asked = false; // whether a person did something since the last entry
  for (const deed of ["pointerup", "click", "keydown", "drop"]) window.addEventListener(deed, () => (asked = true), true);
  history.pushState = (state, title, address) => {
    if (asked) push(state, title, address);
    else history.replaceState(state, title, address);
    asked = false;
  };
}
