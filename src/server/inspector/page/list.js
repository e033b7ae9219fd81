// The list of conversations.

import { call } from "./calls.js";
import { dot, fill, h, iconButton, select, set } from "./element.js";
import { changes, live } from "./live.js";
import { link, route } from "./route.js";
import { ago, count, counted, exactly, statusName } from "./words.js";

const PAGE = 50;
/** The list is read again this long after a change, in milliseconds. */
const PAUSE = 250;

/** @type {[value: string, text: string][]} */
const STATUSES = [
  ["", "any status"],
  ["CONVERSATION_STATUS_ACTIVE", "active"],
  ["CONVERSATION_STATUS_AWAITING_ANSWER", "awaiting answer"],
  ["CONVERSATION_STATUS_IDLE", "idle"],
  ["CONVERSATION_STATUS_CLOSED", "ended"],
];

export class List {
  #entries = /** @type {any[]} */ ([]);
  #next = "";
  #timer = 0;
  #asked = 0;

  /** @param {{create: () => void, upload: () => void}} actions */
  constructor(actions) {
    const read = () => this.#soon();
    this.id = h("input", {
      type: "search",
      "aria-label": "Id begins with",
      placeholder: "Id begins with…",
      oninput: read,
    });
    this.recipient = h("input", { type: "search", "aria-label": "Recipient", placeholder: "Recipient", oninput: read });
    this.status = select(STATUSES, { "aria-label": "Status", onchange: read });
    this.items = h("ol", { class: "conversations" });
    this.more = h("button", { type: "button", class: "wide", onclick: () => void this.#read(true) }, "Show more");
    this.told = h("p", { class: "quiet", role: "status" });
    this.element = h(
      "nav",
      { class: "list", "aria-label": "Conversations" },
      h(
        "div",
        { class: "list-head" },
        h("h2", {}, "Conversations"),
        iconButton("import", "Import conversations", actions.upload),
        iconButton("plus", "New conversation", actions.create),
      ),
      h("div", { class: "filters" }, this.id, this.recipient, this.status),
      this.told,
      this.items,
      this.more,
    );
    live.addEventListener("event", (event) => changes(/** @type {CustomEvent} */ (event).detail) && this.#soon());
    live.addEventListener("gap", () => this.#soon());
    // what was said a minute ago was said two minutes ago by now, or the conversation is idle
    setInterval(() => !document.hidden && this.element.isConnected && this.#soon(), 60_000);
  }

  /** @param {string} recipient */
  of(recipient) {
    this.recipient.value = recipient;
    void this.#read();
  }

  read() {
    return this.#read();
  }

  #soon() {
    this.#timer ||= window.setTimeout(() => {
      this.#timer = 0;
      void this.#read();
    }, PAUSE);
  }

  async #read(isMore = false) {
    const number = (this.#asked += 1);
    const recipientId = this.recipient.value.trim();
    const shown = this.#entries.length;
    const request = {
      ...(recipientId ? { recipientId } : { allRecipients: true }),
      conversationIdPrefix: this.id.value.trim(),
      status: this.status.value || "CONVERSATION_STATUS_UNSPECIFIED",
      order: "CONVERSATION_ORDER_NEWEST_UPDATE",
      pageSize: isMore ? PAGE : Math.min(Math.max(shown, PAGE), 1_000),
      pageToken: isMore ? this.#next : "",
    };
    try {
      const page = await call("ConversationService/ListConversations", request);
      if (number !== this.#asked) return;
      const found = page.conversations ?? [];
      this.#entries = isMore ? [...this.#entries, ...found] : found;
      this.#next = page.nextPageToken ?? "";
      this.#draw();
    } catch (error) {
      fill(this.told, /** @type {Error} */ (error).message);
    }
  }

  #draw() {
    const isFiltered = this.id.value || this.recipient.value || this.status.value;
    const none = isFiltered ? "None matches." : "There are no conversations yet.";
    fill(this.told, this.#entries.length === 0 && none);
    const focused = document.activeElement?.closest("li")?.dataset.id;
    fill(this.items, this.#entries.map(item));
    set(this.more, "hidden", !this.#next);
    this.mark();
    if (focused)
      /** @type {HTMLElement | null} */ (this.items.querySelector(`[data-id="${CSS.escape(focused)}"] a`))?.focus();
  }

  /** Marks the conversation that is shown. */
  mark() {
    const { conversation } = route();
    for (const it of /** @type {NodeListOf<HTMLElement>} */ (this.items.querySelectorAll("li"))) {
      const shown = it.querySelector("a");
      if (!shown) continue;
      set(shown, "aria-current", it.dataset.id === conversation && "page");
      shown.href = link(it.dataset.id ?? "");
    }
  }
}

function item({
  conversationId,
  recipientId,
  title,
  status,
  updateTime,
  utteranceCount,
  windowTokenCount,
  policy,
  forkedFrom,
}) {
  const state = statusName(status);
  const max = policy?.maxTokens;
  const meter = max && h("meter", { min: 0, max, value: windowTokenCount ?? 0, "aria-label": "Tokens of the window" });
  return h(
    "li",
    { "data-id": conversationId },
    h(
      "a",
      { href: link(conversationId) },
      h("span", { class: "title" }, title || conversationId),
      h(
        "span",
        { class: "quiet row" },
        dot(state),
        h("span", { class: "who" }, `${state} · ${recipientId}`, forkedFrom && " · fork"),
        h("time", { datetime: updateTime, title: exactly(updateTime) }, ago(updateTime)),
      ),
      h(
        "span",
        { class: "quiet row" },
        h("span", {}, counted(utteranceCount, "utterance")),
        meter,
        h("span", { title: max && `of ${count(max)}` }, counted(windowTokenCount, "token")),
      ),
    ),
  );
}
