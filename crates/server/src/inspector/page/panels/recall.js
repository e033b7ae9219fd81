// Searching a conversation, or all conversations of its recipient, for what was said.

import { call } from "../calls.js";
import { field, fill, h, select } from "../element.js";
import { quoted } from "../excerpt.js";
import { link } from "../route.js";
import { at, counted, roleName } from "../words.js";

const PAUSE = 200;
const PAGE = 20;
/** @type {[value: string, text: string][]} */
const SCOPES = [
  ["REMEMBER_SCOPE_CONVERSATION", "this conversation"],
  ["REMEMBER_SCOPE_WINDOW", "its window"],
  ["REMEMBER_SCOPE_RECIPIENT", "all of this recipient's conversations"],
];
/** @type {[value: string, text: string][]} */
const ROLES = [
  ["", "anyone"],
  ["ROLE_USER", "user"],
  ["ROLE_ASSISTANT", "assistant"],
  ["ROLE_TOOL", "tool"],
  ["ROLE_SYSTEM", "system"],
];

export class RecallPanel {
  #timer = 0;
  #asked = 0;

  /**
   * @param {import("../conversation.js").Conversation} conversation
   * @param {{goTo: (sequence: number) => void}} shown
   */
  constructor(conversation, { goTo }) {
    this.conversation = conversation;
    this.goTo = goTo;
    const soon = () => this.#soon();
    this.prompt = h("input", {
      type: "search",
      placeholder: "Words, a name or a date",
      autocomplete: "off",
      oninput: soon,
    });
    this.scope = select(SCOPES, { onchange: soon });
    this.role = select(ROLES, { onchange: soon });
    this.found = h("div", { class: "matches" });
    this.told = h("p", { class: "quiet", role: "status", "aria-live": "polite" });
    this.element = h(
      "div",
      { class: "panel-body" },
      h(
        "form",
        { class: "grid", role: "search", onsubmit: (event) => (event.preventDefault(), void this.#read()) },
        h("div", { class: "whole" }, field("Search for", this.prompt)),
        field("In", this.scope),
        field("Said by", this.role),
      ),
      this.told,
      this.found,
    );
  }

  open() {
    this.prompt.focus();
    void this.#read();
  }

  close() {}

  update() {
    void this.#read();
  }

  #soon() {
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => void this.#read(), PAUSE);
  }

  async #read() {
    const number = (this.#asked += 1);
    const prompt = this.prompt.value.trim();
    if (!prompt && !this.role.value) {
      fill(
        this.told,
        "A word also finds its other forms: “ferry” finds “ferries”. The most relevant matches come first.",
      );
      return fill(this.found);
    }
    const request = {
      conversationId: this.conversation.id,
      prompt,
      scope: this.scope.value,
      pageSize: PAGE,
      filter: this.role.value ? { roles: [this.role.value] } : undefined,
    };
    try {
      const { matches = [], nextPageToken } = await call("MemoryService/Remember", request);
      if (number !== this.#asked) return;
      fill(
        this.told,
        matches.length === 0
          ? "No matches."
          : `${counted(matches.length, "match", "matches")}${nextPageToken ? " and more" : ""}`,
      );
      fill(
        this.found,
        matches.map((it) => this.#match(it)),
      );
    } catch (error) {
      if (number === this.#asked) fill(this.told, h("span", { class: "error" }, /** @type {Error} */ (error).message));
    }
  }

  /** @param {any} match */
  #match(match) {
    const { utterance, conversationId, relevance = 0, score = 0 } = match;
    const isHere = conversationId === this.conversation.id;
    const href = link(conversationId, { tab: "search", at: utterance.sequence });
    const onclick = (event) => {
      if (!isHere) return;
      event.preventDefault();
      this.goTo(Number(utterance.sequence));
    };
    return h(
      "a",
      { class: "match", href, onclick },
      h(
        "span",
        { class: "match-head" },
        h("b", {}, roleName(utterance.role)),
        ` #${utterance.sequence} `,
        h("span", { class: "quiet" }, isHere ? at(utterance.createTime) : `in ${conversationId}`),
        h(
          "span",
          { class: "relevance", title: `score ${score.toFixed(2)}` },
          h("meter", { min: 0, max: 1, value: relevance, "aria-label": "Relevance" }),
          relevance.toFixed(2),
        ),
      ),
      h("span", { class: "text" }, quoted(match)),
    );
  }
}
