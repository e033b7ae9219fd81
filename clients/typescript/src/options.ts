/** What the calls of one conversation take. */
import type { CallOptions, ChangeOptions, Format, Role, Scope, SequenceRange, StateChange } from "./model.js";

/** Which conversation: one by its id; or else the active one of a recipient, by default of `default`. */
export interface ConversationAddress {
  readonly id?: string;
  readonly recipient?: string;
}

/** How messages are added. */
export interface AddOptions extends ChangeOptions {
  /** Told by the looks of the messages by default. */
  readonly format?: Format;
  /** Ids of the caller's, one for each message, unique in the conversation. */
  readonly ids?: readonly string[];
  /** A message with an id that is stored already takes its place; by default `ExistsError`. */
  readonly upsert?: boolean;
  /** Stores also a result that answers no call, and a message that says and calls nothing. */
  readonly lenient?: boolean;
  /** Changes the values beside the conversation in the same commit: when either is refused, neither is done. */
  readonly state?: StateChange;
  /** The same with the recipient's own values. */
  readonly recipientState?: StateChange;
}

/** Which messages are listed: those of which everything that is given holds. */
export interface ListOptions extends CallOptions {
  /** Only the newest so many of what would be listed. */
  readonly last?: number;
  /** Only messages that begin behind this sequence. */
  readonly after?: number;
  /** Only messages that begin before this sequence. */
  readonly before?: number;
  /** Only messages that begin with one of these utterances, at most 1,000. */
  readonly ids?: readonly string[];
  /** Only what these say. */
  readonly roles?: readonly Role[];
  /** So many of the list are passed over. */
  readonly offset?: number;
  /** So many are returned at most; all by default. */
  readonly limit?: number;
  readonly newestFirst?: boolean;
  /** Every message in this format; by default each as it came. */
  readonly format?: Format;
}

/** What is forgotten, and how: what instructions select, or all that `ids`, `sequences` and `newest` name. */
export interface ForgetOptions extends ChangeOptions {
  /** These utterances. */
  readonly ids?: readonly string[];
  /** These sequences. */
  readonly sequences?: readonly (number | SequenceRange)[];
  /** The newest so many messages. */
  readonly newest?: number;
  /** For good. By default `restore` brings it back. */
  readonly hard?: boolean;
  /** With `hard` and without instructions: this and nothing else, where otherwise an exchange is forgotten whole. */
  readonly exact?: boolean;
  /** Tells what would be forgotten, and changes nothing. */
  readonly dryRun?: boolean;
  /** The response holds the messages, unless it is `replayed`. */
  readonly returnMessages?: boolean;
  readonly format?: Format;
}

/** What is searched for. */
export interface RememberOptions extends CallOptions {
  /** How many matches, at most; 10 by default. */
  readonly limit?: number;
  /** `conversation` by default. */
  readonly scope?: Scope;
  /** How many utterances before and after each match come along, 0 to 10. */
  readonly neighbors?: number;
  /** Only what these say. */
  readonly roles?: readonly Role[];
  /** Only what participants and tools of these names say. */
  readonly names?: readonly string[];
  /** Only what was said then or later. */
  readonly since?: Date;
  /** Only what was said before then. */
  readonly until?: Date;
  /** The least relevance, 0 to 1. */
  readonly minRelevance?: number;
}

/** What is summarised. */
export interface SummarizeOptions extends CallOptions {
  /** All of it; the last `recent` utterances; what left the window (`evicted`); or the `turns`, both included. */
  readonly part?: "all" | "recent" | "evicted" | "turns";
  readonly recent?: number;
  readonly turns?: SequenceRange;
  /** How long it may be; by default the policy's limit. */
  readonly tokens?: number;
  /** Words that make a sentence matter more. */
  readonly focus?: readonly string[];
  /** Has the server's model tell it, where it has one. */
  readonly waitForModel?: boolean;
}

/** What is compacted. */
export interface CompactOptions extends ChangeOptions {
  /** How many utterances stay in the window, at least; 15 by default. */
  readonly keepRecent?: number;
  /** Exactly so many of the oldest leave. */
  readonly count?: number;
  /** False: they are archived only. */
  readonly summarize?: boolean;
  readonly focus?: readonly string[];
  /** Shows what would happen, and changes nothing. */
  readonly preview?: boolean;
  readonly waitForModel?: boolean;
}

/** A fork. */
export interface ForkOptions extends ChangeOptions {
  /** The last sequence that both share, by default the newest. */
  readonly after?: number;
  readonly id?: string;
  readonly recipient?: string;
  readonly title?: string;
}
