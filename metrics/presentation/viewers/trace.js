// Draws the payload of trace_steps.py: an agent's steps, on one axis of time, and the expected calls. Every text is
// textContent.
function marked(glyph, label, colour) {
  const made = element("span", "mark verdict", `${glyph} ${label}`);
  made.style.setProperty("--mark", colour);
  return made;
}

function drawBars(bars) {
  const made = element("span", "bars");
  for (const [kind, from, width] of bars) {
    const lane = element("span", "lane");
    const bar = element("i", `bar ${kind}`);
    bar.style.left = `${from}%`;
    bar.style.width = `${width}%`;
    lane.append(bar);
    made.append(lane);
  }
  return made;
}

function drawHead(step, hasAxis) {
  const head = element("summary", hasAxis ? "head timed" : "head");
  const glyph = element("span", "glyph", step.glyph);
  glyph.style.setProperty("--mark", step.colour);
  const words = element("span", "words");
  words.append(element("span", "title", step.title));
  if (step.verdict) words.append(marked(...step.verdict));
  for (const mark of step.marks) words.append(element("span", "mark", mark));
  if (step.text) words.append(element("span", "text", step.text));
  head.append(element("span", "number", step.number), glyph, words);
  if (hasAxis) head.append(drawBars(step.bars));
  return head;
}

function drawStep(step, hasAxis) {
  const made = element("details", `step ${step.kind}`);
  made.style.marginLeft = `${1.2 * step.depth}em`;
  made.append(drawHead(step, hasAxis));
  for (const [name, text] of step.parts) made.append(element("h5", "", name), element("pre", "", text));
  if (step.started) made.append(element("small", "", `started ${step.started}`));
  return made;
}

function drawExpected(expected) {
  const made = element("section", "expected");
  const list = element("ol");
  for (const call of expected) {
    const entry = element("li", "call");
    entry.append(marked(call.glyph, call.label, call.colour), element("span", "title", call.text));
    if (call.step) entry.append(element("small", "", `step ${call.step}`));
    list.append(entry);
  }
  made.append(element("h5", "", "Expected calls"), list);
  return made;
}

export default function (component) {
  const root = component.parentElement.querySelector(".trace");
  const data = newData(component, root);
  if (!data) return;
  const list = element("ol");
  for (const step of data.steps) {
    const entry = element("li");
    entry.append(drawStep(step, data.axis.length > 0));
    list.append(entry);
  }
  const parts = data.expected.length ? [drawExpected(data.expected)] : [];
  if (data.axis.length) {
    const axis = element("div", "axis");
    for (const [kind, words] of data.axis) axis.append(element("i", `bar ${kind}`), element("span", "", words));
    parts.push(axis);
  }
  root.replaceChildren(...parts, list, ...(data.note ? [element("small", "", data.note)] : []));
}
