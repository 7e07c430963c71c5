// Elements of the page, made and replaced.

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element; attributes that are functions listen to events, null ones are left out. */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function s(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (name.startsWith("aria-") && value !== null) element.setAttribute(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value);
    }
  }
  element.append(...children.flat(Infinity).filter((child) => child || child === 0).map(asNode));
  return element;
}

function asNode(child) {
  return child instanceof Node ? child : document.createTextNode(String(child));
}

/** Replace what is in a place; the focus stays on the element of the same `data-key`, in the same
 * derivation, and what was scrolled stays so.
 */
export function put(place, ...children) {
  const active = document.activeElement?.closest("[data-key]");
  const focused = active && place.contains(active) ? placeOf(active, "key") : null;
  const scrolled = new Map(named(place, "scroll").map(([name, part]) => [name, part.scrollLeft]));
  place.replaceChildren(...children.flat(Infinity).filter(Boolean).map(asNode));
  for (const [name, part] of named(place, "scroll")) part.scrollLeft = scrolled.get(name) ?? 0;
  if (focused) new Map(named(place, "key")).get(focused)?.focus({ preventScroll: true });
}

const named = (place, kind) =>
  [...place.querySelectorAll(`[data-${kind}]`)].map((part) => [placeOf(part, kind), part]);

const placeOf = (part, kind) => `${part.closest("[data-panel]")?.dataset.panel} ${part.dataset[kind]}`;

/** A select with these [value, text] pairs. */
export function select(attributes, pairs, chosen) {
  const options = pairs.map(([value, text]) =>
    h("option", { value, selected: String(value) === String(chosen) }, text),
  );
  return h("select", attributes, options);
}

/** A button; `key` keeps the focus on it when its surroundings are drawn again. */
export function button(text, click, attributes = {}) {
  return h("button", { type: "button", click, ...attributes }, text);
}

const SECONDS = 5; // that a message stays
let leaving = null;

/** A message: shown for a while, an error until the next message, a quiet one only read out. */
export function tell(text, { isError = false, isQuiet = false } = {}) {
  const place = document.getElementById(isError ? "error" : "status");
  document.getElementById("error").textContent = "";
  place.textContent = text;
  place.classList.toggle("hidden", isQuiet);
  if (isError || isQuiet) return;
  clearTimeout(leaving);
  leaving = setTimeout(() => place.classList.add("hidden"), 1000 * SECONDS);
}
