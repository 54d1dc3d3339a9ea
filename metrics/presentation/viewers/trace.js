// Draws the payload of trace_steps.py: an agent's steps, on one axis of time, and the expected calls. Every text is
// textContent.
function html(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function marked(glyph, label, colour) {
  const made = html("span", "mark verdict", `${glyph} ${label}`);
  made.style.setProperty("--mark", colour);
  return made;
}

function drawBars(bars) {
  const made = html("span", "bars");
  for (const [kind, from, width] of bars) {
    const lane = html("span", "lane");
    const bar = html("i", `bar ${kind}`);
    bar.style.left = `${from}%`;
    bar.style.width = `${width}%`;
    lane.append(bar);
    made.append(lane);
  }
  return made;
}

function drawHead(step, hasAxis) {
  const head = html("summary", hasAxis ? "head timed" : "head");
  const glyph = html("span", "glyph", step.glyph);
  glyph.style.setProperty("--mark", step.colour);
  const words = html("span", "words");
  words.append(html("span", "title", step.title));
  if (step.verdict) words.append(marked(...step.verdict));
  for (const mark of step.marks) words.append(html("span", "mark", mark));
  if (step.text) words.append(html("span", "text", step.text));
  head.append(html("span", "number", step.number), glyph, words);
  if (hasAxis) head.append(drawBars(step.bars));
  return head;
}

function drawStep(step, hasAxis) {
  const made = html("details", `step ${step.kind}`);
  made.style.marginLeft = `${1.2 * step.depth}em`;
  made.append(drawHead(step, hasAxis));
  for (const [name, text] of step.parts) made.append(html("h5", "", name), html("pre", "", text));
  if (step.started) made.append(html("small", "", `started ${step.started}`));
  return made;
}

function drawExpected(expected) {
  const made = html("section", "expected");
  const list = html("ol");
  for (const call of expected) {
    const entry = html("li", "call");
    entry.append(marked(call.glyph, call.label, call.colour), html("span", "title", call.text));
    if (call.step) entry.append(html("small", "", `step ${call.step}`));
    list.append(entry);
  }
  made.append(html("h5", "", "Expected calls"), list);
  return made;
}

export default function (component) {
  const packed = new TextDecoder().decode(component.data);
  const root = component.parentElement.querySelector(".trace");
  if (root.packed === packed) return;
  root.packed = packed;
  const data = JSON.parse(packed);
  const list = html("ol");
  for (const step of data.steps) {
    const entry = html("li");
    entry.append(drawStep(step, data.axis.length > 0));
    list.append(entry);
  }
  const parts = data.expected.length ? [drawExpected(data.expected)] : [];
  if (data.axis.length) {
    const axis = html("div", "axis");
    for (const [kind, words] of data.axis) axis.append(html("i", `bar ${kind}`), html("span", "", words));
    parts.push(axis);
  }
  root.replaceChildren(...parts, list, ...(data.note ? [html("small", "", data.note)] : []));
}
