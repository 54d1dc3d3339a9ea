// Draws the payload of label_entry.py. What is pressed waits here, and in the tab's storage, until it is said to be stored.
const MOVES = [
  { text: "Next", key: "N", do: "put off", hint: "Shows this output again later." },
  { text: "Back", key: "B", do: "take back", hint: "Removes the last label." },
];

function drawTexts(pairs) {
  const side = element("div");
  for (const [title, text] of pairs) {
    const words = element("p", "text", text);
    words.dir = "auto";
    words.tabIndex = 0;
    side.append(element("h4", "", title), words);
  }
  return side;
}

function drawLists(lists) {
  return lists.map(({ title, texts, open }) => {
    const box = element("details");
    box.open = open;
    box.append(element("summary", "", `${title} (${texts.length})`));
    for (const [name, text] of texts) {
      const words = element("p", "", text);
      words.dir = "auto";
      box.append(element("small", "", name), words);
    }
    return box;
  });
}

function drawOutput(place, output, words) {
  if (!output) return place.replaceChildren(element("p", "end", words));
  const sides = element("div", "sides");
  sides.append(drawTexts(output.left), drawTexts(output.right));
  place.replaceChildren(sides, ...drawLists(output.lists));
}

function stored(name) {
  try {
    return JSON.parse(sessionStorage.getItem(name)) || [];
  } catch {
    return [];
  }
}

export default function (component) {
  const { parentElement, setStateValue } = component;
  const find = (name) => parentElement.querySelector(name);
  const data = JSON.parse(new TextDecoder().decode(component.data));
  const root = find(".output");
  const name = `assay-labels ${data.session}`;
  // of the window, as the page may draw this anew at any time, and between two drawings a key comes as well
  const queues = (window.assayLabels ||= {});
  const first = !queues[name];
  const queue = (queues[name] ||= { pending: stored(name), history: [], shown: null, set: data.set });
  const isNew = queue.root !== root;
  queue.root = root;
  root.queue = queue;
  const before = queue.pending.length;
  queue.pending = queue.pending.filter(({ id }) => !data.stored.includes(id));
  if (queue.set !== data.set) {  // another criterion, scale or choice of outputs: the keys are for the labels again
    document.activeElement?.blur();
    Object.assign(queue, { set: data.set, history: [], shown: null });
  }
  queue.held = false;
  const keep = () => sessionStorage.setItem(name, JSON.stringify(queue.pending));
  const send = () => setStateValue("given", queue.pending);
  if (queue.pending.length !== before) keep();
  if (isNew && queue.pending.length) send();

  function nextOutput() {
    const gone = new Map();
    for (const { key, do: deed } of queue.pending) gone.set(key, deed !== "take back");
    return data.outputs.find(({ key }) => !gone.get(key)) || null;
  }

  // How many labels wait that the server does not count yet, less those that it counts and that are taken back.
  const waiting = () => queue.pending.reduce((sum, { counts }) => sum + counts, 0);

  function show() {
    if (!queue.held) queue.shown ||= nextOutput();
    const done = Math.min(data.total, data.done + waiting());
    root.dataset.waiting = queue.pending.length;
    const bar = find("progress");
    Object.assign(bar, { max: Math.max(1, data.total), value: done });
    find("#said").textContent = `${data.head}: ${done} of ${data.total} outputs labelled, ${data.drawn} of them drawn at random`;
    drawOutput(root, queue.held ? null : queue.shown, done >= data.total ? "Every output has your label." : "Loading the next outputs …");
    for (const button of find(".bar").children) button.disabled = button.move === "take back" ? !queue.history.length : !queue.shown || queue.held;
  }

  function press({ do: deed, value = null }) {
    const id = `${Date.now()}-${Math.random()}`;
    if (deed === "take back") {
      const last = queue.history.pop();
      if (!last) return;
      queue.pending.push({ id, do: deed, key: last.shown.key, output: last.shown.output, value, counts: -last.counts });
      queue.shown = last.shown;
    } else {
      if (!queue.shown || queue.held) return;
      const counts = deed === "label" ? 1 : 0;
      queue.pending.push({ id, do: deed, key: queue.shown.key, output: queue.shown.output, value, counts });
      queue.history.push({ shown: queue.shown, counts });
      queue.shown = null;
    }
    keep();
    send();
    show();
  }

  const choices = [...data.labels.map((label) => ({ ...label, do: "label" })), ...MOVES];
  find(".bar").replaceChildren(...choices.map((choice) => {
    const button = element("button", "", choice.text);
    button.type = "button";
    button.move = choice.do;
    button.title = choice.hint || "";
    if (choice.key) {
      button.append(element("kbd", "", choice.key));
      button.setAttribute("aria-keyshortcuts", choice.key);
    }
    button.onclick = () => {
      press(choice);
      button.blur();
    };
    return button;
  }));
  show();

  const onKey = (event) => {
    const target = event.composedPath()[0];
    if (isTyping(event)) {
      // Enter sets a box of the sidebar: what is shown is then of the criterion before, until the page has answered
      if (event.key === "Enter" && target.matches?.('[data-testid="stSidebar"] [data-testid="stTextInput"] input')) {
        queue.held = target.value.trim() !== (queue.typedFrom ?? "").trim();
        target.blur();  // which sets it, too
        show();
      }
      return;
    }
    const plain = !(event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.repeat);
    const choice = plain && choices.find(({ key }) => key && key.toLowerCase() === event.key.toLowerCase());
    if (!choice) return;
    event.preventDefault();
    press(choice);
  };
  queue.onKey = onKey;
  if (!first) return;
  const isShown = () => queue.root.isConnected && queue.root.queue === queue;
  const listen = (name, act) => document.addEventListener(name, (event) => isShown() && act(event));
  listen("keydown", (event) => queue.onKey(event));
  listen("focusin", ({ target }) => (queue.typedFrom = target.value));
}
