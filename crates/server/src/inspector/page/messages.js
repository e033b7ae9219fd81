// The messages for a model as cards, the newest last.

import { h, linkButton } from "./element.js";
import { text } from "./utterance.js";
import { count, named } from "./words.js";

/** Cards that are shown at first, and with each step before. */
const STEP = 100;
/** Characters of a text that are shown at first. */
const SHORT = 800;

/**
 * The messages for a model; of many, the newest, and those before on request.
 * @param {any} built the answer of BuildContext, or of another call with messages
 * @param {(sequence: number) => void} goTo
 * @returns {Node}
 */
export function cards(built, goTo) {
  const { messagesJson, systemJson, stablePrefixMessages = 0, utterances = [] } = built;
  if (built.text) return h("pre", { class: "message" }, built.text);
  const system = (systemJson ? JSON.parse(systemJson) : []).map((block) => ({ role: "system", content: block.text }));
  const messages = messagesJson ? JSON.parse(messagesJson) : [];
  if (system.length + messages.length === 0) return h("p", { class: "quiet" }, "No messages.");
  const sources = Map.groupBy(utterances, (it) => it.messageIndex);
  const line = () => h("p", { class: "boundary" }, h("span", {}, "↑ unchanged in the next call, for a prompt cache ↑"));
  const made = (from, to) =>
    messages.slice(from, to).flatMap((message, place) => {
      const index = from + place;
      const shown = card(message, sources.get(index) ?? [], goTo);
      return index + 1 === stablePrefixMessages ? [shown, line()] : [shown];
    });
  const before = h("button", { type: "button", class: "wide", onclick: () => show() });
  let first = messages.length;
  const show = () => {
    const from = Math.max(first - STEP, 0);
    before.after(...made(from, first));
    first = from;
    before.textContent = `Show ${count(Math.min(STEP, first))} earlier messages`;
    before.hidden = first === 0;
  };
  const list = h(
    "div",
    { class: "messages" },
    system.map((message) => card(message, [], goTo)),
    before,
  );
  show();
  return list;
}

/**
 * @param {any} message
 * @param {any[]} from
 * @param {(sequence: number) => void} goTo
 */
function card({ role, content, tool_calls: calls = [], name }, from, goTo) {
  const how = [...new Set(from.map(({ renderedAs }) => named(renderedAs, "RENDERED_AS")))].filter(
    (it) => it !== "whole",
  );
  const places = from.map(({ sequence }) => linkButton(`#${sequence}`, () => goTo(Number(sequence))));
  return h(
    "section",
    { class: `message ${role}` },
    h(
      "h2",
      {},
      name ? `${role} · ${name}` : role,
      how.length > 0 && h("span", { class: "mark" }, how.join(", ")),
      h("span", { class: "places" }, places),
    ),
    parts(content).map((part) => text(part, SHORT)),
    calls.map((made) =>
      h("p", { class: "tool-call" }, h("code", {}, h("b", {}, made.function?.name), `(${made.function?.arguments})`)),
    ),
  );
}

/** The texts of a message's content. @param {any} content @returns {string[]} */
function parts(content) {
  if (content === null || content === undefined) return [];
  if (typeof content === "string") return [content];
  return content.map((part) => {
    if (part.type === "text") return part.text;
    if (part.type === "tool_use") return `→ ${part.name}(${JSON.stringify(part.input)})`;
    if (part.type === "tool_result") return `← ${parts(part.content).join("\n")}`;
    return JSON.stringify(part);
  });
}
