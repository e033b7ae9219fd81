// The window as a strip: a cell for each utterance, as wide as its tokens; the free part; and the marks of the limits.
// Of a long window, the newest utterances have cells. The older ones are one cell, which takes no more than a part of the
// strip whatever its tokens, so that the others stay wide enough to be told apart.

import { h, fill, set } from "./element.js";
import { count, counted, named, overLimit, roleName } from "./words.js";

/** @typedef {import("./conversation.js").Conversation} Conversation */

/** With more cells than this, there are no lines between them. */
const MANY = 60;
/** The most that older utterances take of the width of all. */
const OLDER = 0.4;

export class WindowStrip {
  /** @type {Map<string, HTMLElement>} */ #cells = new Map();

  /**
   * @param {Conversation} conversation
   * @param {(sequence: number) => void} goTo
   */
  constructor(conversation, goTo) {
    this.conversation = conversation;
    this.goTo = goTo;
    this.older = h("div", { class: "older", onclick: (/** @type {MouseEvent} */ event) => this.#goToOlder(event) });
    this.cells = h("div", { class: "cells" });
    this.free = h("div", { class: "free" });
    this.keep = h("div", { class: "keep", title: "An eviction keeps at most this much" });
    this.strip = h("div", { class: "strip", role: "img" }, this.older, this.cells, this.free, this.keep);
    this.legend = h("p", { class: "legend" });
    this.element = h("div", { class: "window-strip" }, this.strip, this.legend);
  }

  update() {
    const { capacity, window } = this.conversation;
    const used = capacity.tokenCount ?? 0;
    const max = capacity.maxTokens;
    const shown = window.reduce((sum, it) => sum + tokensOf(it), 0);
    const whole = Math.max(max ?? 0, used, 1);
    const before = Math.max(used - shown, 0);
    const part = used > 0 ? Math.min(before / used, OLDER) * (used / whole) : 0;
    this.#tell(before);
    grow(this.older, part);
    this.cells.classList.toggle("many", window.length > MANY);
    this.#roll(window, shown > 0 ? (used / whole - part) / shown : 0);
    grow(this.free, 1 - used / whole);
    set(this.keep, "hidden", !max);
    this.keep.style.insetInlineStart = `${placeOf(capacity.keepTokens ?? 0, { used, before, part, whole }) * 100}%`;
    this.strip.classList.toggle("over", capacity.overLimit ?? false);
    set(this.strip, "aria-label", said(capacity));
    fill(this.legend, ...legend(capacity));
  }

  /** Says how much the older utterances are. @param {number} tokens */
  #tell(tokens) {
    const { window, capacity } = this.conversation;
    const older = (capacity.utteranceCount ?? 0) - window.length;
    const told = older > 0 && `${counted(older, "older utterance")}, ${counted(tokens, "token")}`;
    fill(this.older, told && h("span", {}, told));
    set(this.older, "title", told && `${told}: click to go there`);
  }

  /** Lets cells leave and come. @param {any[]} window @param {number} scale the part of the strip that a token takes */
  #roll(window, scale) {
    const staying = new Set(window.map((it) => it.sequence));
    for (const [sequence, cell] of this.#cells) {
      if (staying.has(sequence)) continue;
      this.#cells.delete(sequence);
      cell.classList.add("leaving");
      grow(cell, 0);
      setTimeout(() => cell.remove(), 600);
    }
    // Only cells that are not in their place are moved, so that the others can grow and shrink.
    let place = this.cells.firstElementChild;
    for (const utterance of window) {
      while (place?.classList.contains("leaving")) place = place.nextElementSibling;
      const cell = this.#cells.get(utterance.sequence) ?? this.#made(utterance.sequence);
      cell.className = `cell ${roleName(utterance.role)} ${named(utterance.state, "UTTERANCE_STATE")}`;
      cell.classList.toggle("pinned", utterance.pinned ?? false);
      cell.title = `#${utterance.sequence} ${roleName(utterance.role)}, ${counted(utterance.tokenCount, "token")}`;
      if (cell === place) place = place.nextElementSibling;
      else this.cells.insertBefore(cell, place);
      grow(cell, tokensOf(utterance) * scale);
    }
  }

  /** Goes to the older utterance at the place of a click, if all have the same width. @param {MouseEvent} event */
  #goToOlder({ clientX }) {
    const { left, width } = this.older.getBoundingClientRect();
    const { window, capacity } = this.conversation;
    const next = Number(window[0]?.sequence ?? 1);
    const older = (capacity.utteranceCount ?? 0) - window.length;
    this.goTo(Math.max(next - Math.ceil(older * (1 - (clientX - left) / width)), 1));
  }

  /** @param {string} sequence */
  #made(sequence) {
    const cell = h("div", { onclick: () => this.goTo(Number(sequence)) });
    this.#cells.set(sequence, cell);
    return cell;
  }
}

/**
 * The place of a number of tokens on the strip, from 0 to 1.
 * @param {number} tokens
 * @param {{used: number, before: number, part: number, whole: number}} scale
 */
function placeOf(tokens, { used, before, part, whole }) {
  if (tokens >= used) return tokens / whole;
  if (tokens <= before) return (tokens / before) * part;
  return part + ((tokens - before) / (used - before)) * (used / whole - part);
}

const tokensOf = ({ state, tokenCount = 0 }) => (state === "UTTERANCE_STATE_FORGOTTEN" ? 0 : tokenCount);

/** @param {HTMLElement} cell @param {number} share */
function grow(cell, share) {
  cell.style.flexGrow = String(share * 1000);
}

function said(capacity) {
  const limit = capacity.maxTokens ? ` of ${count(capacity.maxTokens)}` : "";
  return `Window: ${count(capacity.tokenCount)}${limit} tokens, ${counted(capacity.utteranceCount, "utterance")}`;
}

function legend(capacity) {
  const { summary = {}, overLimitCauses = [] } = capacity;
  const of = (value, max) => (max ? `${count(value)} of ${count(max)}` : count(value));
  const item = (kind, value, name) => h("span", { class: kind }, h("b", {}, value), ` ${name}`);
  return [
    item("tokens", of(capacity.tokenCount ?? 0, capacity.maxTokens), "tokens"),
    item("utterances", of(capacity.utteranceCount ?? 0, capacity.maxUtterances), "utterances"),
    item("turns", of(capacity.turnCount ?? 0, capacity.maxTurns), "turns"),
    item("summary", of(summary.tokenCount ?? 0, summary.tokenLimit), "summary tokens"),
    item("archive", count(capacity.archivedUtteranceCount), "in the archive"),
    capacity.overLimit &&
      h("span", { class: "warning" }, `over the limit: ${overLimitCauses.map(overLimit).join(", ")}`),
  ];
}
