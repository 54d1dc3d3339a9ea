// The page of one case: what was asked, the answers side by side, the image, the evidence, every score.
const SIDE_BY_SIDE = 3;

async function caseOf(number) {
  const chunk = await load(`cases/${run.cases[number][3]}`);
  return chunk.cases[number - chunk.first];
}

async function drawCasePage(main, params) {
  const number = run.cases.findIndex(([id]) => id === params.get("case"));
  if (number < 0) {
    main.append(make("p", "", "This bundle has no such case. "), link("#/cases", "See its cases"));
    return;
  }
  const [list, found] = await Promise.all([chosenList(params), caseOf(number)]);
  drawWalk(main, list, number, params);
  main.append(make("h1", "case-id", found.id, ...found.labels.map((tag) => make("span", "tag", tag))));
  const shown = shownOutputs(found, list.model, params);
  drawOutputChoice(main, found, shown, params);
  const blocks = make("div", "columns");
  main.append(blocks);
  for (const [title, text] of found.blocks) prose(blocks, [plain(title, text)], 160);
  if (found.earlier.length) main.append(foldedTexts(`Earlier turns (${found.earlier.length})`, found.earlier));
  if (found.references.length) main.append(foldedTexts(`Reference contexts (${found.references.length})`, found.references));
  if (found.image) drawImage(main, found.image, shown, list.metric.evaluator);
  drawOutputs(main, found, shown, list, drawTwins(main, found, shown, params));
  drawEvidence(main, found, shown, list);
  if (found.scores.length) {
    const rows = found.scores.map(([title, metric, ...values]) => [title, metric, ...shown.map((place) => values[place])]);
    main.append(make("h2", "", "Scores"), make("div", "scroll", table(["Evaluator", "Metric", ...shown.map((place) => found.outputs[place].name)], rows, "scores")));
  }
}

function drawWalk(main, list, number, params) {
  const ids = [...new Set(list.rows.map(([place]) => place))];
  const at = ids.indexOf(number);
  const step = (text, to, key) => {
    const made = to === undefined ? make("span", "step off", text) : link(addressOf("case", { ...Object.fromEntries(params), case: run.cases[to][0] }), text);
    if (to !== undefined) {
      made.className = "step";
      made.dataset.key = key;
      made.title = `${text.replace(/[^A-Za-z ]/g, "").trim()} (${key === "ArrowLeft" ? "←" : "→"})`;
    }
    return made;
  };
  const back = { ...filtersOf(params), evaluator: list.metric.evaluator, metric: list.metric.metric, model: list.model };
  const order = `${params.get("order") === "best" ? "best" : "worst"} first by ${list.metric.name} of ${list.model}`;
  main.append(make("div", "walk",
    step("‹ Previous", ids[at - 1], "ArrowLeft"), step("Next ›", at < 0 ? undefined : ids[at + 1], "ArrowRight"),
    make("span", "muted", at < 0 ? "not in this list" : `${at + 1} of ${ids.length}, ${order}`), link(addressOf("cases", back), "All cases")));
}

// The outputs side by side: those that the address names, else the list's model first.
function shownOutputs(found, model, params) {
  const every = found.outputs.map((_, place) => place);
  const asked = params.getAll("show").flatMap((text) => text.split(" ")).map(Number);
  const named = every.filter((place) => params.has("show") && asked.includes(place));
  if (named.length) return named.slice(0, SIDE_BY_SIDE);
  return every.sort((a, b) => (found.outputs[b].model === model) - (found.outputs[a].model === model)).slice(0, SIDE_BY_SIDE);
}

function drawOutputChoice(main, found, shown, params) {
  if (found.outputs.length < 2) return;
  const box = make("div", "outputs-choice");
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", "Models side by side");
  for (const [place, output] of found.outputs.entries()) {
    const pressed = shown.includes(place);
    const made = button(output.name, () => {
      const chosen = pressed ? shown.filter((each) => each !== place) : [...shown.slice(0, SIDE_BY_SIDE - 1), place];
      visit(addressOf("case", { ...Object.fromEntries(params), show: chosen.sort((a, b) => a - b).join(" ") }), true);
    }, "toggle");
    made.setAttribute("aria-pressed", String(pressed));
    made.disabled = pressed && shown.length === 1;
    box.append(made);
  }
  main.append(box);
}

const foldedTexts = (title, texts) => folded(title, false, ...texts.map(([name, text]) => make("div", "passage", make("p", "muted small", name), make("p", "words", text))));

// Of two answers the words that only one has: the parts of each where that is chosen, else none.
function drawTwins(main, found, shown, params) {
  const twins = shown.length === 2 && found.twins.find(({ outputs }) => shown.every((place) => outputs.includes(place)));
  if (!twins) return [];
  const isChosen = params.get("view") === "words";
  const made = button("Word by word", () => visit(addressOf("case", { ...Object.fromEntries(params), view: isChosen ? "" : "words" }), true), "toggle");
  made.setAttribute("aria-pressed", String(isChosen));
  main.append(make("div", "outputs-choice", made));
  if (!isChosen) return [];
  main.append(make("p", "muted small", twins.sentence));
  return shown.map((place, at) => {
    const letters = [...found.outputs[place].answer]; // code points, as the lengths count
    let start = 0;
    return twins.lengths[twins.outputs.indexOf(place)].map((length, turn) => {
      const text = letters.slice(start, start + length).join("");
      start += length;
      return [text, turn % 2 ? ["removed", "added"][at] : "", ""];
    });
  });
}

function drawOutputs(main, found, shown, list, twins) {
  const place = make("div", "columns");
  main.append(place);
  for (const [at, number] of shown.entries()) {
    const output = found.outputs[number];
    const column = make("section", "output");
    place.append(column);
    const value = valueOf(found, list.metric, number);
    const title = make("p", "output-title", output.name);
    if (value) title.append(make("span", "muted", ` · ${list.metric.name} ${value}`));
    column.append(title);
    const marked = found.evidence.find((each) => each.output === number && each.evaluator === list.metric.evaluator && each.answer);
    if (twins.length) prose(column, [{ title: "", parts: twins[at] }], 320);
    else if (output.answer) prose(column, [marked ? { title: "", parts: marked.answer } : plain("", output.answer)], 320);
    else if (!found.image && !output.labels.length) column.append(make("p", "muted", `(${output.error || "no answer"})`));
    if (output.labels.length) column.append(labelBars(output.labels));
    if (output.contexts.length) column.append(foldedTexts(`Retrieved contexts (${output.contexts.length})`, output.contexts));
    if (output.chat) {
      const box = folded(`Conversation: ${output.chat.summary}`, output.chat.judged);
      column.append(box);
      put(box, "chat", output.chat);
    }
    if (output.trace) drawTrace(column, output.trace);
    if (column.children.length === 1 && found.image) column.remove(); // the panels of the image name the models
  }
}

function valueOf(found, metric, number) {
  const row = found.scores.find(([title, name]) => title === metric.title && name === metric.name);
  return row ? row[2 + number] : "";
}

function labelBars(labels) {
  const rows = labels.map(([label, score, share]) => {
    const fill = make("i", "fill");
    fill.style.width = `${100 * share}%`;
    return make("div", "label", make("span", "", label), make("i", "track", fill), make("span", "value", score));
  });
  return make("div", "labels", ...rows);
}

function drawTrace(column, trace) {
  const box = folded(`Trace: ${trace.summary}`, false);
  column.append(box);
  if (trace.problem) box.append(make("p", "", trace.problem), make("pre", "", trace.raw));
  else put(box, "trace", trace);
}

function drawEvidence(main, found, shown, list) {
  const names = [...new Set(found.evidence.map((each) => each.evaluator))];
  names.sort((a, b) => (b === list.metric.evaluator) - (a === list.metric.evaluator)); // the page's question goes first
  for (const name of names) {
    const own = found.evidence.filter((each) => each.evaluator === name && shown.includes(each.output));
    if (!own.length) continue;
    const columns = make("div", "columns");
    const box = folded(`Evidence: ${own[0].title}`, name === list.metric.evaluator, columns);
    main.append(box);
    const fill = () => {
      if (!box.open || columns.children.length) return;
      for (const number of shown) {
        const column = make("section", "output");
        columns.append(column);
        if (shown.length > 1) column.append(make("p", "output-title", found.outputs[number].name));
        for (const each of own.filter((one) => one.output === number)) drawOneEvidence(column, each);
      }
    };
    box.ontoggle = fill;
    fill();
  }
}

function drawOneEvidence(column, { reason, verdicts, facts }) {
  if (reason) column.append(make("p", "words", reason));
  if (verdicts) put(column, "evidence_list", verdicts);
  for (const { title, kind, text, heads, rows } of facts) {
    if (title && kind !== "fact") column.append(make("p", "muted small", title));
    if (kind === "fact") column.append(make("p", "fact", make("span", "muted", `${title}: `), text));
    else if (kind === "table") column.append(make("div", "scroll", table(heads, rows)));
    else column.append(make("pre", "", text));
  }
}

// The view that opens is that of the evaluator whose list this is.
function drawImage(main, image, shown, evaluator) {
  const place = make("section", "picture");
  main.append(place);
  const legend = make("div", "legend small");
  let viewer = null;
  const choose = (number) => {
    const view = image.views[number];
    for (const [each, made] of [...place.querySelectorAll(".toggle")].entries()) made.setAttribute("aria-pressed", String(each === number));
    legend.replaceChildren(...view.legend.map(([colour, line, text]) => {
      const sample = make("i", "sample");
      sample.style.border = `2px ${line} ${colour}`;
      return make("span", "", sample, text);
    }));
    const panels = [...view.first, ...shown.map((output) => view.panels[output])];
    const drawing = { ...image.drawing, panels, high: image.heights[Math.min(4, panels.length)], sent: 0 };
    if (viewer) viewer.draw(drawing);
    else viewer = put(place, "image_viewer", drawing);
  };
  const titles = image.views.map((view, number) => (image.views.length > 1 ? button(view.title, () => choose(number), "toggle") : make("span", "muted small", view.title)));
  place.append(make("div", "picture-bar", ...titles, legend));
  if (image.note) place.append(make("p", "muted small", image.note));
  choose(Math.max(0, image.views.findIndex((view) => view.evaluators.includes(evaluator))));
}
