// One utterance, as it is shown in the conversation.

import { h, icon, iconButton, linkButton, set } from "./element.js";
import { atHour, count, counted, exactly, indented, named, roleName } from "./words.js";

/** Characters of a text that are shown at first. */
const SHORT = 3_000;
/** Lines of a tool's result that are shown at first. */
const RESULT_LINES = 12;

/**
 * @typedef {object} Actions The actions on an utterance.
 * @property {(utterance: any) => void} pin
 * @property {(utterance: any) => void} edit
 * @property {(utterance: any) => void} fork
 * @property {(utterance: any) => void} forget
 * @property {(utterance: any) => void} restore
 */

/**
 * @typedef {object} Around The surroundings of an utterance.
 * @property {number} size how many there are
 * @property {number} place its place among them, from 1
 * @property {any} [segment] the segment of the summary that covers it
 * @property {string} [tool] the tool whose result it is
 */

/**
 * Shows an utterance.
 * @param {any} utterance
 * @param {Around} around
 * @param {Actions} actions
 */
export function article(utterance, around, actions) {
  const state = named(utterance.state, "UTTERANCE_STATE");
  const role = roleName(utterance.role);
  const id = `u${utterance.sequence}`;
  const heading = h("header", { class: "said-by" }, ...headingOf(utterance, around, id, role, state));
  const made = h(
    "article",
    {
      id,
      class: `utterance ${role} ${state}`,
      tabindex: -1,
      "aria-labelledby": `${id}-name`,
      "aria-posinset": around.place,
      "aria-setsize": around.size,
      "data-sequence": utterance.sequence,
      "data-in": utterance.position === undefined ? "archive" : "window",
    },
    heading,
    body(utterance, role, around),
    toolbar(utterance, actions),
  );
  if (utterance.pinned) made.dataset.pinned = "";
  return made;
}

/**
 * @param {any} utterance
 * @param {Around} around
 * @param {string} id
 * @param {string} role
 * @param {string} state
 */
function headingOf(utterance, { segment, tool }, id, role, state) {
  const { sequence, name, createTime, tokenCount, turnNumber, pinned, late, aside, editTime, awaitsAnswer } = utterance;
  const who = role === "tool" ? `result of ${name || tool || "a tool"}` : name ? `${role} · ${name}` : role;
  const marks = [
    pinned && "pinned",
    state === "forgotten" && "forgotten",
    late && "late result",
    aside && "result without a call",
    editTime && "edited",
    awaitsAnswer && "awaits an answer",
  ].filter(Boolean);
  return [
    h("h2", { id: `${id}-name` }, h("span", { class: "role" }, who), h("span", { class: "sequence" }, ` #${sequence}`)),
    ...marks.map((mark) => h("span", { class: "mark" }, mark === "pinned" && icon("pin"), mark)),
    segment &&
      h(
        "span",
        { class: "mark segment", title: `Covered by segment ${segment.segmentNumber} of the summary` },
        `S${segment.segmentNumber}`,
      ),
    h("span", { class: "context-mark" }),
    h("span", { class: "meta" }, role === "user" && `turn ${count(turnNumber)} · `, counted(tokenCount, "token")),
    h("time", { datetime: createTime, title: exactly(createTime) }, atHour(createTime)),
  ];
}

/**
 * @param {any} utterance
 * @param {string} role
 * @param {Around} around
 */
function body(utterance, role, around) {
  const { content = "", toolCalls = [], metadata = {}, originalContent, extrasJson } = utterance;
  return h(
    "div",
    { class: "body" },
    content && (role === "tool" ? result(content) : text(content)),
    toolCalls.map((made) =>
      h(
        "div",
        { class: "tool-call" },
        icon("tool"),
        h("code", {}, h("b", {}, made.name), folded(made.argumentsJson ?? "")),
      ),
    ),
    !content && toolCalls.length === 0 && h("p", { class: "quiet" }, around.tool ? "(an empty result)" : "(no text)"),
    originalContent !== undefined && more("Before the edit", h("p", { class: "text" }, originalContent)),
    Object.keys(metadata).length > 0 && more("Metadata", pairs(metadata)),
    extrasJson && more("Provider fields", h("pre", {}, indented(extrasJson))),
  );
}

/**
 * A text, shortened at first if it is long.
 * @param {string} content
 * @param {number} [most] the characters that are shown at first
 */
export function text(content, most = SHORT) {
  if (content.length <= most) return h("p", { class: "text" }, content);
  const paragraph = h("p", { class: "text" }, `${content.slice(0, most)}…`);
  const open = () => {
    paragraph.textContent = content;
    button.remove();
  };
  const button = linkButton(`Show all ${count(content.length)} characters`, open);
  return [paragraph, button];
}

/** A tool's result: its first lines, and the rest on request. @param {string} content */
function result(content) {
  const whole = indented(content);
  const lines = whole.split("\n");
  const short = lines.slice(0, RESULT_LINES).join("\n").slice(0, SHORT);
  const shown = h("pre", { class: "result", tabindex: -1 }, short);
  if (short.length === whole.length) return shown;
  const open = () => {
    shown.textContent = whole;
    button.remove();
  };
  const button = linkButton(`Show all ${counted(lines.length, "line")}`, open);
  return [shown, button];
}

/** The arguments of a call, on one line if they are short. @param {string} json */
function folded(json) {
  return json.length <= 160 ? `(${json})` : h("span", { class: "arguments" }, indented(json));
}

/**
 * @param {string} label
 * @param {Node} content
 */
function more(label, content) {
  return h("details", { class: "more" }, h("summary", {}, label), content);
}

/** @param {Record<string, string>} entries */
export function pairs(entries) {
  return h(
    "dl",
    { class: "pairs" },
    Object.entries(entries).flatMap(([key, value]) => [h("dt", {}, key), h("dd", {}, value)]),
  );
}

/**
 * @param {any} utterance
 * @param {Actions} actions
 */
function toolbar(utterance, actions) {
  const { sequence, pinned, state } = utterance;
  const isForgotten = state === "UTTERANCE_STATE_FORGOTTEN";
  const button = (name, label, /** @type {(it: any) => void} */ act) =>
    iconButton(name, `${label} #${sequence}`, () => act(utterance), { tabindex: -1 });
  return h(
    "div",
    { class: "toolbar", role: "group", "aria-label": `Actions on #${sequence}` },
    isForgotten && button("restore", "Restore", actions.restore),
    !isForgotten && button("pin", pinned ? "Unpin" : "Pin", actions.pin),
    !isForgotten && button("edit", "Edit", actions.edit),
    button("fork", "Fork after", actions.fork),
    button("copy", "Copy the text of", (it) => navigator.clipboard?.writeText(it.content ?? "")),
    !isForgotten && button("forget", "Forget", actions.forget),
  );
}

/**
 * Says on an utterance how a context has it; `null` takes that away.
 * @param {HTMLElement} shown
 * @param {{text: string, isIn: boolean} | null} fate
 */
export function mark(shown, fate) {
  const place = shown.querySelector(".context-mark");
  if (place) place.textContent = fate?.text ?? "";
  set(shown, "data-context", fate && (fate.isIn ? "in" : "out"));
}
