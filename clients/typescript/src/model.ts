/** What calls take and come to: plain values. */

/** Who speaks. */
export type Role = "system" | "user" | "assistant" | "tool";
/** A provider's format of messages: OpenAI's chat, items of OpenAI's Responses, or Anthropic's messages. */
export type Format = "openai" | "responses" | "anthropic";
/** What a conversation is doing. */
export type Status = "active" | "awaiting_answer" | "idle" | "closed";
/** What a search covers: the window, the conversation with its archive, or all conversations of its recipient. */
export type Scope = "window" | "conversation" | "recipient";

/** One message or several, as a provider's API writes them; or the JSON text of an array of them. */
export type Messages = object | readonly object[] | string;

/** How a call is bounded. */
export interface CallOptions {
  /** Milliseconds that the call may take with all its attempts, null for any number; by default the client's. */
  readonly timeout?: number | null;
  /** Ends the call: it throws the signal's reason. What it asked for may have taken effect. */
  readonly signal?: AbortSignal;
}

/** How a change is made. */
export interface ChangeOptions extends CallOptions {
  /** `ConflictError` when the conversation is at another revision. */
  readonly expectedRevision?: number;
  /** Names this attempt: to repeat it does nothing twice. By default a new one. */
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
  /** Empty where a recipient has no conversation; the limits are the server's defaults then. */
  readonly conversationId: string;
  readonly recipientId: string;
  readonly revision: number;
  readonly status: Status | undefined;
  /** Slots of the window that are taken. */
  readonly utterances: number;
  /** Tokens of the window. */
  readonly tokens: number;
  readonly turns: number;
  /** Utterances that left the window and are still stored. */
  readonly archived: number;
  /** Undefined: unlimited; so it is of the other maxima. */
  readonly maxUtterances: number | undefined;
  readonly maxTokens: number | undefined;
  readonly maxTurns: number | undefined;
  readonly availableUtterances: number | undefined;
  readonly availableTokens: number | undefined;
  /** Whether what may not leave the window is more than it should hold. */
  readonly overLimit: boolean;
  readonly summaryTokens: number;
  /** Tokens of the window and the summary. */
  readonly totalTokens: number;
  /** Whether the window has grown so long that it should be compacted. */
  readonly compactionAdvised: boolean;
}

/** Points to an utterance, without its text. */
export interface Reference {
  /** Empty of a reference far down a long list. */
  readonly utteranceId: string;
  readonly sequence: number;
  readonly role: Role | undefined;
  readonly turn: number;
  readonly tokens: number;
}

/** Something that was let pass. */
export interface Irregularity {
  /** The utterance's place in the request, from 0. */
  readonly index: number;
  readonly sequence: number;
  readonly description: string;
}

/** What became of messages that were added. */
export interface Added {
  readonly conversationId: string;
  readonly revision: number;
  /** The utterances that were stored, in order: a message that holds results of tools is several. */
  readonly memorized: readonly Reference[];
  /** What left the window for them; it is in the archive and in the summary. */
  readonly evicted: readonly Reference[];
  /** What they replaced. */
  readonly removed: readonly Reference[];
  readonly capacity: Capacity;
  /** Whether the conversation started with them. */
  readonly started: boolean;
  /** Whether an earlier call with the same request id did this. */
  readonly replayed: boolean;
  readonly irregularities: readonly Irregularity[];
  /** The recipient's conversation that had been left idle, and ended for this one to start. */
  readonly endedConversationId: string | undefined;
}

/** What to change of the values that are kept beside a conversation. What is not named stays. */
export interface StateChange {
  /** Values to set, by name: a Uint8Array, or what JSON can hold. */
  readonly set?: Readonly<Record<string, unknown>>;
  /** Names to delete; one that there is not is passed over. */
  readonly delete?: readonly string[];
  /** `ConflictError` when a named value is at another version; 0 when there must be none. */
  readonly expectedVersions?: Readonly<Record<string, number>>;
}

/** A value that is kept beside a conversation. */
export interface StateValue<V = any> {
  /** A Uint8Array, or what was read of JSON. */
  readonly value: V;
  /** The revision of the conversation that wrote it. */
  readonly version: number;
}

/** A message as it is stored. */
export interface StoredMessage<M = any> {
  readonly message: M;
  /** The message as text: byte for byte as it came, unless it was edited since. */
  readonly json: string;
  readonly format: Format;
  /** The id of its first utterance: the one that it was given, or the server's. */
  readonly utteranceId: string;
  /** The sequence of its first utterance. */
  readonly sequence: number;
  /** The sequence of its last utterance: another one when it holds several results of tools. */
  readonly lastSequence: number;
  readonly role: Role;
  readonly turn: number;
  readonly time: Date;
  readonly archived: boolean;
}

/** Messages, and the revision of the conversation at which they were read. */
export interface Stored<M = any> {
  /** Empty for a recipient without a conversation. */
  readonly conversationId: string;
  /** What a change that builds on these messages names as `expectedRevision`; 0 when nothing is stored yet. */
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
  /** Orders the matches of one search. */
  readonly score: number;
  /** How much of the prompt it covers, from 0 to 1; 0 without a prompt. */
  readonly relevance: number;
  /** The words of the prompt that it holds. */
  readonly terms: readonly string[];
  readonly neighbors: readonly Utterance[];
}

/** What was forgotten, or would be. */
export interface Forgotten {
  readonly conversationId: string;
  readonly revision: number;
  readonly forgotten: readonly Reference[];
  /** The messages themselves, where they were asked for. */
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
  /** The model that told it; empty when its sentences are taken from what was said. */
  readonly model: string;
  /** Why the text is empty, when it is. */
  readonly warnings: readonly string[];
}

/** What a compaction did, or would do, or what undoing it did. */
export interface Compacted {
  readonly conversationId: string;
  readonly revision: number;
  /** Utterances that left the window, or came back. */
  readonly utterances: number;
  /** Tokens of window and summary together. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly summary: string;
  readonly capacity: Capacity;
}

/** A conversation as the server knows it. */
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
  /** Whether a message to its recipient alone goes here. */
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

/** What to recall of what a context does not hold. */
export interface Recall {
  readonly prompt: string;
  /** Matches at most, 1 to 50; as many as fit by default. */
  readonly limit?: number;
  readonly scope?: "conversation" | "recipient";
  /** The most of the budget, in per cent; 50 by default. */
  readonly maxPercent?: number;
}

/** Sequences from `first` to `last`, both included. */
export interface SequenceRange {
  readonly first: number;
  readonly last: number;
}

/** Utterances that a context leaves out for one reason. */
export interface Omission {
  /** Such as `evicted` (the summary stands for them), `budget`, `unanswered_call`. */
  readonly reason: string;
  readonly sequences: readonly SequenceRange[];
}

/** What is to be known of a context. */
export interface ContextFacts {
  /** Empty where the recipient has no conversation. */
  readonly conversationId: string;
  readonly revision: number;
  /** Of Anthropic's format: the request's `system`; empty when there is none. */
  readonly system: readonly { readonly type: "text"; readonly text: string }[];
  /** Of the format `text`: the text. There are no messages then. */
  readonly text: string;
  /** Tokens of it all, never more than the budget. */
  readonly tokens: number;
  readonly budget: number | undefined;
  /** The utterances that it is made of, in the order of the messages. */
  readonly sequences: readonly number[];
  readonly omitted: readonly Omission[];
  /** So many messages at the head stay the same while messages are only added: a cache mark may stand behind them. */
  readonly stableMessages: number;
  /** Utterances left out of which no summary tells. */
  readonly uncovered: number;
  readonly warnings: readonly string[];
}

/** What goes to a model: an array of messages, ready to be sent, and what is to be known of it. */
export type Context<M = any> = M[] & ContextFacts;

/** A history that was made fit for a model. */
export interface Prepared<M = any> {
  readonly messages: M[];
  /** Of Anthropic's format: the request's `system`. */
  readonly system: string;
  readonly tokens: number;
  /** What was left out, and why. */
  readonly dropped: readonly string[];
  readonly warnings: readonly string[];
}

/** Token counts of texts. */
export interface Tokens {
  readonly counts: readonly number[];
  readonly encoding: string;
}
