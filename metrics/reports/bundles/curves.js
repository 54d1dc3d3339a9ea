// The page Curves: the charts of the report, drawn from elements that are told, not from markup.
const SVG_NAMES = new Set("svg g path circle rect line text polygon polyline".split(" "));

function grown(node) {
  if (typeof node === "string") return document.createTextNode(node);
  const [name, attributes, ...inside] = node;
  if (!SVG_NAMES.has(name)) throw new Error(`a chart has no element ${name}`);
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "style") made.style.cssText = value;
    else if (/^(viewBox|role|aria-label|d|x|y|x1|x2|y1|y2|cx|cy|r|rx|width|height|points|text-anchor|transform)$/.test(key)) made.setAttribute(key, value);
  }
  made.append(...inside.map(grown));
  return made;
}

async function drawCurves(main) {
  const { groups } = await load("charts");
  if (!groups.length) main.append(make("p", "", "This run has no charts."));
  for (const { title, question, note, charts } of groups) {
    const figures = charts.map((chart) => make("figure", chart.wide ? "wide" : "", make("figcaption", "", chart.title), grown(chart.figure)));
    main.append(make("section", "", make("h2", "", title), make("p", "muted", question), make("div", "charts", ...figures), note ? make("p", "muted small", note) : null));
  }
}
