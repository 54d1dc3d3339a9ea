// Draws the payload of chat_turns.py: a conversation as a chat, the verdicts beside each turn. Every text is textContent.
function drawVerdict(verdict) {
  const made = element(verdict.lines.length ? "details" : "div", "verdict");
  made.style.setProperty("--mark", verdict.colour);
  const head = element(verdict.lines.length ? "summary" : "div");
  head.append(element("span", "glyph", `${verdict.glyph} `), element("span", "", verdict.label), element("span", "by", ` · ${verdict.evaluator}`));
  made.append(head);
  for (const line of verdict.lines) {
    const told = element("small", "", line);
    told.dir = "auto";
    made.append(told);
  }
  if (verdict.glyph === "✗") made.open = true;
  return made;
}

function drawTurn(turn, hasVerdicts) {
  const made = element("li", `turn ${turn.side}${hasVerdicts ? "" : " alone"}`);
  const said = element("div", "said");
  const who = [`${turn.number} ${turn.side}`, ...(turn.calls ? [`called ${turn.calls}`] : [])].join(" · ");
  const words = element("div", "words", turn.text);
  words.dir = "auto";
  said.append(element("span", "who", who), words);
  made.append(said);
  if (hasVerdicts) {
    const beside = element("div", "verdicts");
    beside.append(...turn.verdicts.map(drawVerdict));
    made.append(beside);
  }
  return made;
}

export default function (component) {
  const root = component.parentElement.querySelector(".chat");
  const data = newData(component, root);
  if (!data) return;
  root.tabIndex = 0; // it scrolls by the keyboard
  root.setAttribute("role", "log");
  root.setAttribute("aria-label", "Conversation");
  const parts = [];
  if (data.instructions) {
    const told = element("details", "told");
    const words = element("div", "words", data.instructions);
    words.dir = "auto";
    told.append(element("summary", "", "System"), words);
    parts.push(told);
  }
  const hasVerdicts = data.turns.some((turn) => turn.verdicts.length > 0);
  const list = element("ol");
  for (const turn of data.turns) list.append(drawTurn(turn, hasVerdicts));
  root.replaceChildren(...parts, list, ...(data.note ? [element("small", "", data.note)] : []));
}
