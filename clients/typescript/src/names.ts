/** The names of the protocol in errors, as a caller of this package writes them. */

/** What is named otherwise here, or occurs in texts. The name of any other field is the protocol's in camel case. */
const NAMES: Readonly<Record<string, string>> = {
  after_sequence: "after",
  at_sequence: "after",
  before_sequence: "before",
  archive_limit: "archiveLimit",
  conversation_id: "id",
  conversation_id_prefix: "prefix",
  first_turn: "turns.first",
  focus_areas: "focus",
  include_archive: "archive",
  keep_recent: "keepRecent",
  last_turn: "turns.last",
  mask_tool_results_after_turns: "maskResultsAfterTurns",
  message_ids: "ids",
  new_conversation_id: "id",
  newest_messages: "newest",
  recent_count: "recent",
  recipient_id: "recipient",
  replace_after: "replaceAfter",
  request_id: "requestId",
  start_time: "since",
  expected_revision: "expectedRevision",
  end_time: "until",
  SUMMARIZE_SCOPE_RECENT: 'part: "recent"',
  SUMMARIZE_SCOPE_TURNS: 'part: "turns"',
  summarization_enabled: "summaries",
  summary_placement: "summary",
  to_recipient_id: "recipient",
  token_budget: "budget",
  token_limit: "tokens",
  unanswered_calls: "unanswered",
  utterance_ids: "ids",
};
/** Messages of requests whose fields are options of their own here. */
const ENCLOSING = /^(filter|selector)\./;
const QUOTED = /"(?:[^"\\]|\\.)*"/.source;
/** A place in the messages; what follows the number is the provider's. */
const PLACE = /\bmessages_json(?:\[(\d+)\](\S*\w)?)?/.source;
const NAME = /\b[A-Za-z]+(?:_[A-Za-z]+)+\b/.source;

/** The name of a field. The messages of the request begin at `firstMessage` of the caller's. */
export function fieldHere(field: string, firstMessage: number): string {
  return renamed(field.replace(ENCLOSING, ""), firstMessage, camelCase);
}

/** A text about a request; what is quoted in it stays, and so does what is not a field. */
export function textHere(text: string, firstMessage: number): string {
  return renamed(text, firstMessage, (name) => name);
}

function renamed(text: string, firstMessage: number, other: (name: string) => string): string {
  return text.replace(new RegExp(`${QUOTED}|${PLACE}|${NAME}`, "g"), (found: string, index?: string, rest = "") => {
    if (found.startsWith('"')) return found;
    if (index !== undefined) return `messages[${Number(index) + firstMessage}]${rest}`;
    return found === "messages_json" ? "messages" : (NAMES[found] ?? other(found));
  });
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
