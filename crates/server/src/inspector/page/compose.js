// Adding a message to a conversation: a text, a tool call, or the result of one.

import { attempt } from "./dialogs.js";
import { fill, h, icon, select, set } from "./element.js";

/** @type {[value: string, text: string][]} */
const KINDS = [
  ["ROLE_USER", "user"],
  ["ROLE_ASSISTANT", "assistant"],
  ["ROLE_SYSTEM", "system"],
  ["call", "tool call"],
  ["ROLE_TOOL", "tool result"],
];
/** What the text is, where it is not a message. @type {Record<string, string>} */
const TEXTS = { call: "Arguments as JSON", ROLE_TOOL: "Result" };

export class Compose {
  /**
   * @param {import("./conversation.js").Conversation} conversation
   * @param {() => void} added called when a message was added
   */
  constructor(conversation, added) {
    this.conversation = conversation;
    this.added = added;
    this.kind = select(KINDS, { "aria-label": "Role", onchange: () => this.update() });
    this.tool = h("input", { "aria-label": "Tool", placeholder: "Tool", autocomplete: "off" });
    this.answers = select([], { "aria-label": "Answers" });
    this.text = h("textarea", { rows: 1, onkeydown: (/** @type {KeyboardEvent} */ event) => this.#key(event) });
    this.send = h("button", { class: "primary", title: "Add (Ctrl+Enter)" }, icon("send"), h("span", {}, "Add"));
    const submit = (/** @type {Event} */ event) => (event.preventDefault(), void attempt(() => this.#add()));
    this.element = h(
      "form",
      { class: "compose", onsubmit: submit },
      this.kind,
      this.tool,
      this.answers,
      this.text,
      this.send,
    );
  }

  /** Shows the fields that the message has, and the calls that wait for a result. */
  update() {
    const kind = this.kind.value;
    const label = TEXTS[kind] ?? "Message";
    set(this.element, "hidden", this.conversation.isEnded);
    set(this.tool, "hidden", kind !== "call");
    set(this.tool, "required", kind === "call");
    set(this.answers, "hidden", kind !== "ROLE_TOOL");
    set(this.text, "aria-label", label);
    set(this.text, "placeholder", label);
    const chosen = this.answers.value;
    const open = openCalls(this.conversation.window);
    fill(
      this.answers,
      open.map(([id, name]) => h("option", { value: id, selected: id === chosen }, name)),
    );
    if (open.length === 0) fill(this.answers, h("option", { value: "" }, "no open call"));
    this.send.disabled = kind === "ROLE_TOOL" && open.length === 0;
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.element.requestSubmit();
  }

  async #add() {
    const utterance = this.#utterance();
    if (!utterance) return;
    await this.conversation.change("MemoryService/Memorize", { utterances: [utterance] });
    this.text.value = "";
    this.added();
  }

  /** The message that is written here; none if it is empty. */
  #utterance() {
    const [kind, content] = [this.kind.value, this.text.value];
    if (kind === "call") {
      const call = { id: `call_${this.conversation.last + 1}`, name: this.tool.value.trim(), argumentsJson: content };
      return { role: "ROLE_ASSISTANT", toolCalls: [call] };
    }
    if (kind === "ROLE_TOOL") return { role: kind, toolCallId: this.answers.value, content };
    return content.trim() ? { role: kind, content } : null;
  }
}

/**
 * The calls of the newest exchange that have no result.
 * @param {any[]} utterances
 * @returns {[id: string, name: string][]}
 */
function openCalls(utterances) {
  /** @type {Map<string, string>} */
  const open = new Map();
  for (const { role, toolCalls = [], toolCallId, state } of utterances) {
    if (state === "UTTERANCE_STATE_FORGOTTEN") continue;
    if (role === "ROLE_USER") open.clear();
    for (const { id, name } of toolCalls) open.set(id, `${name} (${id})`);
    if (toolCallId) open.delete(toolCallId);
  }
  return [...open];
}
