// Draws the payload of trace_steps.py: an agent's steps. Every text is textContent.
function html(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function drawHead(step) {
  const head = html("summary", "head");
  const glyph = html("span", "glyph", step.glyph);
  glyph.style.setProperty("--mark", step.colour);
  const words = html("span", "words");
  words.append(html("span", "title", step.title));
  for (const mark of step.marks) words.append(html("span", "mark", mark));
  if (step.text) words.append(html("span", "text", step.text));
  head.append(html("span", "number", step.number), glyph, words);
  return head;
}

function drawStep(step) {
  const made = html("details", `step ${step.kind}`);
  made.append(drawHead(step));
  for (const [name, text] of step.parts) made.append(html("h5", "", name), html("pre", "", text));
  if (step.started) made.append(html("small", "", `started ${step.started}`));
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
    entry.append(drawStep(step));
    list.append(entry);
  }
  root.replaceChildren(list, ...(data.note ? [html("small", "", data.note)] : []));
}
