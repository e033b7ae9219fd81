// Finding conversations by their titles, and utterances by their texts.

import { all, call } from "./calls.js";

/** The most conversations whose titles are searched, and recipients whose utterances are; the newest. */
export const MOST = { conversations: 10_000, recipients: 50 };
/** Recipients whose utterances are searched at the same time. */
const AT_ONCE = 4;
/** The most matches of one recipient, and of all. */
const [OF_ONE, OF_ALL] = [10, 30];

/** The conversations in which titles are searched, the newest first. @param {object} filter */
export const known = (filter) =>
  all("ConversationService/ListConversations", { ...filter, pageSize: 1_000 }, "conversations", MOST.conversations);

/**
 * The conversations whose title or id contains every word.
 * @param {any[]} conversations
 * @param {string} text
 */
export function titled(conversations, text) {
  const words = text.toLowerCase().split(/\s+/);
  return conversations.filter(({ title = "", conversationId }) => {
    const name = `${title} ${conversationId}`.toLowerCase();
    return words.every((word) => name.includes(word));
  });
}

/**
 * Searches the utterances of the conversations' recipients; tells the best matches so far after each recipient.
 * @param {any[]} conversations
 * @param {string} text
 * @param {(matches: any[]) => boolean} found returns whether to go on
 */
export async function uttered(conversations, text, found) {
  const recipients = recipientsOf(conversations).slice(0, MOST.recipients);
  const ids = new Set(conversations.map(({ conversationId }) => conversationId));
  /** @type {any[]} */
  let best = [];
  let goesOn = true;
  const search = async () => {
    for (let recipientId = recipients.shift(); recipientId !== undefined && goesOn; recipientId = recipients.shift()) {
      const scope = "REMEMBER_SCOPE_RECIPIENT";
      const request = { recipientId, scope, prompt: text, pageSize: OF_ONE };
      const { matches = [] } = await call("MemoryService/Remember", request);
      const added = matches.filter(({ conversationId }) => ids.has(conversationId));
      best = [...best, ...added].sort((a, b) => (b.relevance ?? 0) - (a.relevance ?? 0)).slice(0, OF_ALL);
      goesOn = goesOn && found(best);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, search));
}

/** @param {any[]} conversations @returns {string[]} */
export const recipientsOf = (conversations) => [...new Set(conversations.map(({ recipientId }) => recipientId))];
