// The names of the fields of the interface. The server's errors and warnings name fields as programs do.

/** @type {Record<string, string>} */
export const FIELDS = {
  max_utterances: "Maximum utterances",
  keep_utterances: "Utterances an eviction keeps",
  max_tokens: "Maximum tokens",
  keep_tokens: "Tokens an eviction keeps",
  max_turns: "Maximum turns",
  keep_turns: "Turns an eviction keeps",
  summary_token_limit: "Maximum summary tokens",
  archive_limit: "Maximum in the archive",
  expire_after: "Delete if unchanged (days)",
  summarization_enabled: "Summaries",
  llm_summaries: "Summaries",
  summary_model: "Model for summaries",
  oversize: "Utterances larger than the window",
  token_budget: "Token budget",
  token_limit: "Maximum tokens",
  max_messages: "Maximum messages",
  mask_tool_results_after_turns: "Mask tool results after turns",
  messages_json: "Messages",
  arguments_json: "Arguments",
  tool_call_id: "Answers",
  tool_calls: "Tool call",
  conversation_id: "Id",
  recipient_id: "Recipient",
  at_sequence: "Last shared utterance",
  keep_recent: "Utterances to keep",
  content: "Text",
  json: "Value",
};

const PATH = /^[a-z_]+(?:\[\d+\])?(?:\.[a-z_]+(?:\[\d+\])?)*(?=: )/;
const MESSAGE = /\bmessages_json\[(\d+)\]/g;
const NAME = /"[^"]*"|\b[a-z]+(?:_[a-z]+)+\b/g;

/**
 * A text of the server with the names that the interface has for fields. Quoted text stays as it is.
 * @param {string} text
 */
export const inWords = (text) =>
  text
    .replace(MESSAGE, (_, place) => `message ${Number(place) + 1}`)
    .replace(PATH, (path) => FIELDS[nameOf(path)] ?? nameOf(path).replaceAll("_", " "))
    .replace(NAME, (name) => (FIELDS[name] ? `“${FIELDS[name]}”` : name));

/** The name at the end of a path such as `policy.max_tokens`. @param {string} path */
const nameOf = (path) => path.replace(/\[\d+\]$/, "").replace(/^.*\./, "");
