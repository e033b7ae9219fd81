// The conversation that is shown, kept up to date.

import { call } from "./calls.js";
import { changes, live, operation, removes } from "./live.js";
import { within } from "./words.js";

/** The most utterances of the window that the strip above the conversation shows one by one. */
const STRIP = 100;
/** Changes that come together are read together. */
const PAUSE = 60;

/** @typedef {{first: string | number, last: string | number}} Range */

/**
 * Dispatches `change` when the conversation has changed (the event's detail: the ranges of sequences that are to be read
 * again, or `all`), and `gone` when the conversation is removed.
 */
export class Conversation extends EventTarget {
  /** The conversation as GetConversation returns it. @type {any} */ about = null;
  /** @type {any[]} */ shares = [];
  /** @type {any} */ capacity = null;
  /** @type {any[]} */ segments = [];
  /** The window's utterances, or the newest of them. @type {any[]} */ window = [];
  /** The first and the last sequence that are stored; 0 if none is. */
  first = 0;
  last = 0;
  /** @type {Range[] | "all"} */ #stale = [];
  /** @type {Promise<void> | null} */ #reading = null;
  #isRead = false;

  /** @param {string} id */
  constructor(id) {
    super();
    this.id = id;
  }

  get isEnded() {
    return this.about?.status === "CONVERSATION_STATUS_CLOSED";
  }

  /** The segment of the summary that covers a sequence. @param {number} sequence */
  segmentOf(sequence) {
    return this.segments.find((segment) => within(segment.covers, sequence));
  }

  /** Reads everything. */
  async load() {
    const conversationId = this.id;
    const listed = { conversationId, includeForgotten: true };
    const stored = { ...listed, includeArchive: true };
    const newest = { order: "LIST_ORDER_NEWEST_FIRST" };
    const [found, capacity, summary, window, front, end] = await Promise.all([
      call("ConversationService/GetConversation", { conversationId }),
      call("MemoryService/GetCapacityInfo", { conversationId }),
      call("ConversationService/GetSummary", { conversationId }),
      call("ConversationService/ListUtterances", { ...listed, ...newest, pageSize: STRIP }),
      call("ConversationService/ListUtterances", { ...stored, pageSize: 1 }),
      call("ConversationService/ListUtterances", { ...stored, ...newest, pageSize: 1 }),
    ]);
    this.about = found.conversation;
    this.shares = found.shares ?? [];
    this.capacity = capacity.capacity;
    this.segments = summary.segments ?? [];
    this.window = (window.utterances ?? []).reverse();
    this.first = Number(front.utterances?.[0]?.sequence ?? 0);
    this.last = Number(end.utterances?.[0]?.sequence ?? 0);
    this.#isRead = true;
    if (this.#stale.length > 0) this.#refresh([]); // it has changed meanwhile
  }

  /** Heeds an event of the server. @param {any} event */
  heed(event) {
    const isOurs = event.conversationId === this.id;
    if (isOurs && removes(event)) this.dispatchEvent(new Event("gone"));
    else if (isOurs && changes(event)) this.#refresh(staleAfter(event));
    // a fork and a hard forget also change what is shown of their relatives
    else if (operation(event) === "FORK_CONVERSATION" || operation(event) === "ERASE") this.#refresh("all");
  }

  /**
   * Makes a call that changes this conversation. Its event tells what to read again, or everything is while none comes.
   * @param {string} method
   * @param {object} request
   */
  async change(method, request) {
    const answer = await call(method, { conversationId: this.id, ...request });
    if (live.state !== "live") this.reload();
    return answer;
  }

  /** Reads everything again, soon. @param {Range[] | "all"} stale */
  #refresh(stale) {
    this.#stale = this.#stale === "all" || stale === "all" ? "all" : [...this.#stale, ...stale];
    if (this.#isRead) this.#reading ??= this.#read();
  }

  reload() {
    this.#refresh("all");
  }

  async #read() {
    await new Promise((wake) => setTimeout(wake, PAUSE));
    const stale = this.#stale;
    this.#stale = [];
    try {
      await this.load();
      this.dispatchEvent(new CustomEvent("change", { detail: stale }));
    } catch (error) {
      if (/** @type {any} */ (error).code === "not_found") this.dispatchEvent(new Event("gone"));
    } finally {
      this.#reading = null;
      if (this.#stale.length > 0) this.#refresh([]);
    }
  }
}

/**
 * The sequences that an event has changed.
 * @param {any} event
 * @returns {Range[] | "all"}
 */
function staleAfter(event) {
  if (["COMPACT_CONVERSATION", "UNDO_COMPACTION", "IMPORT_CONVERSATION"].includes(operation(event))) return "all";
  const parts = ["memorized", "evicted", "dropped", "forgotten", "erased", "restored", "updated", "returned"];
  return parts.flatMap((part) => event[part] ?? []);
}
