// What else there is to know of a conversation: limits, labels, numbers, compactions, state and shares.

import { call } from "./calls.js";
import { ask, attempt, given, tell } from "./dialogs.js";
import { field, fill, h, linkButton, select } from "./element.js";
import { pairs } from "./utterance.js";
import { at, count, counted, named, span } from "./words.js";

/** @typedef {import("./conversation.js").Conversation} Conversation */

/** @type {[key: string, label: string, unlimited: boolean][]} */
const LIMITS = [
  ["maxUtterances", "Most utterances", true],
  ["keepUtterances", "An eviction keeps", false],
  ["maxTokens", "Most tokens", true],
  ["keepTokens", "An eviction keeps", false],
  ["maxTurns", "Most turns", true],
  ["keepTurns", "An eviction keeps", false],
  ["summaryTokenLimit", "Most tokens of summary", true],
  ["archiveLimit", "Most in the archive", false],
];

export class DetailsPanel {
  #asked = 0;

  /** @param {Conversation} conversation */
  constructor(conversation) {
    this.conversation = conversation;
    this.element = h("div", { class: "panel-body details" });
  }

  open() {
    void this.update();
  }

  close() {}

  async update() {
    const number = (this.#asked += 1);
    const { id: conversationId, about, shares } = this.conversation;
    try {
      const [{ stats }, { compactions = [] }, { values = [] }] = await Promise.all([
        call("ConversationService/GetStats", { conversationId }),
        call("CompactionService/ListCompactions", { conversationId }),
        call("ConversationService/GetState", { conversationId }),
      ]);
      if (number !== this.#asked) return;
      fill(
        this.element,
        this.#identity(about),
        this.#policy(about.policy ?? {}),
        numbers(stats),
        this.#compactions(compactions),
        state(values),
        this.#shares(shares),
      );
    } catch (error) {
      if (number === this.#asked) fill(this.element, h("p", { class: "error" }, /** @type {Error} */ (error).message));
    }
  }

  #identity({
    conversationId,
    recipientId,
    startTime,
    endTime,
    endedReason,
    closingSummary,
    closingModel,
    revision,
    encoding,
    labels = {},
  }) {
    const known = {
      Id: conversationId,
      Recipient: recipientId,
      Started: at(startTime),
      ...(endTime && { Ended: `${at(endTime)}${endedReason ? `: ${endedReason}` : ""}` }),
      Revision: revision,
      "Tokens counted in": encoding,
      ...labels,
    };
    return section(
      "About",
      pairs(known),
      closingSummary &&
        h("p", { class: "text message" }, closingSummary, closingModel && h("span", { class: "mark" }, closingModel)),
    );
  }

  #policy(policy) {
    const shown = LIMITS.filter(([key, , unlimited]) => policy[key] !== undefined || unlimited);
    const limits = h(
      "dl",
      { class: "pairs" },
      shown.flatMap(([key, label]) => [
        h("dt", {}, label),
        h("dd", {}, policy[key] === undefined ? "unlimited" : count(policy[key])),
      ]),
    );
    return section(
      "Limits",
      limits,
      h("button", { type: "button", onclick: () => this.#change(policy) }, "Change limits"),
    );
  }

  #change(policy) {
    const fields = LIMITS.map(([key, label, unlimited]) =>
      field(
        label,
        h("input", {
          name: key,
          type: "number",
          min: 0,
          value: policy[key],
          placeholder: unlimited ? "unlimited" : "default",
        }),
      ),
    );
    ask({
      title: "Limits of this conversation",
      body: [
        h("p", { class: "quiet" }, "A smaller limit evicts at once. A most that is left empty is unlimited."),
        h("div", { class: "grid" }, fields),
      ],
      action: "Change",
      submit: async (form) => {
        const isChanged = (key) => given(form, key) !== String(policy[key] ?? "");
        const changed = LIMITS.filter(([key, , unlimited]) => isChanged(key) && (unlimited || given(form, key) !== ""));
        const values = changed.map(([key]) => [key, Number(given(form, key) || 0)]);
        const request = { policy: Object.fromEntries(values), updateMask: "policy" };
        const { evicted = [] } = await this.conversation.change("ConversationService/UpdateConversation", request);
        tell(evicted.length > 0 ? `${counted(evicted.length, "utterance")} left the window` : "Changed");
      },
    });
  }

  /** @param {any[]} compactions */
  #compactions(compactions) {
    if (compactions.length === 0) return null;
    const undo = () => void attempt(() => this.conversation.change("CompactionService/UndoCompaction", {}));
    const items = compactions.map((it, index) =>
      h(
        "li",
        {},
        `${at(it.time)}: ${counted(it.compactedUtteranceCount, "utterance")} left (${(it.compacted ?? []).map(span).join(", ")}), `,
        `${count(it.tokenCountBefore)} → ${count(it.tokenCountAfter)} tokens`,
        it.undoTime && h("span", { class: "mark" }, "undone"),
        it.undoable && compactions.findIndex((other) => other.undoable) === index && linkButton("Undo", undo),
      ),
    );
    return section("Compactions", h("ul", {}, items));
  }

  /** @param {any[]} shares */
  #shares(shares) {
    const revoke = (/** @type {string} */ shareId) => () =>
      void attempt(() => this.conversation.change("ConversationService/RevokeShare", { shareId }));
    const items = shares.map(({ shareId, expireTime, includeArchive }) =>
      h(
        "li",
        {},
        `${includeArchive ? "window and archive" : "window"}, until ${at(expireTime)} `,
        linkButton("Revoke", revoke(shareId)),
      ),
    );
    return section(
      "Shares",
      items.length > 0 && h("ul", {}, items),
      h("button", { type: "button", onclick: () => this.#share() }, "Share"),
    );
  }

  #share() {
    const days = h("input", { name: "days", type: "number", min: 1, max: 366, value: 7, required: true });
    const scope = select(
      [
        ["", "the window"],
        ["all", "window and archive"],
      ],
      { name: "scope" },
    );
    ask({
      title: "Let somebody read this conversation",
      body: [field("Days", days), field("Shows", scope)],
      action: "Share",
      submit: async (form) => {
        const request = {
          ttl: `${Number(given(form, "days")) * 86_400}s`,
          includeArchive: given(form, "scope") === "all",
        };
        const { token } = await this.conversation.change("ConversationService/ShareConversation", request);
        const shown = h("input", { readonly: true, value: token, "aria-label": "Token" });
        ask({
          title: "The token, shown only now",
          body: [field("Token", shown, "ReadShared accepts it, and so does utterd share --read.")],
          action: "Copy",
          submit: async () => navigator.clipboard?.writeText(token),
        });
      },
    });
  }
}

/**
 * @param {string} title
 * @param {...any} children
 */
function section(title, ...children) {
  return h("section", {}, h("h2", {}, title), ...children);
}

function numbers(stats) {
  const { total, roles = [], tools = [], evictions, compression, forgottenUtteranceCount = 0 } = stats;
  const counts = (it) => `${counted(it.utteranceCount, "utterance")}, ${counted(it.tokenCount, "token")}`;
  const rows = {
    All: `${counts(total)}, ${counted(total?.turnCount, "turn")}`,
    ...Object.fromEntries(roles.map((it) => [named(it.role, "ROLE"), counts(it.count)])),
    "Left the window": counted(evictions?.evictedUtteranceCount, "utterance"),
    ...(forgottenUtteranceCount > 0 && { Forgotten: counted(forgottenUtteranceCount, "utterance") }),
    ...(compression?.ratio && { Summary: `1 token for ${compression.ratio.toFixed(1)}` }),
  };
  const used = tools.map((it) =>
    h(
      "li",
      {},
      h("code", {}, it.name),
      ` ${counted(it.callCount, "call")}`,
      it.unansweredCount > 0 && `, ${count(it.unansweredCount)} without a result`,
    ),
  );
  return section("Numbers", pairs(rows), used.length > 0 && [h("h3", {}, "Tools"), h("ul", {}, used)]);
}

/** @param {any[]} values */
function state(values) {
  if (values.length === 0) return null;
  const shown = values.map(({ name, json, data }) => [name, json ?? `${count(atob(data ?? "").length)} bytes`]);
  return section("State", pairs(Object.fromEntries(shown)));
}
