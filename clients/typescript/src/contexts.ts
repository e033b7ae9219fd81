/** Contexts for models. */
import {
  type BuildContextResponse,
  ContextFormat,
  DropReason,
  Earlier,
  OmissionReason,
  RenderedAs,
  SummaryPlacement,
  UnansweredCalls,
} from "./_proto/utterd/v1/context_service_pb.js";
import { RememberScope } from "./_proto/utterd/v1/memory_service_pb.js";
import { WarningKind } from "./_proto/utterd/v1/warning_pb.js";
import type { CallOptions, Context, ContextFacts, Messages, Prepared, Recall } from "./model.js";
import { textHere } from "./names.js";
import * as read from "./read.js";

export const SCOPES = {
  window: RememberScope.WINDOW,
  conversation: RememberScope.CONVERSATION,
  recipient: RememberScope.RECIPIENT,
} as const;
const FORMATS = {
  openai: ContextFormat.OPENAI_CHAT,
  anthropic: ContextFormat.ANTHROPIC_MESSAGES,
  text: ContextFormat.TEXT,
} as const;
const PLACES = { system: SummaryPlacement.SYSTEM, user: SummaryPlacement.USER_MESSAGE } as const;
const UNANSWERED = { omit: UnansweredCalls.OMIT, placeholder: UnansweredCalls.PLACEHOLDER } as const;

/** How to build a context. */
export interface ContextOptions extends CallOptions {
  /** The most tokens; by default what the conversation's policy allows for the window and the summary. */
  readonly budget?: number;
  /** OpenAI's chat (by default), Anthropic's messages (with a separate `system`), or `text`. */
  readonly format?: "openai" | "anthropic" | "text";
  /** A system prompt that is not stored. */
  readonly instructions?: string;
  /** Adds what a search for this finds in the rest. */
  readonly recall?: string | Recall;
  /** Exactly this many of the newest turns. */
  readonly maxTurns?: number;
  /** Whether the summary goes into a system message (by default) or a user message. */
  readonly summary?: "system" | "user";
  /** Whether a call without a result is left out (by default), or closed with a placeholder. */
  readonly unanswered?: "omit" | "placeholder";
  /** Replaces tool results of older turns with a line. */
  readonly maskResultsAfterTurns?: number;
  /** Replaces images of older turns with a text, or with 0 all images. */
  readonly maskImagesAfterTurns?: number;
  /** Only cuts tool results, and refuses a budget that has no room for the newest message. */
  readonly wholeMessages?: boolean;
  /**
   * Whether what is shown whole counts as it is stored, with its pictures and reasoning: for a caller that gives the model
   * its own messages (`originals`) in the place of the context's.
   */
  readonly countAsStored?: boolean;
  /** Whether messages drop out in steps, so that a provider's prompt cache hits. */
  readonly stableSteps?: boolean;
  /** Whether stored turns that left the window fill the rest of the budget; by default if one is given. */
  readonly archive?: boolean;
  /**
   * Whether a message says how the recipient's other conversations ended; by default if this one was not addressed by
   * its id.
   */
  readonly earlier?: boolean;
}

/** The request of BuildContext, without the conversation. */
export function contextRequest(options: ContextOptions) {
  return {
    format: read.chosen("format", options.format ?? "openai", FORMATS),
    tokenBudget: options.budget,
    maxTurns: options.maxTurns,
    summaryPlacement: read.chosen("summary", options.summary ?? "system", PLACES),
    recall: recallOf(options.recall),
    maskToolResultsAfterTurns: options.maskResultsAfterTurns,
    maskImagesAfterTurns: options.maskImagesAfterTurns,
    wholeMessages: options.wholeMessages,
    countAsStored: options.countAsStored,
    unansweredCalls: read.chosen("unanswered", options.unanswered ?? "omit", UNANSWERED),
    stableSteps: options.stableSteps,
    instructions: options.instructions,
    includeArchive: options.archive ?? options.budget !== undefined,
    earlier: earlierOf(options.earlier),
  };
}

function earlierOf(earlier: boolean | undefined) {
  if (earlier === undefined) return Earlier.UNSPECIFIED;
  return earlier ? Earlier.ENDED : Earlier.NONE;
}

function recallOf(recall: string | Recall | undefined) {
  if (recall === undefined) return undefined;
  const { scope, ...rest } = typeof recall === "string" ? { prompt: recall, scope: undefined } : recall;
  return { ...rest, scope: read.chosen("recall.scope", scope, SCOPES) };
}

/** The messages of a response. The other facts do not show when they are printed, copied or compared. */
export function contextOf<M>(it: BuildContextResponse): Context<M> {
  const facts: ContextFacts = {
    conversationId: it.conversationId,
    revision: Number(it.revision),
    system: JSON.parse(it.systemJson || "[]"),
    text: it.text,
    tokens: it.tokenCount ?? 0,
    budget: it.tokenBudget,
    sequences: it.utterances.map(({ sequence }) => Number(sequence)),
    rendered: it.utterances.map(({ utteranceId, sequence, renderedAs, messageIndex }) => ({
      utteranceId,
      sequence: Number(sequence),
      as: (RenderedAs[renderedAs] ?? "").toLowerCase(),
      message: messageIndex,
    })),
    whole: new Map(
      it.utterances
        .filter(({ renderedAs, messageIndex }) => renderedAs === RenderedAs.WHOLE && messageIndex !== undefined)
        .map(({ sequence, messageIndex }) => [Number(sequence), messageIndex!]),
    ),
    omitted: it.omitted.map(({ reason, sequences }) => ({
      reason: (OmissionReason[reason] ?? "").toLowerCase(),
      sequences: sequences.map(read.range),
    })),
    stableMessages: it.stablePrefixMessages ?? 0,
    uncovered: it.uncoveredUtteranceCount ?? 0,
    warnings: read.warnings(it.warnings),
    mediaLeftOut: it.warnings.some(({ kind }) => kind === WarningKind.PARTS_LEFT_OUT),
  };
  const messages = JSON.parse(it.messagesJson || "[]") as M[];
  for (const [name, value] of Object.entries(facts)) Object.defineProperty(messages, name, { value });
  return messages as Context<M>;
}

/** How to make a history fit. */
export interface PrepareOptions extends CallOptions {
  /** The user's next message. */
  readonly prompt?: string;
  /** 20 by default. */
  readonly maxMessages?: number;
  /** 102,400 by default. */
  readonly maxBytes?: number;
  readonly budget?: number;
  readonly format?: "openai" | "anthropic";
  /** The encoding to count tokens with, or the name of an OpenAI model. */
  readonly model?: string;
  /** Refuses a prompt that exceeds a limit by itself, instead of cutting it to its head and tail. */
  readonly wholeMessages?: boolean;
  /**
   * The most tokens of a summary of what does not fit; by default there is none. With one, `maxMessages` and `maxBytes`
   * are unlimited by default, and `budget` must be at least 65 tokens larger.
   */
  readonly summaryTokens?: number;
  /** Whether the summary goes into a system message (by default) or a user message. */
  readonly summary?: "system" | "user";
  /** If something does not fit, everything but at least this many of the newest messages is summarised. */
  readonly keepRecent?: number;
  /** Words that make a sentence of the summary more important. */
  readonly focus?: readonly string[];
}

/** The request of PrepareHistory. */
export function prepareRequest(messages: Messages, options: PrepareOptions) {
  return {
    messagesJson: read.asJson(messages),
    prompt: options.prompt,
    maxMessages: options.maxMessages,
    maxBytes: options.maxBytes,
    tokenBudget: options.budget,
    format: read.chosen("format", options.format ?? "openai", FORMATS),
    model: options.model,
    wholeMessages: options.wholeMessages,
    summaryTokenLimit: options.summaryTokens,
    summaryPlacement: read.chosen("summary", options.summary ?? "system", PLACES),
    keepRecent: options.keepRecent,
    focusAreas: [...(options.focus ?? [])],
  };
}

/** The result of PrepareHistory. */
export function preparedOf<M>(it: {
  messagesJson: string;
  system: string;
  tokenCount?: number;
  dropped: { index?: number; reason: DropReason; text: string }[];
  warnings: { text: string }[];
  summary: string;
}): Prepared<M> {
  return {
    messages: JSON.parse(it.messagesJson || "[]") as M[],
    system: it.system,
    tokens: it.tokenCount ?? 0,
    summary: it.summary,
    summarised: it.dropped.flatMap(({ index = 0, reason }) => (reason === DropReason.SUMMARISED ? [index] : [])),
    dropped: it.dropped.map(({ index = 0, text }) => droppedHere(index, textHere(text, 0))),
    warnings: read.warnings(it.warnings),
  };
}

function droppedHere(index: number, text: string): string {
  return text.startsWith(`messages[${index}]`) ? text : `messages[${index}]: ${text}`;
}
