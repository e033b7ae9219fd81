// One conversation on the page: its head, its utterances, and the panels beside it.

import * as actions from "./actions.js";
import { Compose } from "./compose.js";
import { ContextPanel } from "./panels/context.js";
import { DetailsPanel } from "./details.js";
import { attempt } from "./dialogs.js";
import { dot, fill, h, icon, iconButton, linkButton } from "./element.js";
import { EventsPanel } from "./panels/events.js";
import { forget } from "./forget.js";
import { phone } from "./narrow.js";
import { ForksPanel } from "./panels/forks.js";
import { RecallPanel } from "./panels/recall.js";
import { prepare } from "./prepare.js";
import { route, turnTo } from "./route.js";
import { SummaryPanel } from "./panels/summary.js";
import { Tabs } from "./tabs.js";
import { Timeline } from "./panels/timeline.js";
import { WindowStrip } from "./window.js";
import { at, counted, statusName } from "./words.js";

/** @typedef {import("./conversation.js").Conversation} Conversation */

export class View {
  /**
   * @param {Conversation} conversation that has been read
   * @param {{showRecipient: (recipient: string) => void}} page
   */
  constructor(conversation, { showRecipient }) {
    this.conversation = conversation;
    this.timeline = new Timeline(conversation, this.#actions());
    const goTo = (sequence) => void this.goTo(sequence);
    this.strip = new WindowStrip(conversation, goTo);
    this.heading = h("h1", { id: "title", tabindex: -1 });
    this.about = h("p", { class: "about" });
    this.recipient = linkButton("", () => showRecipient(conversation.about.recipientId));
    this.advice = h("p", { class: "advice", role: "status" });
    this.compose = new Compose(conversation, () => this.timeline.follow());
    const shown = { timeline: this.timeline, goTo, fork: (it) => actions.fork(conversation, it) };
    this.tabs = new Tabs(
      [
        ["context", "Context", new ContextPanel(conversation, shown)],
        ["summary", "Summary", new SummaryPanel(conversation, shown)],
        ["search", "Search", new RecallPanel(conversation, shown)],
        ["forks", "Forks", new ForksPanel(conversation, shown)],
        ["events", "Events", new EventsPanel(conversation)],
        ["details", "Details", new DetailsPanel(conversation)],
      ],
      turnTo,
    );
    const back = h("a", { href: "#/", class: "back icon-button", "aria-label": "All conversations" }, icon("back"));
    this.main = h(
      "main",
      { id: "main", "aria-labelledby": "title" },
      h(
        "header",
        { class: "head" },
        h("div", { class: "head-row" }, back, this.heading, this.#menu()),
        this.about,
        this.strip.element,
        this.advice,
      ),
      this.timeline.element,
      this.compose.element,
    );
    this.panel = h("aside", { class: "panel", "aria-label": "About the conversation" }, this.tabs.element);
    this.update("all");
  }

  /** Shows it, once it is on the page. */
  open() {
    phone.addEventListener("change", this.#turn);
    if (!this.follow()) this.timeline.toEnd();
  }

  close() {
    phone.removeEventListener("change", this.#turn);
    this.tabs.close();
    this.timeline.close();
  }

  /** Shows the panel and goes to the place that the address names; returns whether it names a place. */
  follow() {
    const { at: sequence } = route();
    this.#turn();
    if (sequence > 0) void this.timeline.goTo(sequence);
    return sequence > 0;
  }

  #turn = () => this.tabs.turn(route().tab);

  /** Goes to an utterance from a panel, which covers the conversation on a phone. @param {number} sequence */
  goTo(sequence) {
    if (phone.matches) this.tabs.choose("messages");
    return this.timeline.goTo(sequence);
  }

  /** @param {import("./conversation.js").Range[] | "all"} stale */
  update(stale) {
    const { about, capacity } = this.conversation;
    const status = statusName(about.status);
    fill(this.heading, about.title || about.conversationId);
    document.title = `${about.title || about.conversationId} · utterd`;
    fill(this.recipient, about.recipientId);
    fill(
      this.about,
      dot(status),
      ` ${status} · `,
      this.recipient,
      h("span", {}, ` · ${about.conversationId} · started ${at(about.startTime)} · revision ${about.revision}`),
    );
    fill(this.advice, ...this.#advised(capacity.compactionAdvice));
    this.compose.update();
    this.strip.update();
    this.timeline.update(stale);
    this.tabs.update();
  }

  #advised(advice) {
    if (!advice) return [];
    const method = "CompactionService/AnswerCompactionPrompt";
    const answer = (given) => () =>
      void attempt(() => this.conversation.change(method, { answer: `COMPACTION_ANSWER_${given}` }));
    return [
      `The window has ${counted(advice.utteranceCount, "utterance")}. `,
      h("button", { type: "button", onclick: () => actions.compact(this.conversation) }, "Compact…"),
      h("button", { type: "button", onclick: answer("NOT_NOW") }, "Not now"),
    ];
  }

  /** @returns {import("./utterance.js").Actions} */
  #actions() {
    const { conversation } = this;
    return {
      pin: (it) => actions.pin(conversation, it),
      edit: (it) => actions.edit(conversation, it),
      fork: (it) => actions.fork(conversation, Number(it.sequence)),
      restore: (it) => actions.restore(conversation, it),
      forget: (it) => this.#forget(`sequence:${it.sequence}`),
    };
  }

  /** @param {string} [instructions] */
  #forget(instructions) {
    forget(this.conversation, {
      instructions,
      light: (ranges) => this.timeline.light(ranges),
      goTo: (sequence) => void this.timeline.goTo(sequence, { isFocused: false }),
    });
  }

  #menu() {
    const { conversation } = this;
    /** @type {[label: string, act: () => void][]} */
    const items = [
      ["Change the title…", () => actions.rename(conversation)],
      ["Compact…", () => actions.compact(conversation)],
      ["Fork…", () => actions.fork(conversation)],
      ["Prepare a history…", () => void attempt(() => prepare(conversation))],
      ["Export…", () => actions.download(conversation)],
      ["End…", () => actions.end(conversation)],
      ["Delete…", () => actions.remove(conversation)],
      ["Delete the recipient…", () => actions.removeRecipient(conversation)],
    ];
    const menu = h(
      "div",
      { id: "menu", popover: "auto", class: "menu" },
      items.map(([label, act]) => h("button", { type: "button", onclick: () => (menu.hidePopover(), act()) }, label)),
    );
    const below = () => {
      const { bottom, right } = more.getBoundingClientRect();
      menu.style.insetBlockStart = `${bottom + 4}px`;
      menu.style.insetInlineEnd = `${document.documentElement.clientWidth - right}px`;
    };
    const more = iconButton("more", "More actions", below, { popovertarget: "menu" });
    const forgetting = h("button", { type: "button", onclick: () => this.#forget() }, icon("forget"), " Forget…");
    return h("div", { class: "head-actions" }, forgetting, more, menu);
  }
}
