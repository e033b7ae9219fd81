/** Adding messages. What is too much for one call goes in several, one after the other. */
import type { MessageInitShape } from "@bufbuild/protobuf";

import type { MemorizeRequestSchema, MemorizeResponse } from "./_proto/utterd/v1/memory_service_pb.js";
import type { Calls } from "./calls.js";
import type { Added, Messages } from "./model.js";
import type { AddOptions } from "./options.js";
import * as read from "./read.js";
import { changeOf } from "./state.js";

/** The most utterances in one call. */
const UTTERANCES = 1_000;
/** The most characters of JSON in one call, unless one message is longer. The server accepts 16 MiB. */
const CHARACTERS = 4 * 1024 * 1024;

/** Where to add, and what every change sends. */
interface Place {
  readonly conversationId?: string;
  readonly recipientId?: string;
  readonly expectedRevision?: bigint;
  readonly requestId: string;
}

/** What one call adds. */
interface Part {
  /** Messages before it. */
  readonly start: number;
  readonly messagesJson: string;
  readonly messageIds: string[];
}

/** Adds messages after a sequence, or at the end. */
export async function memorize(
  calls: Calls,
  place: Place,
  messages: Messages,
  after: number | undefined,
  options: AddOptions,
): Promise<Added> {
  const { format, upsert, lenient, state, recipientState } = options;
  const shared = { ...place, format: read.chosen("format", format, read.FORMATS), upsert, lenient };
  const [head, ...rest] = partsOf(messages, options.ids ?? []);
  const send = async ({ start, ...part }: Part, how: MessageInitShape<typeof MemorizeRequestSchema>) => {
    const told = { requestId: place.requestId, firstMessage: start };
    return addedOf(await calls.make(calls.memory.memorize, { ...shared, ...how, ...part }, options, told));
  };
  let added = await send(head!, {
    replaceAfter: read.wide("sequence", after),
    state: state && changeOf("state", state),
    recipientState: recipientState && changeOf("recipientState", recipientState),
  });
  for (const part of rest) {
    const { conversationId, revision } = added;
    // A repetition makes the same parts, under the same ids.
    const requestId = `${place.requestId}-${part.start}`;
    const expectedRevision = place.expectedRevision === undefined ? undefined : BigInt(revision);
    added = joined(added, await send(part, { conversationId, requestId, expectedRevision }));
  }
  return added;
}

/** JSON text is one part: to split it would change it. */
function partsOf(messages: Messages, ids: readonly string[]): Part[] {
  if (typeof messages === "string") return [{ start: 0, messagesJson: read.asJson(messages), messageIds: [...ids] }];
  const them: readonly object[] = [messages].flat();
  if (ids.length > 0 && ids.length !== them.length) {
    throw new TypeError(`ids: has ${ids.length}; accepted: one for each of the ${them.length} messages, or none`);
  }
  const texts = them.map((message, index) => read.messageJson(message, index));
  const starts = [0];
  let [utterances, characters] = [0, 0];
  them.forEach((message, index) => {
    utterances += utterancesOf(message);
    characters += texts[index]!.length;
    if (index === starts.at(-1) || (utterances <= UTTERANCES && characters <= CHARACTERS)) return;
    starts.push(index);
    [utterances, characters] = [utterancesOf(message), texts[index]!.length];
  });
  return starts.map((start, index) => {
    const end = starts[index + 1];
    return { start, messagesJson: `[${texts.slice(start, end).join()}]`, messageIds: ids.slice(start, end) };
  });
}

/** At least as many as the message becomes: in Anthropic's format, each result is one. */
function utterancesOf(message: object): number {
  const content = "content" in message && Array.isArray(message.content) ? message.content : [];
  return 1 + content.filter((block: { type?: unknown } | null) => block?.type === "tool_result").length;
}

function addedOf(it: MemorizeResponse): Added {
  return {
    conversationId: it.conversationId,
    revision: Number(it.revision),
    memorized: read.references(it.memorized),
    evicted: read.references(it.evicted),
    removed: read.references(it.removed),
    capacity: read.capacity(it.capacity),
    started: it.startedConversation,
    replayed: it.replayed,
    irregularities: it.irregularities.map(({ index = 0, sequence, description }) => ({
      index,
      sequence: Number(sequence),
      description,
    })),
    endedConversationId: it.endedConversationId || undefined,
  };
}

/** What two calls did, one after the other. */
function joined(first: Added, second: Added): Added {
  const later = second.irregularities.map((it) => ({ ...it, index: it.index + first.memorized.length }));
  return {
    ...first,
    revision: second.revision,
    memorized: [...first.memorized, ...second.memorized],
    evicted: [...first.evicted, ...second.evicted],
    capacity: second.capacity,
    replayed: first.replayed && second.replayed,
    irregularities: [...first.irregularities, ...later],
  };
}
