// Draws the payload of chat_turns.py: a conversation as a chat, the verdicts beside each turn. Every text is textContent.
function html(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function drawVerdict(verdict) {
  const made = html(verdict.lines.length ? "details" : "div", "verdict");
  made.style.setProperty("--mark", verdict.colour);
  const head = html(verdict.lines.length ? "summary" : "div");
  head.append(html("span", "glyph", `${verdict.glyph} `), html("span", "", verdict.label), html("span", "by", ` · ${verdict.evaluator}`));
  made.append(head);
  for (const line of verdict.lines) {
    const told = html("small", "", line);
    told.dir = "auto";
    made.append(told);
  }
  if (verdict.glyph === "✗") made.open = true;
  return made;
}

function drawTurn(turn, hasVerdicts) {
  const made = html("li", `turn ${turn.side}${hasVerdicts ? "" : " alone"}`);
  const said = html("div", "said");
  const who = [`${turn.number} ${turn.side}`, ...(turn.calls ? [`called ${turn.calls}`] : [])].join(" · ");
  const words = html("div", "words", turn.text);
  words.dir = "auto";
  said.append(html("span", "who", who), words);
  made.append(said);
  if (hasVerdicts) {
    const beside = html("div", "verdicts");
    beside.append(...turn.verdicts.map(drawVerdict));
    made.append(beside);
  }
  return made;
}

export default function (component) {
  const packed = new TextDecoder().decode(component.data);
  const root = component.parentElement.querySelector(".chat");
  if (root.packed === packed) return;
  root.packed = packed;
  const data = JSON.parse(packed);
  root.tabIndex = 0; // it scrolls by the keyboard
  root.setAttribute("role", "log");
  root.setAttribute("aria-label", "Conversation");
  const parts = [];
  if (data.instructions) {
    const told = html("details", "told");
    const words = html("div", "words", data.instructions);
    words.dir = "auto";
    told.append(html("summary", "", "System"), words);
    parts.push(told);
  }
  const hasVerdicts = data.turns.some((turn) => turn.verdicts.length > 0);
  const list = html("ol");
  for (const turn of data.turns) list.append(drawTurn(turn, hasVerdicts));
  root.replaceChildren(...parts, list, ...(data.note ? [html("small", "", data.note)] : []));
}
