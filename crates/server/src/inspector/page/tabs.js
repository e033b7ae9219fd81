// Panels, of which one is shown (the pattern "tabs" of the ARIA Authoring Practices). On a phone, one more tab shows
// the conversation in the place of a panel.

import { h, set } from "./element.js";
import { phone } from "./narrow.js";

/** @typedef {{element: HTMLElement, open: () => void, close: () => void, update: () => void}} Panel */

export class Tabs {
  /** @type {string} */ #shown = "";

  /**
   * @param {[name: string, label: string, panel: Panel][]} tabs
   * @param {(name: string) => void} turned
   */
  constructor(tabs, turned) {
    this.tabs = tabs.map(([name, label, panel]) => {
      const tab = this.#tab(name, label, `panel-${name}`);
      const box = h(
        "div",
        { role: "tabpanel", id: `panel-${name}`, "aria-labelledby": `tab-${name}`, hidden: true },
        panel.element,
      );
      return { name, tab, panel, box };
    });
    this.messages = { name: "messages", tab: this.#tab("messages", "Messages", "main"), panel: null, box: null };
    this.turned = turned;
    const list = h(
      "div",
      { role: "tablist", "aria-label": "Views", onkeydown: (event) => this.#key(event) },
      [this.messages, ...this.tabs].map(({ tab }) => tab),
    );
    this.element = h(
      "div",
      { class: "tabs" },
      list,
      this.tabs.map(({ box }) => box),
    );
  }

  /**
   * @param {string} name
   * @param {string} label
   * @param {string} controls
   */
  #tab(name, label, controls) {
    const onclick = () => this.choose(name);
    return h("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": controls, onclick }, label);
  }

  /** The tabs that can be chosen. */
  get #offered() {
    return phone.matches ? [this.messages, ...this.tabs] : this.tabs;
  }

  /** Shows a panel; the first one if there is none with this name. @param {string} name */
  turn(name) {
    const next = this.#offered.find((it) => it.name === name) ?? this.#offered[0];
    if (next.name === this.#shown) return;
    this.close();
    this.#shown = next.name;
    for (const { tab, box } of [this.messages, ...this.tabs]) {
      const isShown = tab === next.tab;
      set(tab, "aria-selected", String(isShown));
      tab.tabIndex = isShown ? 0 : -1;
      if (box) box.hidden = !isShown;
    }
    next.panel?.open();
  }

  update() {
    this.tabs.find((it) => it.name === this.#shown)?.panel.update();
  }

  close() {
    this.tabs.find((it) => it.name === this.#shown)?.panel.close();
    this.#shown = "";
  }

  /** Shows a panel, and tells so. @param {string} name */
  choose(name) {
    this.turn(name);
    this.turned(name);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const offered = this.#offered;
    const at = offered.findIndex((it) => it.name === this.#shown);
    const { length } = offered;
    const places = { ArrowRight: (at + 1) % length, ArrowLeft: (at + length - 1) % length, Home: 0, End: length - 1 };
    const place = /** @type {Record<string, number>} */ (places)[event.key];
    if (place === undefined) return;
    event.preventDefault();
    this.choose(offered[place].name);
    offered[place].tab.focus();
  }
}
