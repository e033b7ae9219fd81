// Making elements. Text only ever becomes text nodes, so nothing that was said can become markup.

/** @typedef {any} Child a node, a text, a list of these, or nothing: null, undefined or false */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Makes an element. An attribute that is a function is a listener (`onclick`), `true` sets it empty, `false` and
 * `null` leave it out; `class`, `data-…` and all others are set as they are.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, any>} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key.slice(2), value);
    else set(element, key, value);
  }
  fill(element, ...children);
  return element;
}

/**
 * Sets an attribute, or removes it with `false` and `null`.
 * @param {Element} element
 * @param {string} key
 * @param {any} value
 */
export function set(element, key, value) {
  if (value === false || value === null || value === undefined) element.removeAttribute(key);
  else element.setAttribute(key, value === true ? "" : String(value));
}

/**
 * Replaces the children of an element.
 * @param {Element} element
 * @param {...Child} children
 */
export function fill(element, ...children) {
  const shown = /** @type {any[]} */ (children.flat(Infinity)).filter(
    (child) => child !== null && child !== undefined && child !== false,
  );
  element.replaceChildren(...shown.map((child) => (child instanceof Node ? child : String(child))));
}

/** The lines of each icon, in a square of 16. */
const ICONS = {
  pin: "M9.5 1.5l5 5-2 .5-3 3 .2 3.3-1.2 1.2-3.3-3.3L1.5 14.5l3.3-3.7L1.5 7.5l1.2-1.2 3.3.2 3-3z",
  edit: "M11 2l3 3-8.5 8.5H2.5v-3zM9 4l3 3",
  fork: "M4 5.5v5M4 8h5.5a2 2 0 0 0 2-2v-.5M4 2.5a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3zM12 2.5a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3zM4 10.5a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3z",
  forget: "M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.5 9h6l.5-9M7 7v4M9 7v4",
  restore: "M3 3v3.5h3.5M3.2 6.5A5.2 5.2 0 1 1 3 9.5",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  sun: "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6zM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1",
  more: "M3 8h.01M8 8h.01M13 8h.01",
  plus: "M8 3v10M3 8h10",
  import: "M8 2v8M5 7l3 3 3-3M2.5 11v2.5h11V11",
  send: "M2.5 8h10M8.5 4l4 4-4 4",
  back: "M10 3L5 8l5 5",
  tool: "M10.5 2a3.5 3.5 0 0 0-3.2 4.9L2.5 11.7l1.8 1.8 4.8-4.8A3.5 3.5 0 0 0 13.8 5l-2 2-2-.8-.8-2z",
};

/**
 * An icon. It says nothing to a screen reader: the text or the label beside it does.
 * @param {keyof typeof ICONS} name
 */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

/**
 * A button with an icon alone; its label is its name and its tooltip.
 * @param {keyof typeof ICONS} name
 * @param {string} label
 * @param {(event: MouseEvent) => void} onclick
 * @param {Record<string, any>} [attributes]
 */
export function iconButton(name, label, onclick, attributes = {}) {
  const plain = { type: "button", class: "icon-button", "aria-label": label, title: label };
  return h("button", { ...plain, onclick, ...attributes }, icon(name));
}

/**
 * A button that reads as a link within a text.
 * @param {Child} text
 * @param {() => void} onclick
 */
export const linkButton = (text, onclick) => h("button", { type: "button", class: "link", onclick }, text);

/** The dot before a status. @param {string} status */
export const dot = (status) => h("span", { class: `dot ${status.replace(" ", "-")}` });

let fields = 0;

/**
 * A labelled field of a form: the label, its control, and a hint.
 * @param {string} label
 * @param {HTMLElement} control
 * @param {string} [hint]
 */
export function field(label, control, hint) {
  control.id ||= `field-${(fields += 1)}`;
  const described = hint && h("small", { id: `${control.id}-hint` }, hint);
  set(control, "aria-describedby", hint && `${control.id}-hint`);
  return h("div", { class: "field" }, h("label", { for: control.id }, label), control, described);
}

/**
 * A list of choices.
 * @param {[value: string, text: string][]} options
 * @param {Record<string, any>} [attributes]
 * @param {string} [chosen]
 */
export function select(options, attributes = {}, chosen = "") {
  const made = options.map(([value, text]) => h("option", { value, selected: value === chosen }, text));
  return h("select", attributes, made);
}
