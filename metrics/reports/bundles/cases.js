// The page Cases: the cases behind one number, filtered and searched in the page.
const PAGE = 100; // rows at once

// A metric by label has a column a label, and the same cases behind each.
function metricOf(key) {
  const column = run.board.heatmap.columns.findIndex((each) => each.key === key);
  const code = run.board.heatmap.every[column][3];
  return run.board.metrics.find((metric) => `${metric.evaluator}.${metric.metric}` === code);
}

const listsOf = (metric, model) => load(`lists/${metric.file}-${run.models.indexOf(model)}`);

function caseRow(row, lists, metric, model, filters = {}) {
  const [number, repeat, value, share, step, failing, , reason, answer] = row;
  const [id, preview, tags] = run.cases[number];
  const about = { ...filters, evaluator: metric.evaluator, metric: metric.metric, model, case: id };
  return {
    id, value, share, step, failing, reason, model: null, href: addressOf("case", about),
    facts: [...(lists.repeats ? [`repeat ${repeat}`] : []), ...tags].join(" · "),
    question: preview === id ? null : preview, answer: answer === null ? null : lists.answers[answer],
  };
}

// What the address chooses, by default the first number of the board.
async function chosenList(params) {
  const metrics = run.board.metrics;
  const asked = metrics.find((each) => each.evaluator === params.get("evaluator") && each.metric === params.get("metric"));
  const metric = asked || metrics.find((each) => each.evaluator === params.get("evaluator")) || metrics.find((each) => each.primary) || metrics[0];
  const model = run.models.includes(params.get("model")) ? params.get("model") : run.board.heatmap.models[0];
  const lists = await listsOf(metric, model);
  lists.repeats = new Set(lists.lists.flat().map((row) => row[1])).size > 1;
  const number = lists.numbers[metric.key];
  return { metric, model, lists, number, rows: filtered(lists.lists[number.list], lists, params), every: lists.lists[number.list] };
}

const FILTERS = ["search", "tag", "status", "failing", "order"];
const filtersOf = (params) => Object.fromEntries(FILTERS.map((name) => [name, params.get(name)]));

function filtered(rows, lists, params) {
  const { search, tag, status, failing, order } = filtersOf(params);
  const words = (search || "").toLowerCase().split(/\s+/).filter(Boolean);
  const found = rows.filter(([number, , , , , fails, state, reason, answer]) => {
    const [id, preview, tags] = run.cases[number];
    if (tag && !tags.includes(tag)) return false;
    if ((status && state !== status) || (failing && !fails)) return false;
    const text = [id, preview, reason, answer === null ? "" : lists.answers[answer]].join("\n").toLowerCase();
    return words.every((word) => text.includes(word));
  });
  return order === "best" ? found.reverse() : found;
}

async function drawCaseList(main, params) {
  const { metric, model, lists, number, rows, every } = await chosenList(params);
  const values = { ...filtersOf(params), evaluator: metric.evaluator, metric: metric.metric, model };
  const go = (changes) => visit(addressOf("cases", { ...values, ...changes }), true);
  const names = run.board.metrics.map((each) => [each.key, each.name === each.title ? each.title : `${each.title}: ${each.name}`]);
  const tags = [...new Set(every.flatMap(([place]) => run.cases[place][2]))].sort();
  const states = [...new Set(every.map((row) => row[6]))];
  const search = make("input");
  search.type = "search";
  search.value = params.get("search") || "";
  search.oninput = () => go({ search: search.value });
  const bar = make("div", "filters",
    choice("Metric", names, metric.key, (key) => {
      const chosen = run.board.metrics.find((each) => each.key === key);
      go({ evaluator: chosen.evaluator, metric: chosen.metric, status: "", failing: "" });
    }),
    choice("Model", run.models.map((each) => [each, each]), model, (chosen) => go({ model: chosen })),
    make("label", "field grow", make("span", "", "Search"), search),
    tags.length ? choice("Tag", [["", "All"], ...tags.map((tag) => [tag, tag])], params.get("tag") || "", (tag) => go({ tag })) : null,
    states.length > 1 ? choice("Status", [["", "All"], ...states.map((state) => [state, run.statuses[state] || state])], params.get("status") || "", (status) => go({ status })) : null,
    every.some((row) => row[5]) ? choice("Show", [["", "All cases"], ["1", "Failing only"]], params.get("failing") || "", (failing) => go({ failing })) : null,
    choice("Order", [["", "Worst first"], ["best", "Best first"]], params.get("order") || "", (order) => go({ order })),
  );
  const left = number.total > every.length ? ` The bundle has the ${every.length.toLocaleString("en")} worst of ${plural(number.total, "case")}.` : "";
  const counted = rows.length === every.length ? plural(rows.length, "case") : `${rows.length.toLocaleString("en")} of ${plural(every.length, "case")}`;
  const listed = make("section", "");
  main.append(make("p", "muted", "Which cases are behind this number?"), bar,
    make("p", "number", make("b", "", number.title), make("span", "muted", ` ${number.facts.split("\n")[0]}`)),
    make("p", "muted small", `${counted}.${left}`), listed);
  if (!every.length) listed.append(make("p", "", "This number has no values per case."));
  else if (!rows.length) listed.append(make("p", "", "No case fits the filters."));
  const drawn = (limit) => ({ cases: rows.slice(0, limit).map((row) => caseRow(row, lists, metric, model, filtersOf(params))) });
  if (rows.length) {
    const viewer = put(listed, "case_list", drawn(PAGE));
    if (rows.length > PAGE) {
      const more = button(`Show all ${plural(rows.length, "case")}`, () => {
        viewer.draw(drawn(Infinity));
        more.remove();
      });
      listed.append(more);
    }
  }
  return search;
}
