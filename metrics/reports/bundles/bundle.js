// Which page the address names, and what changes when it does.
let run = null;
let drawn = null; // the address that is drawn, and how often one was asked for
let turn = 0;

const PAGES = {
  board: ["Leaderboard", drawBoard], cases: ["Cases", drawCaseList], case: ["Case", drawCasePage],
  charts: ["Curves", drawCurves], about: ["About", drawAbout],
};

function start(data) {
  run = data;
  document.querySelector(".name").textContent = run.title;
  document.querySelector("[data-page=charts]").hidden = !run.charts;
  document.querySelector("footer").textContent = [run.leftOut, "Made by Assay."].filter(Boolean).join(" ");
  window.addEventListener("popstate", () => route());
  window.addEventListener("hashchange", () => route());
  document.addEventListener("keydown", onKey);
  window.addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((each) => (each.open = true)));
  route();
}

// Go to an address; `instead`: Back then skips this one.
function visit(address, instead = false) {
  history[instead ? "replaceState" : "pushState"]({}, "", address);
  route(instead);
}

async function route(kept = false) {
  if (drawn === location.href) return;
  const { page, params } = place();
  const here = document.querySelector("main");
  const onBoard = drawn !== null && page === "board" && new URL(drawn).hash === location.hash;
  drawn = location.href;
  if (onBoard && here.redraw) return here.redraw();
  const mine = ++turn;
  const [title, draw] = PAGES[page] || PAGES.board;
  const typing = document.activeElement && document.activeElement.type === "search";
  for (const leave of cleanups.splice(0)) leave();
  const main = make("main", `page-${page}`);
  main.tabIndex = -1;
  if (page !== "case") main.append(make("h1", "", title));
  here.replaceWith(main);
  document.title = `${page === "case" ? params.get("case") : title} · ${run.title}`;
  for (const each of document.querySelectorAll("nav a")) {
    const current = each.dataset.page === page || (page === "case" && each.dataset.page === "cases");
    current ? each.setAttribute("aria-current", "page") : each.removeAttribute("aria-current");
  }
  if (!kept) window.scrollTo(0, 0);
  try {
    const search = await draw(main, params);
    if (mine !== turn) return;
    if (typing && search) {
      search.focus();
      search.setSelectionRange(search.value.length, search.value.length);
    }
  } catch (failure) {
    main.append(make("p", "", failure.message));
  }
  main.dataset.drawn = "";
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const target = event.composedPath()[0];
  if (target !== document.body && target.tagName !== "MAIN") return;
  const step = document.querySelector(`.step[data-key="${event.key}"]`);
  if (step) visit(step.getAttribute("href"));
}
