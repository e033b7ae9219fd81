// Changes and reads on the server, the newest first.

import { fill, h } from "../element.js";
import { changes, live, operation } from "../live.js";
import { link } from "../route.js";
import { atClock, counted, exactly, span } from "../words.js";

/** The most events that are kept. */
const MOST = 300;
/** The parts of an event that name utterances, and what they tell. */
const PARTS = Object.entries({
  memorized: "added",
  evicted: "left the window:",
  dropped: "left the archive:",
  forgotten: "forgotten:",
  erased: "forgotten for good:",
  restored: "restored:",
  updated: "changed:",
  returned: "back in the window:",
});
/** What the page calls the operations whose names are not plain. @type {Record<string, string>} */
const NAMES = {
  MEMORIZE: "add messages",
  REMEMBER: "search",
  ERASE: "forget for good",
  GET_CAPACITY: "read the size of the window",
  GET_CONVERSATION: "read the conversation",
  GET_SUMMARY: "read the summary",
  GET_STATS: "read the numbers",
  GET_STATE: "read the state",
  UPDATE_STATE: "change the state",
  UPDATE_CONVERSATION: "change the conversation",
  UPDATE_UTTERANCE: "change an utterance",
  EXPIRE_CONVERSATION: "delete an unchanged conversation",
  RETIRE_CONVERSATION: "delete an old conversation",
  READ_SHARED: "read a share",
  SUMMARIZE_BY_LLM: "write the summary with a model",
  ANSWER_COMPACTION_PROMPT: "answer the advice to compact",
};

/** @type {any[]} */
const events = [];
live.addEventListener("event", (event) => {
  events.unshift(/** @type {CustomEvent} */ (event).detail);
  events.length = Math.min(events.length, MOST);
});

export class EventsPanel {
  #draw = () => this.update();

  /** @param {import("../conversation.js").Conversation} conversation */
  constructor(conversation) {
    this.conversation = conversation;
    this.everything = h("input", { type: "checkbox", onchange: this.#draw });
    this.reads = h("input", { type: "checkbox", onchange: this.#draw });
    this.list = h("ol", { class: "events" });
    this.log = h("div", { role: "log", "aria-label": "Events", "aria-live": "off", tabindex: 0 }, this.list);
    this.element = h(
      "div",
      { class: "panel-body" },
      h(
        "p",
        { class: "checks" },
        h("label", { class: "check" }, this.everything, " of all conversations"),
        h("label", { class: "check" }, this.reads, " reads too"),
      ),
      this.log,
    );
  }

  open() {
    live.addEventListener("event", this.#draw);
    this.update();
  }

  close() {
    live.removeEventListener("event", this.#draw);
  }

  update() {
    const isShown = (event) =>
      (this.everything.checked || event.conversationId === this.conversation.id) &&
      (this.reads.checked || changes(event));
    const shown = events.filter(isShown);
    fill(
      this.list,
      shown.length > 0
        ? shown.map((it) => this.#event(it))
        : h("li", { class: "quiet" }, "Nothing has happened since you opened the page."),
    );
  }

  #event(event) {
    const parts = PARTS.filter(([part]) => event[part]).map(
      ([part, told]) => `${told} ${event[part].map(span).join(", ")}`,
    );
    const segments = [
      ["segments written", event.writtenSegmentNumbers],
      ["segments removed", event.removedSegmentNumbers],
    ].filter(([, numbers]) => numbers?.length > 0);
    const other = event.conversationId && event.conversationId !== this.conversation.id;
    return h(
      "li",
      { class: changes(event) ? "" : "quiet" },
      h("time", { datetime: event.time, title: exactly(event.time) }, atClock(event.time)),
      h("b", {}, NAMES[operation(event)] ?? operation(event).replaceAll("_", " ").toLowerCase()),
      event.revision && h("span", { class: "quiet" }, `revision ${event.revision}`),
      other && h("a", { href: link(event.conversationId) }, event.conversationId),
      parts.map((part) => h("span", {}, part)),
      segments.map(([name, numbers]) => h("span", { class: "quiet" }, `${name}: ${numbers.join(", ")}`)),
      event.resultCount !== undefined && h("span", {}, counted(event.resultCount, "result")),
    );
  }
}
