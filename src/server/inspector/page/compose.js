// Saying something in a conversation.

import { attempt } from "./dialogs.js";
import { h, icon, select, set } from "./element.js";

/** @type {[value: string, text: string][]} */
const ROLES = [
  ["ROLE_USER", "user"],
  ["ROLE_ASSISTANT", "assistant"],
  ["ROLE_SYSTEM", "system"],
];

/**
 * @param {import("./conversation.js").Conversation} conversation
 * @param {() => void} said called when something was said
 */
export function compose(conversation, said) {
  const role = select(ROLES, { "aria-label": "Role" });
  const text = h("textarea", { rows: 1, placeholder: "Say something", "aria-label": "What is said", required: true });
  const send = h(
    "button",
    { class: "primary", title: "Memorize (Ctrl+Enter)" },
    icon("send"),
    h("span", {}, "Memorize"),
  );
  const memorize = async () => {
    if (!text.value.trim()) return;
    const utterances = [{ role: role.value, content: text.value }];
    await conversation.change("MemoryService/Memorize", { utterances });
    text.value = "";
    said();
  };
  const form = h(
    "form",
    {
      class: "compose",
      onsubmit: (event) => {
        event.preventDefault();
        void attempt(memorize);
      },
    },
    role,
    text,
    send,
  );
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  set(form, "hidden", conversation.isEnded);
  return form;
}
