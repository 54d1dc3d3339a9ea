// Draws the payload of components/widgets/frame.py.
const SHOWN = 2000; // milliseconds that the button says what it did

// Browsers offer the clipboard only to pages of this machine and of HTTPS; elsewhere a selected text is copied.
async function copied(text) {
  if (navigator.clipboard && window.isSecureContext) {
    await navigator.clipboard.writeText(text);
    return true;
  }
  const box = element("textarea");
  box.value = text;
  document.body.append(box);
  box.select();
  const done = document.execCommand("copy");
  box.remove();
  return done;
}

export default function (component) {
  const { parentElement } = component;
  const button = parentElement.querySelector(".copy");
  let timer = null;
  button.onclick = async (event) => {
    event.stopPropagation();
    const done = await copied(location.href).catch(() => false);
    button.textContent = done ? "Link copied" : "Copy the address bar";
    clearTimeout(timer);
    timer = setTimeout(() => (button.textContent = "Copy link"), SHOWN);
  };
  return () => clearTimeout(timer);
}
