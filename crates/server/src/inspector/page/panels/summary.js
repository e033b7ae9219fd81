// The summary: its segments, and the utterances that each of them covers.

import { call } from "../calls.js";
import { attempt } from "../dialogs.js";
import { field, fill, h, linkButton } from "../element.js";
import { inWords } from "../fields.js";
import { at, count, counted, length, methodName, span } from "../words.js";

export class SummaryPanel {
  /**
   * @param {import("../conversation.js").Conversation} conversation
   * @param {{timeline: import("./timeline.js").Timeline, goTo: (sequence: number) => void}} shown
   */
  constructor(conversation, { timeline, goTo }) {
    this.conversation = conversation;
    this.timeline = timeline;
    this.goTo = goTo;
    this.segments = h("div", { class: "segments" });
    this.made = h("div", { role: "status", "aria-live": "polite" });
    this.element = h("div", { class: "panel-body" }, this.segments, this.#form(), this.made);
  }

  open() {
    this.update();
  }

  close() {
    this.timeline.light([]);
  }

  update() {
    const { segments, capacity } = this.conversation;
    const { tokenCount = 0, tokenLimit, coveredUtteranceCount = 0 } = capacity.summary ?? {};
    const limit = tokenLimit ? ` of ${count(tokenLimit)}` : "";
    const sum = h(
      "p",
      { class: "sum" },
      h("b", {}, count(tokenCount)),
      `${limit} tokens for ${counted(coveredUtteranceCount, "utterance")}`,
    );
    const none = h("p", { class: "quiet" }, "Nothing has left the window yet.");
    fill(this.segments, sum, segments.length > 0 ? segments.map((it) => this.#segment(it)) : none);
  }

  #segment({ segmentNumber, level = 0, covers = [], text = "", tokenCount, method, state, model, imported }) {
    const light = () => this.timeline.light(covers);
    const dark = (event) => event.currentTarget.matches(":hover, :focus-within") || this.timeline.light([]);
    const marks = [
      methodName(method),
      level > 0 && `folded, level ${level}`,
      state === "SEGMENT_STATE_PROVISIONAL" && "waiting for a model",
      model,
    ].filter(Boolean);
    const places = covers.map((range) => linkButton(span(range), () => this.goTo(Number(range.first))));
    return h(
      "section",
      { class: "segment-card", onmouseenter: light, onmouseleave: dark, onfocusin: light, onfocusout: dark },
      h(
        "h2",
        {},
        `Segment ${segmentNumber}`,
        marks.map((mark) => h("span", { class: "mark" }, mark)),
      ),
      h(
        "p",
        { class: "quiet" },
        imported
          ? `imported: ${at(imported.startTime)} to ${at(imported.endTime)}`
          : ["covers ", places, ` (${count(length(covers))})`],
        ` · ${counted(tokenCount, "token")}`,
      ),
      h(
        "ul",
        {},
        text
          .trim()
          .split("\n")
          .map((line) => h("li", {}, line)),
      ),
    );
  }

  #form() {
    const limit = h("input", { type: "number", min: 1, placeholder: "default" });
    const focus = h("input", { type: "text", placeholder: "words, separated by commas" });
    const summarise = async () => {
      const request = {
        conversationId: this.conversation.id,
        tokenLimit: limit.value === "" ? undefined : Number(limit.value),
        focusAreas: focus.value
          .split(",")
          .map((it) => it.trim())
          .filter(Boolean),
      };
      const { text, tokenCount, sourceTokenCount, warnings = [] } = await call("MemoryService/Summarize", request);
      fill(
        this.made,
        warnings.map((it) => h("p", { class: "warning" }, inWords(it.text))),
        text && h("p", { class: "quiet" }, `${counted(tokenCount, "token")}, from ${count(sourceTokenCount)}`),
        text && h("p", { class: "text message" }, text.trim()),
      );
    };
    const submit = (event) => {
      event.preventDefault();
      void attempt(summarise);
    };
    return h(
      "form",
      { class: "grid", onsubmit: submit },
      h("h2", { class: "whole" }, "Summarise the whole conversation"),
      field("Maximum tokens", limit),
      field("Focus on", focus),
      h("button", { class: "whole" }, "Summarise"),
    );
  }
}
