// Back returns to the view one came from. Streamlit writes the browser's history in more steps than a person takes: it puts
// a link's parameters first on the old page and then on the new one (1.67), and what a page completes in its address as it
// runs becomes an entry as well. Only the first entry after something that a person did is a view; any other takes its place.
function keepHistory() {
  const push = history.pushState.bind(history);
  let asked = false; // whether a person did something since the last entry
  for (const deed of ["pointerup", "click", "keydown", "drop"]) window.addEventListener(deed, () => (asked = true), true);
  history.pushState = (state, title, address) => {
    if (asked) push(state, title, address);
    else history.replaceState(state, title, address);
    asked = false;
  };
}

// Streamlit folds the sidebar below 768 pixels; between there and 1000 it would leave tables and plots too little room.
function foldSidebar() {
  if (window.innerWidth >= 1000 || window.innerWidth < 768) return;
  const fold = () => {
    const button = document.querySelector('[data-testid="stSidebarCollapseButton"] button');
    if (!button) return false;
    button.click();
    return true;
  };
  if (fold()) return;
  const watch = new MutationObserver(() => fold() && watch.disconnect());
  watch.observe(document.body, { childList: true, subtree: true });
}

// Streamlit loads what draws charts and tables with the first of them, a second late. It is fetched once the page rests.
function fetchAhead(names) {
  const own = document.querySelector('script[type="module"][src*="/static/js/"]')?.src;
  const link = (name) => Object.assign(document.createElement("link"), { rel: "modulepreload", href: new URL(name, own).href });
  if (own) window.setTimeout(() => document.head.append(...names.map(link)), 1500);
}

export default function ({ data }) {
  if (window.assayFrame) return;
  window.assayFrame = true;
  keepHistory();
  foldSidebar();
  fetchAhead(data.scripts);
}
