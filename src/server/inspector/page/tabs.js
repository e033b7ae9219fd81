// Panels, of which one is shown (the pattern "tabs" of the ARIA Authoring Practices).

import { h, set } from "./element.js";

/** @typedef {{element: HTMLElement, open: () => void, close: () => void, update: () => void}} Panel */

export class Tabs {
  /** @type {string} */ #shown = "";

  /**
   * @param {[name: string, label: string, panel: Panel][]} tabs
   * @param {(name: string) => void} turned
   */
  constructor(tabs, turned) {
    this.tabs = tabs.map(([name, label, panel]) => {
      const tab = h(
        "button",
        {
          type: "button",
          role: "tab",
          id: `tab-${name}`,
          "aria-controls": `panel-${name}`,
          onclick: () => this.#chosen(name),
        },
        label,
      );
      const box = h(
        "div",
        { role: "tabpanel", id: `panel-${name}`, "aria-labelledby": `tab-${name}`, hidden: true },
        panel.element,
      );
      return { name, tab, panel, box };
    });
    this.turned = turned;
    const list = h(
      "div",
      { role: "tablist", "aria-label": "Views", onkeydown: (event) => this.#key(event) },
      this.tabs.map(({ tab }) => tab),
    );
    this.element = h(
      "div",
      { class: "tabs" },
      list,
      this.tabs.map(({ box }) => box),
    );
  }

  /** @param {string} name */
  turn(name) {
    const next = this.tabs.find((it) => it.name === name) ?? this.tabs[0];
    if (next.name === this.#shown) return;
    this.close();
    this.#shown = next.name;
    for (const { tab, box } of this.tabs) {
      const isShown = tab === next.tab;
      set(tab, "aria-selected", String(isShown));
      tab.tabIndex = isShown ? 0 : -1;
      box.hidden = !isShown;
    }
    next.panel.open();
  }

  update() {
    this.tabs.find((it) => it.name === this.#shown)?.panel.update();
  }

  close() {
    this.tabs.find((it) => it.name === this.#shown)?.panel.close();
    this.#shown = "";
  }

  /** @param {string} name */
  #chosen(name) {
    this.turn(name);
    this.turned(name);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const at = this.tabs.findIndex((it) => it.name === this.#shown);
    const { length } = this.tabs;
    const places = { ArrowRight: (at + 1) % length, ArrowLeft: (at + length - 1) % length, Home: 0, End: length - 1 };
    const place = /** @type {Record<string, number>} */ (places)[event.key];
    if (place === undefined) return;
    event.preventDefault();
    this.#chosen(this.tabs[place].name);
    this.tabs[place].tab.focus();
  }
}
