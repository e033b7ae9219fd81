/** Converts protocol messages to plain values, and words to enum values. */
import { timestampDate, type Timestamp } from "@bufbuild/protobuf/wkt";

import type { Capacity as CapacityMessage } from "./_proto/utterd/v1/capacity_pb.js";
import {
  type Conversation as ConversationMessage,
  ConversationStatus,
  type Policy as PolicyMessage,
  PolicyPreset,
} from "./_proto/utterd/v1/conversation_pb.js";
import type { Message } from "./_proto/utterd/v1/message_pb.js";
import { ConversationFormat } from "./_proto/utterd/v1/transfer_pb.js";
import {
  Role as RoleValue,
  type SequenceRange as RangeMessage,
  type Utterance as UtteranceMessage,
  UtteranceState,
  type UtteranceRef,
} from "./_proto/utterd/v1/utterance_pb.js";
import type * as model from "./model.js";
import { textHere } from "./names.js";
import { escaped } from "./text.js";

export const FORMATS = {
  openai: ConversationFormat.OPENAI_CHAT,
  responses: ConversationFormat.OPENAI_RESPONSES,
  anthropic: ConversationFormat.ANTHROPIC_MESSAGES,
} as const satisfies Record<model.Format, ConversationFormat>;

export const ROLES = {
  system: RoleValue.SYSTEM,
  user: RoleValue.USER,
  assistant: RoleValue.ASSISTANT,
  tool: RoleValue.TOOL,
} as const satisfies Record<model.Role, RoleValue>;

export const STATUSES = {
  active: ConversationStatus.ACTIVE,
  awaiting_answer: ConversationStatus.AWAITING_ANSWER,
  idle: ConversationStatus.IDLE,
  closed: ConversationStatus.CLOSED,
} as const satisfies Record<model.Status, ConversationStatus>;

const PRESETS = {
  rolling: PolicyPreset.ROLLING,
  turns: PolicyPreset.TURNS,
  session: PolicyPreset.SESSION,
} as const;

/** The value for a word; TypeError for any other word, with the accepted ones. */
export function chosen<V extends number>(field: string, word: string, words: Readonly<Record<string, V>>): V;
export function chosen<V extends number>(
  field: string,
  word: string | undefined,
  words: Readonly<Record<string, V>>,
): V | undefined;
export function chosen<V extends number>(
  field: string,
  word: string | undefined,
  words: Readonly<Record<string, V>>,
): V | undefined {
  if (word === undefined) return undefined;
  const value = Object.hasOwn(words, word) ? words[word] : undefined;
  if (value === undefined) throw new TypeError(`${field}: "${word}"; accepted: ${Object.keys(words).join(", ")}`);
  return value;
}

/** The word for a value; undefined for unspecified and unknown values. */
function wordFor<W extends string>(value: number, words: Readonly<Record<W, number>>): W | undefined {
  return (Object.keys(words) as W[]).find((word) => words[word] === value);
}

/** A number from the caller that the protocol has in 64 bits. */
export function wide(field: string, value: number): bigint;
export function wide(field: string, value: number | undefined): bigint | undefined;
export function wide(field: string, value: number | undefined): bigint | undefined {
  if (value === undefined) return undefined;
  if (!Number.isSafeInteger(value)) throw new TypeError(`${field}: ${value}; accepted: whole numbers`);
  return BigInt(value);
}

function time(stamp: Timestamp | undefined): Date {
  return stamp === undefined ? new Date(0) : timestampDate(stamp);
}

export function capacity(it: CapacityMessage | undefined): model.Capacity {
  return {
    conversationId: it?.conversationId ?? "",
    recipientId: it?.recipientId ?? "",
    revision: Number(it?.revision ?? 0),
    status: wordFor(it?.status ?? 0, STATUSES),
    utterances: it?.utteranceCount ?? 0,
    tokens: it?.tokenCount ?? 0,
    turns: it?.turnCount ?? 0,
    archived: it?.archivedUtteranceCount ?? 0,
    maxUtterances: it?.maxUtterances,
    maxTokens: it?.maxTokens,
    maxTurns: it?.maxTurns,
    availableUtterances: it?.availableUtterances,
    availableTokens: it?.availableTokens,
    overLimit: it?.overLimit ?? false,
    summaryTokens: it?.summary?.tokenCount ?? 0,
    totalTokens: it?.totalTokenCount ?? 0,
    compactionAdvised: it?.compactionAdvice !== undefined,
  };
}

export function references(them: readonly UtteranceRef[]): model.Reference[] {
  return them.map((it) => ({
    utteranceId: it.utteranceId,
    sequence: Number(it.sequence),
    role: wordFor(it.role, ROLES),
    turn: it.turnNumber ?? 0,
    tokens: it.tokenCount ?? 0,
  }));
}

export function warnings(them: readonly { readonly text: string }[]): string[] {
  return them.map(({ text }) => textHere(text, 0));
}

export function range(it: RangeMessage): model.SequenceRange {
  return { first: Number(it.first), last: Number(it.last) };
}

export function message(it: Message): model.StoredMessage {
  const sequence = Number(it.sequence);
  return {
    message: JSON.parse(it.messageJson),
    json: it.messageJson,
    format: wordFor(it.format, FORMATS) ?? "openai",
    utteranceId: it.utteranceId,
    sequence,
    lastSequence: sequence + (it.utteranceCount ?? 1) - 1,
    role: wordFor(it.role, ROLES) ?? "user",
    turn: it.turnNumber ?? 0,
    time: time(it.createTime),
    archived: it.state === UtteranceState.EVICTED,
  };
}

export function utterance(it: UtteranceMessage): model.Utterance {
  return {
    utteranceId: it.utteranceId,
    sequence: Number(it.sequence),
    role: wordFor(it.role, ROLES) ?? "user",
    name: it.name,
    content: it.content,
    turn: it.turnNumber ?? 0,
    time: time(it.createTime),
    tokens: it.tokenCount ?? 0,
    pinned: it.pinned,
    toolCallId: it.toolCallId,
    metadata: { ...it.metadata },
  };
}

function policy(it: PolicyMessage | undefined): model.Policy {
  return {
    maxUtterances: it?.maxUtterances,
    keepUtterances: it?.keepUtterances,
    maxTokens: it?.maxTokens,
    keepTokens: it?.keepTokens,
    maxTurns: it?.maxTurns,
    keepTurns: it?.keepTurns,
    summaries: it?.summarizationEnabled,
    summaryTokenLimit: it?.summaryTokenLimit,
    archiveLimit: it?.archiveLimit,
  };
}

/** The policy to send. */
export function policyOf(limits: model.Policy | undefined) {
  if (limits === undefined) return undefined;
  const { preset, summaries, ...rest } = limits;
  return { ...rest, preset: chosen("policy.preset", preset, PRESETS), summarizationEnabled: summaries };
}

export function conversation(it: ConversationMessage | undefined): model.ConversationRecord {
  return {
    conversationId: it?.conversationId ?? "",
    recipientId: it?.recipientId ?? "",
    title: it?.title ?? "",
    startTime: time(it?.startTime),
    updateTime: time(it?.updateTime),
    endTime: it?.endTime && time(it.endTime),
    endedReason: it?.endedReason ?? "",
    closingSummary: it?.closingSummary ?? "",
    status: wordFor(it?.status ?? 0, STATUSES),
    active: it?.active ?? false,
    encoding: it?.encoding ?? "",
    policy: policy(it?.policy),
    labels: { ...it?.labels },
    revision: Number(it?.revision ?? 0),
    utterances: it?.utteranceCount ?? 0,
    forkedFrom: it?.forkedFrom?.conversationId,
  };
}

export function summary(it: { text: string; tokenCount?: number; conversationId: string }) {
  return { text: it.text, tokens: it.tokenCount ?? 0, conversationId: it.conversationId };
}

export function compacted(it: {
  conversationId: string;
  revision: bigint;
  compaction?: { compactedUtteranceCount?: number; tokenCountBefore?: number; tokenCountAfter?: number };
  capacity?: CapacityMessage;
}): model.Compacted {
  const total = it.capacity?.totalTokenCount ?? 0;
  return {
    conversationId: it.conversationId,
    revision: Number(it.revision),
    utterances: it.compaction?.compactedUtteranceCount ?? 0,
    tokensBefore: it.compaction?.tokenCountBefore ?? total,
    tokensAfter: it.compaction?.tokenCountAfter ?? total,
    summary: "",
    capacity: capacity(it.capacity),
  };
}

/** A JSON array of one message or several. A text is returned unchanged. */
export function asJson(messages: model.Messages): string {
  if (typeof messages !== "string") return `[${[messages].flat().map(messageJson).join()}]`;
  if (/^\s*[[{]/.test(messages)) return escaped(messages);
  throw new TypeError(`messages: ${JSON.stringify(messages)} is not JSON; ${example(messages)}`);
}

/** The JSON of a message, the one at an index. */
export function messageJson(message: object, index: number): string {
  const field = `messages[${index}]`;
  if (typeof message !== "object" || message === null) {
    throw new TypeError(`${field}: ${JSON.stringify(message)} is not a message; ${example(message)}`);
  }
  return JSON.stringify(message, (key, value: unknown) => {
    if (typeof value === "number" && !Number.isFinite(value)) {
      throw new TypeError(`${field}.${key}: ${value}; accepted: finite numbers`);
    }
    return value;
  });
}

function example(content: unknown): string {
  return `write { role: "user", content: ${JSON.stringify(typeof content === "string" ? content : "…")} }`;
}
