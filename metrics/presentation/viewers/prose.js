// Draws the payload of prose_blocks.py. Every text is textContent; elements come from a list of harmless ones.
const TAGS = new Set("p strong em s code pre ul ol li blockquote table thead tbody tr th td br hr".split(" "));
const ELEMENTS = { removed: "del", added: "ins" };

// Headings of an answer are no headings of the page.
function grow(node) {
  if (typeof node === "string") return document.createTextNode(node);
  const [tag, ...children] = node;
  const made = TAGS.has(tag) ? element(tag) : element("p", "heading");
  made.append(...children.map(grow));
  return made;
}

function words(parts) {
  const made = element("p", "words");
  for (const [text, mark, note] of parts) {
    const part = element(mark ? ELEMENTS[mark] || "mark" : "span", mark, text);
    if (note) part.append(element("sup", "", note));
    made.append(part);
  }
  return made;
}

export default function (component) {
  const root = component.parentElement.querySelector(".prose");
  const data = newData(component, root);
  if (!data) return;
  root.style.maxHeight = `${data.height}px`;
  root.replaceChildren(...data.blocks.map(({ title, parts, tree }) => {
    const made = element("article");
    made.dir = "auto";
    if (title) made.append(element("p", "title", title));
    if (parts) made.append(words(parts));
    else made.append(...tree.map(grow));
    return made;
  }));
  const first = data.blocks.length === 1 && root.querySelector("mark.marked"); // a list of texts begins at its first
  if (first) root.scrollTop = Math.max(0, first.offsetTop - root.offsetTop - 40);
}
