// The conversation from its first stored utterance to the last. Only what is near the view is read and shown, so a
// conversation of any length scrolls alike.

import { Block, blockOf } from "../block.js";
import { h } from "../element.js";
import { within } from "../words.js";

/** How far from the view blocks are shown, in pixels. */
const MARGIN = 1_500;
/** How near to the end the view counts as at the end, in pixels. */
const END = 80;

/** @typedef {import("../conversation.js").Conversation} Conversation */
/** @typedef {(utterance: any) => ({text: string, isIn: boolean} | null)} Fate */

export class Timeline {
  /** @type {Map<number, Block>} */ #blocks = new Map();
  /** @type {Fate} */ #fate = () => null;
  /** The sequence of the utterance that the keyboard is at. */
  #at = 0;
  /** Whether to go to the end with the next change. */
  #follows = false;
  /** What is marked. @type {import("../conversation.js").Range[]} */ lit = [];
  #observer;

  /**
   * @param {Conversation} conversation
   * @param {import("../utterance.js").Actions} actions
   */
  constructor(conversation, actions) {
    this.conversation = conversation;
    this.actions = actions;
    this.feed = h("div", {
      role: "feed",
      "aria-label": "Utterances",
      class: "feed",
      onkeydown: (event) => this.#key(event),
    });
    this.element = h("div", { class: "timeline" }, this.feed);
    this.#observer = new IntersectionObserver((entries) => this.#moved(entries), {
      root: this.element,
      rootMargin: `${MARGIN}px 0px`,
    });
    this.feed.addEventListener("focusin", (event) => this.#focused(/** @type {HTMLElement} */ (event.target)));
  }

  close() {
    this.#observer.disconnect();
  }

  get isAtEnd() {
    const { scrollHeight, scrollTop, clientHeight } = this.element;
    return scrollHeight - scrollTop - clientHeight < END;
  }

  /** Goes to the end with the next change. */
  follow() {
    this.#follows = true;
  }

  toEnd() {
    this.element.scrollTop = this.element.scrollHeight;
  }

  /**
   * Takes over what has changed in the conversation.
   * @param {import("../conversation.js").Range[] | "all"} stale
   */
  update(stale) {
    const { first, last } = this.conversation;
    const goesToEnd = this.isAtEnd || this.#follows;
    this.#follows = false;
    const [from, to] = first > 0 ? [blockOf(first), blockOf(last)] : [1, 0];
    for (const [number, block] of this.#blocks) {
      if (number >= from && number <= to) continue;
      this.#observer.unobserve(block.element);
      block.element.remove();
      this.#blocks.delete(number);
    }
    for (let number = to; number >= from; number -= 1) {
      if (!this.#blocks.has(number)) this.#add(number);
    }
    for (const block of this.#blocks.values()) {
      if (stale === "all" || block.touches(stale)) void block.refresh(this);
    }
    this.element.classList.toggle("empty", first === 0);
    if (goesToEnd) this.toEnd();
  }

  /** Adds a block before the next one, or at the end. @param {number} number */
  #add(number) {
    const block = new Block(number);
    this.#blocks.set(number, block);
    this.feed.insertBefore(block.element, this.#blocks.get(number + 1)?.element ?? null);
    this.#observer.observe(block.element);
  }

  /** @param {IntersectionObserverEntry[]} entries */
  #moved(entries) {
    for (const { target, isIntersecting } of entries) {
      const block = this.#blocks.get(Number(/** @type {HTMLElement} */ (target).dataset.block));
      if (isIntersecting) void block?.show(this);
      else block?.hide();
    }
  }

  /**
   * Goes to an utterance, or to the next one that is stored.
   * @param {number} sequence
   * @param {{isFocused?: boolean}} [how]
   */
  async goTo(sequence, { isFocused = true } = {}) {
    const { first, last } = this.conversation;
    const block = this.#blocks.get(blockOf(Math.min(Math.max(sequence, first), last)));
    if (!block) return;
    block.element.scrollIntoView({ block: "start" });
    await block.show(this);
    const found =
      [...block.articles()].find((it) => Number(it.dataset.sequence) >= sequence) ?? block.articles().at(-1);
    if (!found) return;
    found.scrollIntoView({ block: "center" });
    if (isFocused) found.focus({ preventScroll: true });
    found.classList.remove("found");
    void found.offsetWidth; // begins the animation again
    found.classList.add("found");
  }

  /** Says on each utterance how a context has it. @param {Fate} fate */
  tell(fate) {
    this.#fate = fate;
    for (const block of this.#blocks.values()) block.tell(fate);
  }

  get fate() {
    return this.#fate;
  }

  /** Marks the utterances of ranges, or none. @param {import("../conversation.js").Range[]} ranges */
  light(ranges) {
    this.lit = ranges;
    for (const shown of this.#shown()) shown.classList.toggle("lit", within(ranges, Number(shown.dataset.sequence)));
  }

  /** @returns {HTMLElement[]} */
  #shown() {
    return [...this.feed.querySelectorAll("article")];
  }

  #focused(target) {
    const at = target.closest("article");
    if (!at) return;
    this.#at = Number(at.dataset.sequence);
    this.rove();
  }

  /** Puts one utterance in the order of Tab, with its buttons: the one that the keyboard is at, or was last. */
  rove() {
    const shown = this.#shown();
    const at = shown.find((it) => Number(it.dataset.sequence) === this.#at) ?? shown.at(-1);
    for (const it of shown) {
      it.tabIndex = it === at ? 0 : -1;
      for (const button of it.querySelectorAll(".toolbar button")) {
        /** @type {HTMLElement} */ (button).tabIndex = it === at ? 0 : -1;
      }
    }
  }

  /** Goes to the next or the previous utterance. @param {KeyboardEvent} event */
  #key(event) {
    const steps = { j: 1, k: -1, PageDown: 1, PageUp: -1, ArrowDown: 1, ArrowUp: -1 };
    const step = /** @type {Record<string, number>} */ (steps)[event.key];
    const target = /** @type {HTMLElement} */ (event.target);
    if (!step || event.ctrlKey || event.metaKey || event.altKey || target !== target.closest("article")) return;
    const shown = this.#shown();
    const next = shown[shown.indexOf(target) + step];
    if (!next) return;
    event.preventDefault();
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  }
}
