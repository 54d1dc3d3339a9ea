// Back returns to the view one came from. Streamlit 1.67 changes page and query parameters in two steps: it first puts the
// new parameters on the old page, then the new page beside them, and each step is an entry of the browser's history. The
// entry between them was never a view, so the second step takes its place.
export default function () {
  if (window.assayHistory) return;
  window.assayHistory = true;
  const push = history.pushState.bind(history);
  let between = null; // the address of an entry that may stand between two views
  history.pushState = (state, title, address) => {
    const now = new URL(location.href);
    const next = new URL(address ?? "", location.href);
    const second = between === now.href && next.pathname !== now.pathname && next.search === now.search;
    between = next.pathname === now.pathname ? next.href : null;
    if (second) history.replaceState(state, title, address);
    else push(state, title, address);
  };
}
