/** The arguments and results of calls: plain values. */

/** The speaker of a message. */
export type Role = "system" | "user" | "assistant" | "tool";
/** A provider's format of messages: OpenAI's chat, items of OpenAI's Responses, or Anthropic's messages. */
export type Format = "openai" | "responses" | "anthropic";
/** A conversation's status. */
export type Status = "active" | "awaiting_answer" | "idle" | "closed";
/** What a search covers: the window, the conversation with its archive, or all conversations of its recipient. */
export type Scope = "window" | "conversation" | "recipient";

/** One message or several, in a provider's format; or the JSON text of an array of them. */
export type Messages = object | readonly object[] | string;

/** The limits of a call. */
export interface CallOptions {
  /** Milliseconds that the call may take with all its attempts, null for no limit; by default the client's. */
  readonly timeout?: number | null;
  /** Aborts the call, which throws the signal's reason. It may have taken effect. */
  readonly signal?: AbortSignal;
}

/** The conditions of a change. */
export interface ChangeOptions extends CallOptions {
  /** `ConflictError` if the conversation is at another revision. */
  readonly expectedRevision?: number;
  /** Identifies this attempt: a repetition has no further effect. By default a new one. */
  readonly requestId?: string;
}

/**
 * A conversation's limits. To a call, undefined leaves a limit as it is and 0 means unlimited. From a call,
 * undefined means unlimited.
 */
export interface Policy {
  /** Resets every limit to the preset's before the others apply. Never from a call. */
  readonly preset?: "rolling" | "turns" | "session";
  readonly maxUtterances?: number;
  readonly keepUtterances?: number;
  readonly maxTokens?: number;
  readonly keepTokens?: number;
  readonly maxTurns?: number;
  readonly keepTurns?: number;
  /** Whether what leaves the window is summarised. */
  readonly summaries?: boolean;
  readonly summaryTokenLimit?: number;
  /** Utterances that are kept outside the window; here 0 keeps none. */
  readonly archiveLimit?: number;
}

/** How full a window is. */
export interface Capacity {
  /** Empty if the recipient has no conversation; the limits are then the server's defaults. */
  readonly conversationId: string;
  readonly recipientId: string;
  readonly revision: number;
  readonly status: Status | undefined;
  /** Utterances in the window. */
  readonly utterances: number;
  /** Tokens of the window. */
  readonly tokens: number;
  readonly turns: number;
  /** Utterances that left the window and are still stored. */
  readonly archived: number;
  /** Undefined means unlimited, here and for the other maxima. */
  readonly maxUtterances: number | undefined;
  readonly maxTokens: number | undefined;
  readonly maxTurns: number | undefined;
  readonly availableUtterances: number | undefined;
  readonly availableTokens: number | undefined;
  /** Whether the window exceeds a limit because what is in it cannot leave. */
  readonly overLimit: boolean;
  readonly summaryTokens: number;
  /** Tokens of the window and the summary. */
  readonly totalTokens: number;
  /** Whether the window has become long enough to be compacted. */
  readonly compactionAdvised: boolean;
}

/** Points to an utterance, without its text. */
export interface Reference {
  /** Empty for references far down a long list. */
  readonly utteranceId: string;
  readonly sequence: number;
  readonly role: Role | undefined;
  readonly turn: number;
  readonly tokens: number;
}

/** Something irregular that was accepted. */
export interface Irregularity {
  /** The utterance's place in the request, from 0. */
  readonly index: number;
  readonly sequence: number;
  readonly description: string;
}

/** The result of adding messages. */
export interface Added {
  readonly conversationId: string;
  readonly revision: number;
  /** The utterances that were stored, in order: a message with several tool results is several utterances. */
  readonly memorized: readonly Reference[];
  /** What left the window to make room; it is in the archive and in the summary. */
  readonly evicted: readonly Reference[];
  /** What they replaced. */
  readonly removed: readonly Reference[];
  readonly capacity: Capacity;
  /** Whether the conversation started with them. */
  readonly started: boolean;
  /** Whether an earlier call with the same request id did this. */
  readonly replayed: boolean;
  readonly irregularities: readonly Irregularity[];
  /** The recipient's previous conversation, which had been idle and ended so that this one could start. */
  readonly endedConversationId: string | undefined;
}

/** A change to the values of a conversation or a recipient. Values that are not named stay. */
export interface StateChange {
  /** Values to set, by name: a Uint8Array, or what JSON can represent. */
  readonly set?: Readonly<Record<string, unknown>>;
  /** Names to delete; missing ones are ignored. */
  readonly delete?: readonly string[];
  /** `ConflictError` if a named value is at another version; 0 means that it must not exist. */
  readonly expectedVersions?: Readonly<Record<string, number>>;
}

/** A value of a conversation or a recipient. */
export interface StateValue<V = any> {
  /** A Uint8Array, or a value parsed from JSON. */
  readonly value: V;
  /** The revision, of the conversation or the recipient's values, at which it was written. */
  readonly version: number;
}

/** A message as it is stored. */
export interface StoredMessage<M = any> {
  readonly message: M;
  /** The message as text: byte for byte as it was given, unless it has been edited since. */
  readonly json: string;
  readonly format: Format;
  /** The id of its first utterance: the caller's, or else the server's. */
  readonly utteranceId: string;
  /** The sequence of its first utterance. */
  readonly sequence: number;
  /** The sequence of its last utterance: it differs from the first if it has several tool results. */
  readonly lastSequence: number;
  readonly role: Role;
  readonly turn: number;
  readonly time: Date;
  readonly archived: boolean;
}

/** A stored message that a context shows. */
export interface Original<M = any> extends StoredMessage<M> {
  /** Whether it is shown unchanged: neither shortened nor masked. */
  readonly whole: boolean;
}

/** Messages, and the revision of the conversation at which they were read. */
export interface Stored<M = any> {
  /** Empty for a recipient without a conversation. */
  readonly conversationId: string;
  /** The `expectedRevision` for a change that builds on these messages; 0 if nothing is stored yet. */
  readonly revision: number;
  readonly messages: readonly StoredMessage<M>[];
}

/** An utterance as it is stored. */
export interface Utterance {
  readonly utteranceId: string;
  readonly sequence: number;
  readonly role: Role;
  readonly name: string;
  readonly content: string;
  readonly turn: number;
  readonly time: Date;
  readonly tokens: number;
  readonly pinned: boolean;
  readonly toolCallId: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** An utterance that was found. */
export interface Match {
  readonly utterance: Utterance;
  readonly conversationId: string;
  /** Ranks the matches of one search. */
  readonly score: number;
  /** How much of the prompt it covers, from 0 to 1; 0 without a prompt. */
  readonly relevance: number;
  /** The words of the prompt that it contains. */
  readonly terms: readonly string[];
  readonly neighbors: readonly Utterance[];
}

/** What was forgotten, or would be. */
export interface Forgotten {
  readonly conversationId: string;
  readonly revision: number;
  readonly forgotten: readonly Reference[];
  /** The messages themselves, if requested. */
  readonly messages: readonly StoredMessage[];
  readonly capacity: Capacity;
  /** The instructions as they were understood, in their short form. */
  readonly understoodAs: string;
  readonly replayed: boolean;
  readonly warnings: readonly string[];
}

/** What was brought back. */
export interface Restored {
  readonly conversationId: string;
  readonly revision: number;
  readonly restored: readonly Reference[];
  readonly evicted: readonly Reference[];
  readonly capacity: Capacity;
  readonly replayed: boolean;
}

/** A summary. */
export interface Summary {
  readonly text: string;
  /** Tokens of the text, exactly. */
  readonly tokens: number;
  readonly conversationId: string;
  /** The model that wrote it; empty if its sentences are quoted from what was said. */
  readonly model: string;
  /** Why the text is empty, if it is. */
  readonly warnings: readonly string[];
}

/** What a compaction did or would do, or what undoing one did. */
export interface Compacted {
  readonly conversationId: string;
  readonly revision: number;
  /** Utterances that left the window, or returned to it; 0 if nothing was left to compact. */
  readonly utterances: number;
  /** Tokens of window and summary together. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly summary: string;
  readonly capacity: Capacity;
}

/** A conversation as the server records it. */
export interface ConversationRecord {
  readonly conversationId: string;
  readonly recipientId: string;
  readonly title: string;
  readonly startTime: Date;
  readonly updateTime: Date;
  readonly endTime: Date | undefined;
  readonly endedReason: string;
  /** Once it has ended: what it was about and what came of it, in 2 to 3 sentences. */
  readonly closingSummary: string;
  readonly status: Status | undefined;
  /** Whether messages addressed to its recipient without an id go here. */
  readonly active: boolean;
  readonly encoding: string;
  readonly policy: Policy;
  readonly labels: Readonly<Record<string, string>>;
  readonly revision: number;
  /** Utterances stored, in the window and the archive. */
  readonly utterances: number;
  /** The conversation that it was forked from. */
  readonly forkedFrom: string | undefined;
}

/** What to recall from the rest of the conversation, or of the recipient's conversations. */
export interface Recall {
  readonly prompt: string;
  /** The most matches, 1 to 50; by default as many as fit. */
  readonly limit?: number;
  readonly scope?: "conversation" | "recipient";
  /** The largest share of the budget, in per cent; 50 by default. */
  readonly maxPercent?: number;
  /** The least relevance of a match, 0 to 1; 0.1 by default. */
  readonly minRelevance?: number;
}

/** Sequences from `first` to `last`, both included. */
export interface SequenceRange {
  readonly first: number;
  readonly last: number;
}

/** Utterances that a context leaves out for one reason. */
export interface Omission {
  /** Such as `evicted` (the summary covers them), `budget`, `unanswered_call`. */
  readonly reason: string;
  readonly sequences: readonly SequenceRange[];
}

/** An utterance of a context. */
export interface Rendered {
  readonly utteranceId: string;
  readonly sequence: number;
  /** `whole`, `instruction`, `pinned`, `masked`, `trimmed` or `recalled`. */
  readonly as: string;
  /** The index of the message that contains it; undefined if `system` or `text` does. */
  readonly message: number | undefined;
}

/** Facts about a context. */
export interface ContextFacts {
  /** Empty if the recipient has no conversation. */
  readonly conversationId: string;
  readonly revision: number;
  /** With Anthropic's format: the request's `system`; empty if there is none. */
  readonly system: readonly { readonly type: "text"; readonly text: string }[];
  /** With the format `text`: the text. There are then no messages. */
  readonly text: string;
  /** The total tokens, never more than the budget. */
  readonly tokens: number;
  readonly budget: number | undefined;
  /** The utterances that it was built from, in the order of the messages. */
  readonly sequences: readonly number[];
  /** How each of them is rendered, and where. */
  readonly rendered: readonly Rendered[];
  /** Which message shows an utterance unchanged and in its place: its index, by the utterance's sequence. */
  readonly whole: ReadonlyMap<number, number>;
  readonly omitted: readonly Omission[];
  /** How many messages at the head stay the same while messages are only added: a cache mark can follow them. */
  readonly stableMessages: number;
  /** Utterances that are left out and not covered by a summary. */
  readonly uncovered: number;
  readonly warnings: readonly string[];
  /** Whether images, files or thinking of older messages are left out, because together they are too large. */
  readonly mediaLeftOut: boolean;
}

/** What goes to a model: an array of messages, ready to be sent, with facts about it. */
export type Context<M = any> = M[] & ContextFacts;

/** A history that was made fit for a model. */
export interface Prepared<M = any> {
  readonly messages: M[];
  /** With Anthropic's format: the request's `system`. */
  readonly system: string;
  readonly tokens: number;
  /** The lines of the summary, without the words around them; empty if there is none. */
  readonly summary: string;
  /** The places in the history of the messages that left for the summary. */
  readonly summarised: readonly number[];
  /** What was left out, and why. */
  readonly dropped: readonly string[];
  readonly warnings: readonly string[];
}

/** Token counts of texts. */
export interface Tokens {
  readonly counts: readonly number[];
  readonly encoding: string;
}
