// Trying what the server makes of a history that a program keeps itself.

import { call } from "./calls.js";
import { ask } from "./dialogs.js";
import { field, fill, h, select } from "./element.js";
import { inWords } from "./fields.js";
import { cards } from "./messages.js";
import { counted } from "./words.js";

/** The most messages of a conversation that the form begins with: the newest. */
const NEWEST = 100;
/** The result is made again this long after a change, in milliseconds. */
const PAUSE = 250;
/** @type {[value: string, text: string][]} */
const FORMATS = [
  ["CONTEXT_FORMAT_OPENAI_CHAT", "OpenAI chat"],
  ["CONTEXT_FORMAT_ANTHROPIC_MESSAGES", "Anthropic messages"],
];

/**
 * Opens a form with the messages of a conversation, to be changed at will, and shows the history that they make.
 * @param {import("./conversation.js").Conversation} conversation
 */
export async function prepare({ id: conversationId }) {
  const format = "CONVERSATION_FORMAT_OPENAI_CHAT";
  const { messages = [] } = await call("ConversationService/ListMessages", { conversationId, format, last: NEWEST });
  const history = messages.map(({ messageJson }) => `  ${messageJson}`).join(",\n");
  open(history && `[\n${history}\n]`);
}

/** @param {string} history */
function open(history) {
  let timer = 0;
  let asked = 0;
  let made = "";
  const soon = () => (clearTimeout(timer), (timer = window.setTimeout(() => void show(), PAUSE)));
  const number = (/** @type {string} */ placeholder, min = 0) =>
    h("input", { type: "number", min, placeholder, oninput: soon });
  const messages = h("textarea", { rows: 8, class: "code", spellcheck: "false", oninput: soon }, history);
  const prompt = h("input", { placeholder: "none", autocomplete: "off", oninput: soon });
  const format = select(FORMATS, { onchange: soon });
  const [most, budget] = [number("20"), number("unlimited", 1)];
  const shown = h("div", { class: "prepared", role: "status", "aria-live": "polite" });

  async function show() {
    const turn = (asked += 1);
    const request = {
      messagesJson: messages.value.trim(),
      prompt: prompt.value,
      format: format.value,
      maxMessages: most.value === "" ? undefined : Number(most.value),
      tokenBudget: budget.value === "" ? undefined : Number(budget.value),
    };
    try {
      const prepared = await call("ContextService/PrepareHistory", request);
      if (turn !== asked) return;
      made = prepared.messagesJson ?? "[]";
      fill(shown, ...result(prepared));
    } catch (error) {
      if (turn === asked) fill(shown, h("p", { class: "error" }, /** @type {Error} */ (error).message));
    }
  }

  const dialog = ask({
    title: "Prepare a history",
    body: [
      h(
        "p",
        { class: "quiet" },
        "For programs that store messages themselves: the server makes the messages fit for a model. It stores nothing.",
      ),
      field("Messages, as a JSON array", messages),
      field("New user message", prompt),
      h(
        "div",
        { class: "grid" },
        field("Format", format),
        field("Maximum messages", most),
        field("Token budget", budget),
      ),
      shown,
    ],
    action: "Copy the result",
    submit: async () => navigator.clipboard?.writeText(made),
  });
  dialog.classList.add("large");
  void show();
}

/** The history that was made, and what was left out of it. @param {any} prepared */
function result({ messagesJson, system, messageCount, tokenCount, dropped = [], warnings = [] }) {
  const systemJson = system && JSON.stringify([{ text: system }]);
  return [
    h("p", {}, h("b", {}, counted(messageCount, "message")), `, ${counted(tokenCount, "token")}`),
    warnings.map((/** @type {any} */ it) => h("p", { class: "warning" }, inWords(it.text))),
    dropped.length > 0 &&
      h(
        "details",
        { class: "more" },
        h("summary", {}, `${counted(dropped.length, "message or part", "messages or parts")} left out`),
        h(
          "ul",
          {},
          dropped.map((/** @type {any} */ it) => h("li", {}, inWords(it.text))),
        ),
      ),
    cards({ messagesJson, systemJson }, () => {}),
  ];
}
