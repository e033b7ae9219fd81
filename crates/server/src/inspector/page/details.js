// The details of a conversation: limits, labels, numbers, compactions, state and shares.

import { call } from "./calls.js";
import { ask, attempt, given } from "./dialogs.js";
import { field, fill, h, linkButton, select } from "./element.js";
import { changeLimits, limits } from "./limits.js";
import { state, values } from "./state.js";
import { pairs } from "./utterance.js";
import { at, count, counted, named, span } from "./words.js";

/** @typedef {import("./conversation.js").Conversation} Conversation */

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
    const { recipientId } = about;
    const changed = () => void this.update();
    const own = { address: { conversationId }, changed };
    const recipients = { address: { recipientId, scope: "STATE_SCOPE_RECIPIENT" }, changed };
    try {
      const [{ stats }, { compactions = [] }, kept, keptForRecipient] = await Promise.all([
        call("ConversationService/GetStats", { conversationId }),
        call("CompactionService/ListCompactions", { conversationId }),
        values(own.address),
        values(recipients.address),
      ]);
      if (number !== this.#asked) return;
      this.#draw(
        this.#identity(about),
        section(
          "Limits",
          pairs(limits(about.policy ?? {})),
          h("button", { type: "button", onclick: () => changeLimits(this.conversation) }, "Change limits"),
        ),
        numbers(stats),
        this.#compactions(compactions),
        section("State", ...state(own, kept)),
        section(`State of ${recipientId}`, ...state(recipients, keptForRecipient)),
        this.#shares(shares),
      );
    } catch (error) {
      if (number === this.#asked) fill(this.element, h("p", { class: "error" }, /** @type {Error} */ (error).message));
    }
  }

  /** Shows sections anew; the keyboard stays at its button. @param {...any} sections */
  #draw(...sections) {
    const nameOf = (/** @type {Element} */ it) => it.getAttribute("aria-label") ?? it.textContent;
    const at = this.element.contains(document.activeElement) ? document.activeElement : null;
    fill(this.element, ...sections);
    [...this.element.querySelectorAll("button")].find((it) => at && nameOf(it) === nameOf(at))?.focus();
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
      "Token encoding": encoding,
      ...labels,
    };
    return section(
      "About",
      pairs(known),
      closingSummary &&
        h("p", { class: "text message" }, closingSummary, closingModel && h("span", { class: "mark" }, closingModel)),
    );
  }

  /** @param {any[]} compactions */
  #compactions(compactions) {
    if (compactions.length === 0) return null;
    const undo = () => void attempt(() => this.conversation.change("CompactionService/UndoCompaction", {}));
    const items = compactions.map((it, index) =>
      h(
        "li",
        {},
        `${at(it.time)}: ${counted(it.compactedUtteranceCount, "utterance")} left the window (${(it.compacted ?? []).map(span).join(", ")}), `,
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
      title: "Share this conversation",
      body: [
        h("p", { class: "quiet" }, "Whoever has the token can read this conversation until the token expires."),
        field("Expires after days", days),
        field("Includes", scope),
      ],
      action: "Share",
      submit: async (form) => {
        const request = {
          ttl: `${Number(given(form, "days")) * 86_400}s`,
          includeArchive: given(form, "scope") === "all",
        };
        const { token } = await this.conversation.change("ConversationService/ShareConversation", request);
        const shown = h("input", { readonly: true, value: token, "aria-label": "Token" });
        ask({
          title: "Copy the token now",
          body: [
            field(
              "Token",
              shown,
              'The server does not show it again. This command reads the conversation: utterd call ReadShared \'{"token": "TOKEN"}\'.',
            ),
          ],
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
    Total: `${counts(total)}, ${counted(total?.turnCount, "turn")}`,
    ...Object.fromEntries(roles.map((it) => [named(it.role, "ROLE"), counts(it.count)])),
    "Left the window": counted(evictions?.evictedUtteranceCount, "utterance"),
    ...(forgottenUtteranceCount > 0 && { Forgotten: counted(forgottenUtteranceCount, "utterance") }),
    ...(compression?.ratio && { Summary: `1 token for every ${compression.ratio.toFixed(1)} tokens summarised` }),
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
