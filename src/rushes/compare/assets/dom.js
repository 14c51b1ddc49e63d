// Small things every part of the board needs. Text goes in as text, so a file name or a prompt can hold anything.

/** An element with attributes and children; strings become text. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** An SVG element. */
export function drawing(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export function readJson(id) {
  const holder = document.getElementById(id);
  return holder ? JSON.parse(holder.textContent) : null;
}

/** A number with so many decimals; a dash where there is none. */
export function number(value, digits) {
  if (value === null || value === undefined) return "–";
  const text = value.toFixed(digits);
  return text.replace("-", Number(text) === 0 ? "" : "−");
}

/** Where something must be put to be seen and used: an open dialog makes the rest of the page inert. */
function topmost() {
  return document.querySelector("dialog[open]") ?? document.body;
}

let quiet = 0;
export function say(text) {
  const box = document.getElementById("said");
  topmost().append(box);
  box.textContent = text;
  box.classList.add("on");
  clearTimeout(quiet);
  quiet = setTimeout(() => box.classList.remove("on"), 2500);
}

export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const holder = make("textarea", { readonly: true, class: "hidden" });
    holder.value = text;
    topmost().append(holder);
    holder.select();
    document.execCommand("copy");
    holder.remove();
  }
  say(`Copied ${text}`);
}
