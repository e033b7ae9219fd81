// Remember: what of a conversation, or of all of its recipient's, is about a prompt.

import { call } from "../calls.js";
import { field, fill, h, select } from "../element.js";
import { link } from "../route.js";
import { at, counted, roleName } from "../words.js";

const PAUSE = 200;
const PAGE = 20;
/** @type {[value: string, text: string][]} */
const SCOPES = [
  ["REMEMBER_SCOPE_CONVERSATION", "this conversation"],
  ["REMEMBER_SCOPE_WINDOW", "its window"],
  ["REMEMBER_SCOPE_RECIPIENT", "all of this recipient"],
];
/** @type {[value: string, text: string][]} */
const ROLES = [
  ["", "anybody"],
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
    this.prompt = h("input", { type: "search", placeholder: "What to remember", autocomplete: "off", oninput: soon });
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
        h("div", { class: "whole" }, field("Remember", this.prompt)),
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
      fill(this.told, "Words in any inflection are found, the most relevant first.");
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
          ? "Nothing is about that."
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

  #match({ utterance, conversationId, relevance = 0, score = 0, matchedRanges = [] }) {
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
      h("span", { class: "text" }, utterance.content ? excerpt(utterance.content, matchedRanges) : calls(utterance)),
    );
  }
}

/** The calls of an utterance without a text. @param {any} utterance */
const calls = ({ toolCalls = [] }) =>
  toolCalls.map((made) => h("code", {}, `${made.name}(${made.argumentsJson ?? ""})`));

/** Characters of an excerpt, and before its first match. */
const [EXCERPT, LEAD] = [320, 80];

/**
 * A part of a text with its matches marked. The ranges count code points.
 * @param {string} content
 * @param {{start?: number, end?: number}[]} ranges
 */
function excerpt(content, ranges) {
  const points = [...content];
  const from = Math.max((ranges[0]?.start ?? 0) - LEAD, 0);
  const to = Math.min(from + EXCERPT, points.length);
  const shown = [];
  let place = from;
  for (const { start = 0, end = 0 } of ranges) {
    if (start >= to) break;
    shown.push(points.slice(place, start).join(""), h("mark", {}, points.slice(start, Math.min(end, to)).join("")));
    place = Math.min(end, to);
  }
  return [from > 0 && "…", ...shown, points.slice(place, to).join(""), to < points.length && "…"];
}
