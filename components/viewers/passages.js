// Draws the payload of components/viewers/passages.py: passages with the words that are marked. Every text is textContent.
function element(tag, text) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  return made;
}

export default function (component) {
  const packed = new TextDecoder().decode(component.data);
  const root = component.parentElement.querySelector(".passages");
  if (root.packed === packed) return;
  root.packed = packed;
  root.replaceChildren(...JSON.parse(packed).map(({ place, parts }) => {
    const made = element("article");
    const words = element("p");
    words.append(...parts.map(([text, marked]) => element(marked ? "mark" : "span", text)));
    made.append(element("h4", place), words);
    return made;
  }));
  root.querySelector("mark")?.scrollIntoView({ block: "nearest" });
}
