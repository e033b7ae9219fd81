// A block of a conversation, which is read and shown as one.

import { all } from "./calls.js";
import { fill, h } from "./element.js";
import { article, mark } from "./utterance.js";
import { counted, onDay } from "./words.js";

/** Sequences in a block. */
const BLOCK = 40;
/** The height that an utterance is taken to have before it is shown, in pixels. */
const GUESS = 96;

/** @typedef {import("./conversation.js").Conversation} Conversation */
/** @typedef {import("./panels/timeline.js").Timeline} Timeline */
/** @typedef {import("./panels/timeline.js").Fate} Fate */

/** The number of the block with a sequence. @param {number} sequence */
export const blockOf = (sequence) => Math.floor((sequence - 1) / BLOCK);

/** A block of sequences. */
export class Block {
  /** @type {any[] | null} */ #utterances = null;
  /** @type {Promise<void> | null} */ #showing = null;
  #isWanted = false;

  /** @param {number} number */
  constructor(number) {
    this.first = number * BLOCK + 1;
    this.last = (number + 1) * BLOCK;
    /** The utterance before the block's first, if it is stored. @type {any} */
    this.before = null;
    this.element = h("div", { class: "block", "data-block": number });
    this.element.style.height = `${BLOCK * GUESS}px`;
  }

  /** @returns {HTMLElement[]} */
  articles() {
    return [.../** @type {NodeListOf<HTMLElement>} */ (this.element.querySelectorAll("article"))];
  }

  /** Whether the block shows something of the ranges. @param {import("./conversation.js").Range[]} ranges */
  touches(ranges) {
    return ranges.some(({ first, last }) => Number(first) <= this.last && Number(last) >= this.first - 1);
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
    const between = { afterSequence: Math.max(this.first - 2, 0), beforeSequence: this.last + 1, pageSize: BLOCK + 1 };
    const request = { conversationId: id, includeArchive: true, includeForgotten: true, ...between };
    try {
      const read = await all("ConversationService/ListUtterances", request, "utterances");
      this.before = Number(read[0]?.sequence) < this.first ? read.shift() : null;
      this.#utterances = read;
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
    const refocus = this.#focus();
    fill(this.element, ...parts(this.#utterances ?? [], this.before, conversation, actions));
    this.element.style.height = "";
    this.tell(timeline.fate);
    timeline.light(timeline.lit);
    timeline.rove();
    // What is in the view stays where it is.
    if (isAtEnd) timeline.toEnd();
    else if (isAbove) view.scrollTop += this.element.offsetHeight - before;
    refocus();
  }

  /** Notes where the keyboard is in the block; what is returned goes there again, once the block is drawn anew. */
  #focus() {
    const at = this.element.contains(document.activeElement) ? document.activeElement : null;
    const id = at?.closest("article")?.id;
    if (!at || !id) return () => {};
    const place = [...(at.closest(".toolbar")?.children ?? [])].indexOf(at);
    return () => {
      const found = document.getElementById(id);
      const button = found?.querySelector(".toolbar")?.children[place];
      /** @type {HTMLElement | null | undefined} */ (button ?? found)?.focus({ preventScroll: true });
    };
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
 * The utterances of a block, with a line wherever window and archive meet, and the date before the first of each day.
 * @param {any[]} utterances
 * @param {any} before the utterance before them
 * @param {Conversation} conversation
 * @param {import("./utterance.js").Actions} actions
 */
function parts(utterances, before, conversation, actions) {
  /** @type {Map<string, string>} */
  const tools = new Map();
  const shown = [];
  let day = onDay(before?.createTime);
  for (const utterance of utterances) {
    const said = onDay(utterance.createTime);
    if (said !== day) shown.push(h("p", { class: "day" }, said));
    day = said;
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
