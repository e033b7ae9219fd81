// The list of conversations.

import { call } from "./calls.js";
import { dot, fill, h, iconButton, select, set } from "./element.js";
import { quoted } from "./excerpt.js";
import { MOST, known, recipientsOf, titled, uttered } from "./find.js";
import { changes, live } from "./live.js";
import { link, route } from "./route.js";
import { ago, at, count, counted, exactly, roleName, statusName } from "./words.js";

const PAGE = 50;
/** The list is read again this long after a change, in milliseconds. */
const PAUSE = 250;
/** The most titles that a search shows. */
const TITLES = 50;
/** Characters of a text that a search shows. */
const SHORT = 120;

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
  /** The conversations that a search looks at, read once for all letters of a text. @type {Promise<any[]> | null} */
  #known = null;

  /**
   * @param {{create: () => void, upload: () => void}} actions
   * @param {() => void} listed called when the list was read
   */
  constructor(actions, listed) {
    this.listed = listed;
    const read = () => this.#soon();
    const filter = () => ((this.#known = null), this.#soon());
    this.text = field("Search titles and texts", read);
    this.recipient = field("Recipient", filter);
    this.status = select(STATUSES, { "aria-label": "Status", onchange: filter });
    this.items = h("ol", { class: "conversations" });
    this.more = h("button", { type: "button", class: "wide", onclick: () => void this.#list(true) }, "Show more");
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
      h("div", { class: "filters" }, this.text, this.recipient, this.status),
      this.told,
      this.items,
      this.more,
    );
    const refresh = () => ((this.#known = null), this.#sought || this.#soon());
    live.addEventListener("event", (event) => changes(/** @type {CustomEvent} */ (event).detail) && refresh());
    live.addEventListener("gap", refresh);
    // what was said a minute ago was said two minutes ago by now, or the conversation is idle
    setInterval(() => !document.hidden && this.element.isConnected && refresh(), 60_000);
  }

  /** The id of the conversation that changed last; empty if none is listed. */
  get newest() {
    return this.#entries[0]?.conversationId ?? "";
  }

  /** The text that is searched for. */
  get #sought() {
    return this.text.value.trim();
  }

  /** @param {string} recipient */
  of(recipient) {
    this.recipient.value = recipient;
    this.#known = null;
    void this.read();
  }

  read() {
    return this.#sought ? this.#search(this.#sought) : this.#list();
  }

  #soon() {
    this.#timer ||= window.setTimeout(() => {
      this.#timer = 0;
      void this.read();
    }, PAUSE);
  }

  /** What the list is restricted to. */
  #filter() {
    const recipientId = this.recipient.value.trim();
    return {
      ...(recipientId ? { recipientId } : { allRecipients: true }),
      status: this.status.value || "CONVERSATION_STATUS_UNSPECIFIED",
      order: "CONVERSATION_ORDER_NEWEST_UPDATE",
    };
  }

  async #list(isMore = false) {
    const number = (this.#asked += 1);
    const shown = this.#entries.length;
    const request = {
      ...this.#filter(),
      pageSize: isMore ? PAGE : Math.min(Math.max(shown, PAGE), 1_000),
      pageToken: isMore ? this.#next : "",
    };
    try {
      const page = await call("ConversationService/ListConversations", request);
      if (number !== this.#asked) return;
      const found = page.conversations ?? [];
      this.#entries = isMore ? [...this.#entries, ...found] : found;
      this.#next = page.nextPageToken ?? "";
      const isFiltered = this.recipient.value || this.status.value;
      const none = isFiltered ? "No conversation matches." : "There are no conversations yet.";
      fill(this.told, this.#entries.length === 0 && none);
      this.#draw(this.#entries.map(item));
      set(this.more, "hidden", !this.#next);
    } catch (error) {
      fill(this.told, /** @type {Error} */ (error).message);
    }
    this.listed();
  }

  /** Shows the conversations with a text in their title, and the utterances with it. @param {string} text */
  async #search(text) {
    const number = (this.#asked += 1);
    const isLast = () => number === this.#asked;
    fill(this.told, "Searching…");
    set(this.more, "hidden", true);
    try {
      this.#known ??= known(this.#filter());
      const searched = await this.#known;
      const titles = titled(searched, text);
      const show = (/** @type {any[]} */ matches) => {
        if (isLast()) this.#draw(found(titles, matches, searched));
        return isLast();
      };
      show([]);
      /** @type {any[]} */
      let matches = [];
      await uttered(searched, text, (best) => show((matches = best)));
      if (isLast()) fill(this.told, ...told(titles, matches, searched));
    } catch (error) {
      this.#known = null;
      if (isLast()) fill(this.told, /** @type {Error} */ (error).message);
    }
  }

  /** @param {HTMLElement[]} items */
  #draw(items) {
    const focused = document.activeElement?.closest("li")?.dataset.id;
    fill(this.items, items);
    this.mark();
    if (focused)
      /** @type {HTMLElement | null} */ (this.items.querySelector(`[data-id="${CSS.escape(focused)}"] a`))?.focus();
  }

  /** Marks the conversation that is shown. */
  mark() {
    const { conversation } = route();
    for (const it of /** @type {NodeListOf<HTMLElement>} */ (this.items.querySelectorAll("li[data-id]"))) {
      const shown = it.querySelector("a");
      if (!shown) continue;
      set(shown, "aria-current", it.dataset.id === conversation && "page");
      shown.href = link(it.dataset.id ?? "");
    }
  }
}

/** @param {string} label @param {() => void} oninput */
const field = (label, oninput) => h("input", { type: "search", "aria-label": label, placeholder: label, oninput });

/** What a search shows. @param {any[]} titles @param {any[]} matches @param {any[]} searched */
function found(titles, matches, searched) {
  const byId = new Map(searched.map((it) => [it.conversationId, it]));
  const heading = (/** @type {string} */ text) => h("li", { class: "quiet heading" }, text);
  return [
    ...(titles.length > 0 ? [heading("In titles")] : []),
    ...titles.slice(0, TITLES).map(item),
    ...(matches.length > 0 ? [heading("In texts")] : []),
    ...matches.map((match) => saying(match, byId.get(match.conversationId))),
  ];
}

/** How much a search found, and what it left out. @param {any[]} titles @param {any[]} matches @param {any[]} searched */
function told(titles, matches, searched) {
  const recipients = recipientsOf(searched).length;
  const sum = `${counted(titles.length, "title")}, ${counted(matches.length, "text")}.`;
  return [
    titles.length + matches.length === 0 ? "No title and no text matches." : sum,
    searched.length >= MOST.conversations && ` Only the newest ${count(MOST.conversations)} titles were searched.`,
    recipients > MOST.recipients &&
      ` Only the texts of the ${MOST.recipients} recipients who were active last were searched: enter a recipient above to search others.`,
  ];
}

/** An utterance that was found. @param {any} match @param {any} conversation */
function saying(match, { title, conversationId, recipientId }) {
  const { sequence, role, createTime } = match.utterance;
  return h(
    "li",
    {},
    h(
      "a",
      { href: link(conversationId, { at: sequence }) },
      h("span", { class: "title" }, title || conversationId),
      h(
        "span",
        { class: "quiet row" },
        h("span", { class: "who" }, `${roleName(role)} #${sequence} · ${recipientId}`),
        h("time", { datetime: createTime, title: exactly(createTime) }, at(createTime)),
      ),
      h("span", { class: "text" }, quoted(match, SHORT)),
    ),
  );
}

/** @param {any} conversation */
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
  const meter = max && h("meter", { min: 0, max, value: windowTokenCount ?? 0, "aria-label": "Tokens in the window" });
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
        h("span", { title: max && `of at most ${count(max)}` }, counted(windowTokenCount, "token")),
      ),
    ),
  );
}
