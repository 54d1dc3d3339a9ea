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

// Streamlit loads what draws charts and tables with the first of them: two seconds in which the page stands still. It is
// loaded ahead, as soon as nobody does anything for a while.
function loadAhead(names) {
  const own = document.querySelector('script[type="module"][src*="/static/js/"]')?.src;
  if (!own) return;
  const load = async () => {
    for (const name of names) await import(new URL(name, own).href);
  };
  let rest = window.setTimeout(load, 1500);
  const wait = () => {
    window.clearTimeout(rest);
    rest = window.setTimeout(load, 1500); // what is loaded already is not loaded twice
  };
  for (const deed of ["pointermove", "pointerdown", "keydown", "wheel"]) window.addEventListener(deed, wait, { capture: true, passive: true });
}

// Signing in ends on the start page; the link that was asked for is opened after it, in the same tab.
function keepLink(asks) {
  const kept = sessionStorage.getItem("assay-link");
  if (asks) sessionStorage.setItem("assay-link", location.pathname + location.search);
  else if (kept) {
    sessionStorage.removeItem("assay-link");
    location.replace(location.origin + kept); // a path of two slashes would name another server
  }
}

export default function (component) {
  const data = JSON.parse(new TextDecoder().decode(component.data));
  keepLink(data.asks);
  if (window.assayFrame) return;
  window.assayFrame = true;
  keepHistory();
  foldSidebar();
  loadAhead(data.scripts);
}
