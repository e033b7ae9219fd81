// The changes that a person can make to a conversation.

import { call, stream } from "./calls.js";
import { ask, attempt, given, tell } from "./dialogs.js";
import { field, h, select } from "./element.js";
import { link } from "./route.js";
import { count, counted } from "./words.js";

/** @typedef {import("./conversation.js").Conversation} Conversation */

/** Bytes of one message of an import. */
const CHUNK = 1 << 20;

/** @type {[value: string, text: string][]} */
const PRESETS = [
  ["POLICY_PRESET_UNSPECIFIED", "the server's default"],
  ["POLICY_PRESET_ROLLING", "rolling: 20 utterances, 8,000 tokens"],
  ["POLICY_PRESET_TURNS", "turns: 10 turns, 8,000 tokens"],
  ["POLICY_PRESET_SESSION", "session: no limits"],
];
/** @type {[value: string, text: string][]} */
const FORMATS = [
  ["CONVERSATION_FORMAT_OPENAI_CHAT", "OpenAI chat"],
  ["CONVERSATION_FORMAT_OPENAI_RESPONSES", "OpenAI responses"],
  ["CONVERSATION_FORMAT_ANTHROPIC_MESSAGES", "Anthropic messages"],
  ["CONVERSATION_FORMAT_PERSISTED_CONVERSATIONS", "persisted: with times, summaries and state"],
];

/** Asks for a new conversation. */
export function create() {
  ask({
    title: "New conversation",
    body: [
      field("Recipient", h("input", { name: "recipient", placeholder: "default" })),
      field("Title", h("input", { name: "title", placeholder: "none" })),
      field("Id", h("input", { name: "id", placeholder: "chosen by the server" })),
      field("Limits", select(PRESETS, { name: "preset" })),
    ],
    action: "Create",
    submit: async (form) => {
      const { conversation } = await call("ConversationService/CreateConversation", {
        conversationId: given(form, "id"),
        recipientId: given(form, "recipient"),
        title: given(form, "title"),
        policy: { preset: given(form, "preset") },
      });
      location.hash = link(conversation.conversationId, { tab: "" });
    },
  });
}

/** Asks for a file with conversations. */
export function upload() {
  const file = h("input", { name: "file", type: "file", required: true, accept: ".json,.jsonl" });
  ask({
    title: "Import conversations",
    body: [
      field(
        "File",
        file,
        "Messages in the format of OpenAI or Anthropic, or an export from ChatGPT, Claude, Claude Code, Codex, pi or utterd. At most 16 MiB.",
      ),
      field("Recipient", h("input", { name: "recipient", placeholder: "default" })),
    ],
    action: "Import",
    submit: async (form) => {
      const content = new Uint8Array(await /** @type {File} */ (form.get("file")).arrayBuffer());
      /** @type {object[]} */
      const requests = [{ header: { recipientId: given(form, "recipient") } }];
      for (let start = 0; start < content.length; start += CHUNK) {
        requests.push({ chunk: base64(content.subarray(start, start + CHUNK)) });
      }
      for await (const { conversations = [], warnings = [] } of stream(
        "ConversationService/ImportConversation",
        requests,
      )) {
        const sum = conversations.reduce((all, it) => all + (it.utteranceCount ?? 0), 0);
        tell(
          `Imported ${counted(sum, "utterance")} in ${counted(conversations.length, "conversation")}${warnings.length > 0 ? `, with ${counted(warnings.length, "warning")}` : ""}`,
        );
        if (conversations[0]) location.hash = link(conversations[0].conversationId, { tab: "" });
      }
    },
  });
}

/** @param {Uint8Array} bytes */
function base64(bytes) {
  let text = "";
  for (let start = 0; start < bytes.length; start += 0x8000)
    text += String.fromCharCode(...bytes.subarray(start, start + 0x8000));
  return btoa(text);
}

/** @param {Conversation} conversation */
export function download(conversation) {
  ask({
    title: "Export",
    body: [field("Format", select(FORMATS, { name: "format" }))],
    action: "Export",
    submit: async (form) => {
      const parts = [];
      const request = { conversationId: conversation.id, format: given(form, "format") };
      for await (const { chunk } of stream("ConversationService/ExportConversation", [request])) {
        if (chunk) parts.push(Uint8Array.from(atob(chunk), (letter) => letter.charCodeAt(0)));
      }
      const url = URL.createObjectURL(new Blob(parts, { type: "application/json" }));
      h("a", { href: url, download: `${conversation.id}.json` }).click();
      setTimeout(() => URL.revokeObjectURL(url), 10_000);
    },
  });
}

/** @param {Conversation} conversation */
export function rename(conversation) {
  ask({
    title: "Title",
    body: [field("Title", h("input", { name: "title", value: conversation.about.title ?? "" }))],
    action: "Save",
    submit: (form) =>
      conversation.change("ConversationService/UpdateConversation", {
        title: given(form, "title"),
        updateMask: "title",
      }),
  });
}

/**
 * Asks for a fork, behind `sequence` or of everything.
 * @param {Conversation} conversation
 * @param {number} [sequence]
 */
export function fork(conversation, sequence) {
  ask({
    title: sequence ? `Fork after #${sequence}` : "Fork",
    body: [
      h("p", { class: "quiet" }, "The fork shares the utterances up to this one. Nothing is copied."),
      field(
        "Last shared utterance",
        h("input", { name: "at", type: "number", min: 1, value: sequence, placeholder: "the newest" }),
      ),
      field("Title", h("input", { name: "title", value: conversation.about.title ?? "" })),
    ],
    action: "Fork",
    submit: async (form) => {
      const answer = await conversation.change("ConversationService/ForkConversation", {
        atSequence: given(form, "at") || undefined,
        title: given(form, "title"),
      });
      location.hash = link(answer.conversation.conversationId, { tab: "forks" });
    },
  });
}

/** @param {Conversation} conversation */
export function end(conversation) {
  ask({
    title: "End this conversation",
    body: [
      h(
        "p",
        { class: "quiet" },
        "The conversation gets a title and a closing summary. Nobody can add messages to it afterwards.",
      ),
      field("Reason", h("input", { name: "reason", placeholder: "none" })),
    ],
    action: "End",
    submit: (form) => conversation.change("ConversationService/EndConversation", { reason: given(form, "reason") }),
  });
}

/** @param {Conversation} conversation */
export function compact(conversation) {
  const shown = h("p", { class: "quiet", role: "status" });
  const keep = h("input", { name: "keep", type: "number", min: 1, value: 15, oninput: () => void preview() });
  const request = () => ({ keepRecent: Number(keep.value || 15) });
  const preview = async () => {
    try {
      const asked = { conversationId: conversation.id, preview: true, ...request() };
      const { compaction, capacity } = await call("CompactionService/CompactConversation", asked);
      shown.textContent = compaction
        ? `${counted(compaction.compactedUtteranceCount, "utterance")} would leave the window: ${count(compaction.tokenCountBefore)} → ${count(compaction.tokenCountAfter)} tokens`
        : `Nothing to compact: the window keeps ${counted(capacity.utteranceCount, "utterance")}, and the summary covers ${count(capacity.summary.coveredUtteranceCount)}`;
    } catch (error) {
      shown.textContent = /** @type {Error} */ (error).message;
    }
  };
  ask({
    title: "Compact the window",
    body: [field("Utterances to keep, at least", keep), shown],
    action: "Compact",
    submit: () => conversation.change("CompactionService/CompactConversation", request()),
  });
  void preview();
}

/** @param {Conversation} conversation */
export function remove(conversation) {
  ask({
    title: "Delete this conversation",
    body: [
      h(
        "p",
        {},
        `This deletes ${counted(conversation.about.utteranceCount, "utterance")} and the summary for good. Forks of the conversation stay.`,
      ),
    ],
    action: "Delete",
    isDangerous: true,
    submit: () => call("ConversationService/DeleteConversation", { conversationId: conversation.id }),
  });
}

/** @param {Conversation} conversation */
export function removeRecipient(conversation) {
  const { recipientId } = conversation.about;
  ask({
    title: `Delete all data of ${recipientId}`,
    body: [
      h("p", {}, "This deletes every conversation of this recipient, and the recipient's state, for good."),
      field("Type the recipient's name to confirm", h("input", { name: "typed", autocomplete: "off" })),
    ],
    action: "Delete everything",
    isDangerous: true,
    submit: async (form) => {
      if (given(form, "typed") !== recipientId)
        throw new Error(`That is not the name. Type ${recipientId} to confirm.`);
      const answer = await call("ConversationService/DeleteRecipient", { recipientId });
      tell(`Deleted ${counted(answer.conversationCount, "conversation")}`);
    },
  });
}

/** @param {Conversation} conversation @param {any} utterance */
export function pin(conversation, { utteranceId, pinned }) {
  const request = { utteranceId, pinned: !pinned, updateMask: "pinned" };
  void attempt(() => conversation.change("ConversationService/UpdateUtterance", request));
}

/** @param {Conversation} conversation @param {any} utterance */
export function restore(conversation, { utteranceId }) {
  void attempt(() => conversation.change("MemoryService/Restore", { utteranceIds: [utteranceId] }));
}

/** @param {Conversation} conversation @param {any} utterance */
export function edit(conversation, { utteranceId, sequence, content = "" }) {
  const where = select(
    [
      ["EDIT_MODE_IN_PLACE", "in this conversation, which also keeps the first text"],
      ["EDIT_MODE_FORK", "in a new fork"],
    ],
    { name: "mode" },
  );
  ask({
    title: `Edit #${sequence}`,
    body: [field("Text", h("textarea", { name: "content", rows: 8 }, content)), field("Save it", where)],
    action: "Save",
    submit: async (form) => {
      const request = {
        utteranceId,
        content: String(form.get("content")),
        editMode: given(form, "mode"),
        updateMask: "content",
      };
      const answer = await conversation.change("ConversationService/UpdateUtterance", request);
      if (answer.forkedConversationId) location.hash = link(answer.forkedConversationId);
    },
  });
}
