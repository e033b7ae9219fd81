// The context that a model would get, at any budget and in any format, and the utterances that are left out.

import { call } from "../calls.js";
import { inWords } from "../fields.js";
import { field, fill, h, linkButton, select } from "../element.js";
import { cards } from "../messages.js";
import { count, counted, indented, length, named, omission, span, within } from "../words.js";

const PAUSE = 120;
/** @type {[value: string, text: string][]} */
const FORMATS = [
  ["CONTEXT_FORMAT_OPENAI_CHAT", "OpenAI chat"],
  ["CONTEXT_FORMAT_ANTHROPIC_MESSAGES", "Anthropic messages"],
  ["CONTEXT_FORMAT_TEXT", "text"],
];

/** What an utterance shows by itself: how a context renders it, and why it is left out. */
const EVIDENT = ["whole", "instruction", "pinned"];
const EVIDENT_REASONS = ["EVICTED", "FORGOTTEN", "ASIDE"].map((it) => `OMISSION_REASON_${it}`);

export class ContextPanel {
  #timer = 0;
  #asked = 0;
  /** @type {any} */ #built = null;

  /**
   * @param {import("../conversation.js").Conversation} conversation
   * @param {{timeline: import("./timeline.js").Timeline, goTo: (sequence: number) => void}} shown
   */
  constructor(conversation, { timeline, goTo }) {
    this.conversation = conversation;
    this.timeline = timeline;
    this.goTo = goTo;
    const soon = () => this.#soon();
    this.format = select(FORMATS, { onchange: soon });
    this.budget = h("input", { type: "number", min: 1, placeholder: "default", oninput: () => this.#budgetGiven() });
    this.slider = h("input", { type: "range", min: 1, "aria-label": "Budget", oninput: () => this.#slid() });
    this.turns = h("input", { type: "number", min: 0, placeholder: "default", oninput: soon });
    this.masked = h("input", { type: "number", min: 1, placeholder: "none", oninput: soon });
    this.recall = h("input", { type: "text", placeholder: "nothing", oninput: soon });
    this.placement = select(
      [
        ["SUMMARY_PLACEMENT_SYSTEM", "a system message"],
        ["SUMMARY_PLACEMENT_USER_MESSAGE", "a user message"],
      ],
      { onchange: soon },
    );
    this.instructions = h("textarea", { rows: 2, placeholder: "none", oninput: soon });
    this.raw = h("input", { type: "checkbox", onchange: () => this.#draw() });
    this.told = h("div", { class: "context-told", role: "status", "aria-live": "polite" });
    this.messages = h("div", { class: "messages" });
    this.element = h("div", { class: "panel-body" }, this.#form(), this.told, this.messages);
  }

  #form() {
    return h(
      "form",
      { class: "grid", onsubmit: (event) => event.preventDefault() },
      field("Format", this.format),
      field("Token budget", this.budget),
      h("div", { class: "whole" }, this.slider),
      h(
        "details",
        { class: "whole more" },
        h("summary", {}, "More"),
        h(
          "div",
          { class: "grid" },
          field("Maximum turns", this.turns),
          field("Mask tool results after turns", this.masked),
          field("Put the summary in", this.placement),
          field("Recall utterances about", this.recall),
          h("div", { class: "whole" }, field("Extra instructions (not stored)", this.instructions)),
        ),
      ),
    );
  }

  open() {
    this.update();
  }

  close() {
    this.#asked += 1;
    this.#built = null;
    this.timeline.tell(() => null);
  }

  update() {
    void this.#read();
  }

  #soon() {
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => void this.#read(), PAUSE);
  }

  #slid() {
    this.budget.value = this.slider.value;
    this.#soon();
  }

  #budgetGiven() {
    if (this.budget.value) this.slider.value = this.budget.value;
    this.#soon();
  }

  async #read() {
    const number = (this.#asked += 1);
    const optional = (/** @type {HTMLInputElement} */ input) => (input.value === "" ? undefined : Number(input.value));
    const prompt = this.recall.value.trim();
    const request = {
      conversationId: this.conversation.id,
      format: this.format.value,
      tokenBudget: optional(this.budget),
      maxTurns: optional(this.turns),
      maskToolResultsAfterTurns: optional(this.masked),
      summaryPlacement: this.placement.value,
      instructions: this.instructions.value,
      ...(prompt && { recall: { prompt, scope: "REMEMBER_SCOPE_RECIPIENT" } }),
    };
    try {
      const built = await call("ContextService/BuildContext", request);
      if (number !== this.#asked) return;
      this.#built = built;
      this.#range();
      this.#draw();
    } catch (error) {
      if (number !== this.#asked) return;
      this.#refused(/** @type {Error} */ (error));
    }
  }

  /** The slider goes up to the default budget, or to what everything would take. */
  #range() {
    const { tokenCount = 0, tokenBudget } = this.#built;
    const { maxTokens, summary, totalTokenCount = 0 } = this.conversation.capacity;
    const usual = maxTokens && summary?.tokenLimit ? maxTokens + summary.tokenLimit + 64 : 0;
    this.slider.max = String(Math.max(usual, totalTokenCount + 64, tokenCount, Number(this.budget.value)));
    if (!this.budget.value) this.slider.value = String(tokenBudget ?? this.slider.max);
  }

  /** @param {Error} error */
  #refused(error) {
    fill(this.told, h("p", { class: "error" }, error.message));
    fill(this.messages);
    this.timeline.tell(() => null);
  }

  #draw() {
    const { tokenCount = 0, tokenBudget, warnings = [], omitted = [], utterances = [] } = this.#built;
    const share = tokenBudget
      ? h("meter", { min: 0, max: tokenBudget, value: tokenCount, "aria-label": "Budget used" })
      : null;
    fill(
      this.told,
      h(
        "p",
        { class: "sum" },
        h("b", {}, count(tokenCount)),
        tokenBudget ? ` of ${count(tokenBudget)} tokens` : " tokens, no limit",
        ` · ${counted(utterances.length, "utterance")}`,
        share,
      ),
      warnings.map(({ text }) => h("p", { class: "warning" }, inWords(text))),
      omitted.length > 0 &&
        h(
          "ul",
          { class: "omitted" },
          omitted.map((it) => this.#omission(it)),
        ),
    );
    fill(
      this.messages,
      h("label", { class: "check" }, this.raw, " as sent to the model"),
      this.raw.checked ? sent(this.#built) : cards(this.#built, this.goTo),
    );
    this.timeline.tell(fates(this.#built));
  }

  #omission({ reason, sequences = [] }) {
    const places = sequences.slice(0, 12).map((range) => linkButton(span(range), () => this.goTo(Number(range.first))));
    const more = sequences.length > 12 && "…";
    return h(
      "li",
      {},
      h("b", {}, `${counted(length(sequences), "utterance")} left out: ${omission(reason)}`),
      " ",
      places,
      more,
    );
  }
}

function sent({ messagesJson, systemJson, text }) {
  const whole = systemJson ? `{"system": ${systemJson}, "messages": ${messagesJson}}` : messagesJson;
  return h(
    "pre",
    { class: "message", tabindex: 0, role: "region", "aria-label": "The context as sent to the model" },
    text || indented(whole ?? "[]"),
  );
}

/**
 * How a context has each utterance. The text is empty where nobody needs to be told: an utterance of the window that is
 * in the context unchanged, one of the archive that is not in it, and one whose own marks say why.
 * @param {any} built
 * @returns {import("./timeline.js").Fate}
 */
function fates({ utterances = [], omitted = [] }) {
  const rendered = new Map(
    utterances.filter((it) => !it.conversationId).map((it) => [it.sequence, named(it.renderedAs, "RENDERED_AS")]),
  );
  return ({ sequence }) => {
    const as = rendered.get(sequence);
    if (as) return { text: EVIDENT.includes(as) ? "" : `in the context: ${as}`, isIn: true };
    const left = omitted.find((it) => within(it.sequences, Number(sequence)));
    if (!left) return null;
    return { text: EVIDENT_REASONS.includes(left.reason) ? "" : `left out: ${omission(left.reason)}`, isIn: false };
  };
}
