/** The options of the calls on one conversation. */
import type { CallOptions, ChangeOptions, Format, Role, Scope, SequenceRange, StateChange } from "./model.js";

/** Which conversation: one by its id; or else a recipient's active one, by default that of `default`. */
export interface ConversationAddress {
  readonly id?: string;
  readonly recipient?: string;
}

/** How to add messages. */
export interface AddOptions extends ChangeOptions {
  /** By default detected from the messages. */
  readonly format?: Format;
  /** The caller's own ids, one for each message, unique in the conversation. */
  readonly ids?: readonly string[];
  /** A message replaces a stored one with the same id; by default `ExistsError`. */
  readonly upsert?: boolean;
  /** Also stores a result that answers no call, and a message without content and calls. */
  readonly lenient?: boolean;
  /** Changes the conversation's values in the same commit: if one is refused, neither is done. */
  readonly state?: StateChange;
  /** The same for the recipient's own values. */
  readonly recipientState?: StateChange;
}

/** Which messages to list: those that meet all of the conditions given. */
export interface ListOptions extends CallOptions {
  /** Only this many of the newest. */
  readonly last?: number;
  /** Only messages that begin after this sequence. */
  readonly after?: number;
  /** Only messages that begin before this sequence. */
  readonly before?: number;
  /** Only messages that begin with one of these utterances, at most 1,000. */
  readonly ids?: readonly string[];
  /** Only messages of these roles. */
  readonly roles?: readonly Role[];
  /** How many of the list to skip. */
  readonly offset?: number;
  /** The most to return; all by default. */
  readonly limit?: number;
  readonly newestFirst?: boolean;
  /** Every message in this format; by default each as it was given. */
  readonly format?: Format;
}

/** What to forget, and how: what instructions select, or everything that `ids`, `sequences` and `newest` name. */
export interface ForgetOptions extends ChangeOptions {
  /** These utterances. */
  readonly ids?: readonly string[];
  /** These sequences. */
  readonly sequences?: readonly (number | SequenceRange)[];
  /** This many of the newest messages. */
  readonly newest?: number;
  /** For good. By default `restore` brings it back. */
  readonly hard?: boolean;
  /** With `hard` and without instructions: exactly this; by default an exchange is forgotten as a whole. */
  readonly exact?: boolean;
  /** Returns what would be forgotten, and changes nothing. */
  readonly dryRun?: boolean;
  /** The response contains the messages, unless it is `replayed`. */
  readonly returnMessages?: boolean;
  readonly format?: Format;
}

/** How to search. */
export interface RememberOptions extends CallOptions {
  /** The most matches; 10 by default. */
  readonly limit?: number;
  /** `conversation` by default. */
  readonly scope?: Scope;
  /** How many utterances before and after each match to include, 0 to 10. */
  readonly neighbors?: number;
  /** Only messages of these roles. */
  readonly roles?: readonly Role[];
  /** Only utterances of participants and tools with these names. */
  readonly names?: readonly string[];
  /** Only what was said then or later. */
  readonly since?: Date;
  /** Only what was said before then. */
  readonly until?: Date;
  /** The least relevance, 0 to 1. */
  readonly minRelevance?: number;
}

/** What to summarise. */
export interface SummarizeOptions extends CallOptions {
  /** All of it; the last `recent` utterances; what left the window (`evicted`); or the `turns`, both included. */
  readonly part?: "all" | "recent" | "evicted" | "turns";
  readonly recent?: number;
  readonly turns?: SequenceRange;
  /** How long it may be; by default the policy's limit. */
  readonly tokens?: number;
  /** Words that make a sentence matter more. */
  readonly focus?: readonly string[];
  /** Has the server's model write it, if there is one. */
  readonly waitForModel?: boolean;
}

/** How to end a conversation. */
export interface EndOptions extends ChangeOptions {
  /** Waits until the server's model has written the title and the closing summary, if there is one. */
  readonly waitForModel?: boolean;
}

/** What to compact. */
export interface CompactOptions extends ChangeOptions {
  /** How many utterances stay in the window, at least; 15 by default. */
  readonly keepRecent?: number;
  /** Exactly this many of the oldest leave. */
  readonly count?: number;
  /** If false, they are only archived. */
  readonly summarize?: boolean;
  readonly focus?: readonly string[];
  /** Shows what would happen, and changes nothing. */
  readonly preview?: boolean;
  readonly waitForModel?: boolean;
}

/** How to fork. */
export interface ForkOptions extends ChangeOptions {
  /** The last sequence that both share, by default the newest. */
  readonly after?: number;
  readonly id?: string;
  readonly recipient?: string;
  readonly title?: string;
}
