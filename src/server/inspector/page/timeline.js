// The conversation from its first stored utterance to the last. Only what is near the view is read and shown, so a
// conversation of any length scrolls alike.

import { all } from "./calls.js";
import { fill, h } from "./element.js";
import { article, mark } from "./utterance.js";
import { counted, within } from "./words.js";

/** Sequences in a block, which is read and shown as one. */
const BLOCK = 40;
/** The height that an utterance is taken to have before it is shown, in pixels. */
const GUESS = 96;
/** How far from the view blocks are shown, in pixels. */
const MARGIN = 1_500;
/** How near to the end the view counts as at the end, in pixels. */
const END = 80;

/** @typedef {import("./conversation.js").Conversation} Conversation */
/** @typedef {(utterance: any) => ({text: string, isIn: boolean} | null)} Fate */

export class Timeline {
  /** @type {Map<number, Block>} */ #blocks = new Map();
  /** @type {Fate} */ #fate = () => null;
  /** The sequence of the utterance that the keyboard is at. */
  #at = 0;

  /**
   * @param {Conversation} conversation
   * @param {import("./utterance.js").Actions} actions
   */
  constructor(conversation, actions) {
    this.conversation = conversation;
    this.actions = actions;
    this.feed = h("div", {
      role: "feed",
      "aria-label": "What was said",
      class: "feed",
      onkeydown: (event) => this.#key(event),
    });
    this.element = h("div", { class: "timeline" }, this.feed);
    this.#observer = new IntersectionObserver((entries) => this.#moved(entries), {
      root: this.element,
      rootMargin: `${MARGIN}px 0px`,
    });
    this.feed.addEventListener("focusin", (event) => this.#focused(/** @type {HTMLElement} */ (event.target)));
    this.update("all");
  }

  #observer;

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

  #follows = false;

  toEnd() {
    this.element.scrollTop = this.element.scrollHeight;
  }

  /**
   * Takes over what has changed in the conversation.
   * @param {import("./conversation.js").Range[] | "all"} stale
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

  /** Marks the utterances of ranges, or none. @param {import("./conversation.js").Range[]} ranges */
  light(ranges) {
    this.lit = ranges;
    for (const shown of this.#shown()) shown.classList.toggle("lit", within(ranges, Number(shown.dataset.sequence)));
  }

  /** @type {import("./conversation.js").Range[]} */ lit = [];

  /** @returns {HTMLElement[]} */
  #shown() {
    return [...this.feed.querySelectorAll("article")];
  }

  /** One utterance is in the order of Tab, with its buttons: the one that the keyboard is at. */
  #focused(target) {
    const at = target.closest("article");
    if (at) this.#place(Number(at.dataset.sequence));
  }

  /** @param {number} sequence */
  #place(sequence) {
    this.#at = sequence;
    this.rove();
  }

  /** Puts one utterance in the order of Tab. */
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

/** @param {number} sequence */
const blockOf = (sequence) => Math.floor((sequence - 1) / BLOCK);

/** A block of sequences. */
class Block {
  /** @type {any[] | null} */ #utterances = null;
  /** @type {Promise<void> | null} */ #showing = null;
  #isWanted = false;

  /** @param {number} number */
  constructor(number) {
    this.first = number * BLOCK + 1;
    this.last = (number + 1) * BLOCK;
    this.element = h("div", { class: "block", "data-block": number });
    this.element.style.height = `${BLOCK * GUESS}px`;
  }

  /** @returns {HTMLElement[]} */
  articles() {
    return [.../** @type {NodeListOf<HTMLElement>} */ (this.element.querySelectorAll("article"))];
  }

  /** @param {import("./conversation.js").Range[]} ranges */
  touches(ranges) {
    return ranges.some(({ first, last }) => Number(first) <= this.last && Number(last) >= this.first);
  }

  /** Reads and shows the block. @param {Timeline} timeline */
  show(timeline) {
    this.#isWanted = true;
    if (this.#utterances) return Promise.resolve();
    this.#showing ??= this.#read(timeline).finally(() => (this.#showing = null));
    return this.#showing;
  }

  /** @param {Timeline} timeline */
  async #read(timeline) {
    const { id } = timeline.conversation;
    const between = { afterSequence: this.first - 1, beforeSequence: this.last + 1 };
    const request = { conversationId: id, includeArchive: true, includeForgotten: true, pageSize: BLOCK, ...between };
    try {
      this.#utterances = await all("ConversationService/ListUtterances", request, "utterances");
    } catch {
      return; // what went wrong is told elsewhere; scrolling here again reads again
    }
    if (this.#isWanted) this.#draw(timeline);
    else this.#utterances = null;
  }

  /** Reads again what is shown. @param {Timeline} timeline */
  async refresh(timeline) {
    if (!this.#utterances && !this.#showing) return;
    await this.#showing;
    await this.#read(timeline);
  }

  /** @param {Timeline} timeline */
  #draw(timeline) {
    const { element: view, conversation, actions } = timeline;
    const [before, isAbove] = [this.element.offsetHeight, this.element.offsetTop < view.scrollTop];
    const isAtEnd = timeline.isAtEnd;
    const focused = this.element.contains(document.activeElement)
      ? document.activeElement?.closest("article")?.id
      : null;
    fill(this.element, ...parts(this.#utterances ?? [], conversation, actions));
    this.element.style.height = "";
    this.tell(timeline.fate);
    timeline.light(timeline.lit);
    timeline.rove();
    // What is in the view stays where it is.
    if (isAtEnd) timeline.toEnd();
    else if (isAbove) view.scrollTop += this.element.offsetHeight - before;
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  }

  /** Takes the block away from the page; its height stays. */
  hide() {
    this.#isWanted = false;
    if (!this.#utterances || this.element.contains(document.activeElement)) return;
    this.element.style.height = `${this.element.offsetHeight}px`;
    this.element.replaceChildren();
    this.#utterances = null;
  }

  /** @param {Fate} fate */
  tell(fate) {
    const articles = this.articles();
    (this.#utterances ?? []).forEach((utterance, index) => mark(articles[index], fate(utterance)));
  }
}

/**
 * The utterances of a block, with a line wherever window and archive meet.
 * @param {any[]} utterances
 * @param {Conversation} conversation
 * @param {import("./utterance.js").Actions} actions
 */
function parts(utterances, conversation, actions) {
  /** @type {Map<string, string>} */
  const tools = new Map();
  const shown = [];
  for (const utterance of utterances) {
    for (const made of utterance.toolCalls ?? []) tools.set(made.id, made.name);
    const sequence = Number(utterance.sequence);
    const isInWindow = utterance.position !== undefined;
    if (isInWindow && utterance.position === 1 + heads(conversation)) shown.push(line(conversation));
    const around = {
      size: conversation.last - conversation.first + 1,
      place: sequence - conversation.first + 1,
      segment: isInWindow ? null : conversation.segmentOf(sequence),
      tool: utterance.lateTool || tools.get(utterance.toolCallId),
    };
    shown.push(article(utterance, around, actions));
  }
  return shown;
}

/** Instructions at the head of the window, which never leave it. @param {Conversation} conversation */
function heads({ window, capacity }) {
  const isWhole = window.length === capacity.utteranceCount;
  const body = window.findIndex((utterance) => utterance.role !== "ROLE_SYSTEM" && !utterance.pinned);
  return isWhole && body > 0 ? body : 0;
}

/** Where the window begins. @param {Conversation} conversation */
function line({ capacity, about }) {
  const archived = capacity.archivedUtteranceCount ?? 0;
  const limit = about.policy?.maxUtterances;
  const size = counted(capacity.utteranceCount, "utterance") + (limit ? ` of at most ${limit}` : "");
  const text = archived > 0 ? `↑ archive: ${counted(archived, "utterance")} · window: ${size} ↓` : `window: ${size} ↓`;
  return h("p", { class: "boundary" }, h("span", {}, text));
}
