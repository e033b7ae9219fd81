/** The stored messages behind a context. */
import type { Conversation } from "./conversation.js";
import { orNone } from "./errors.js";
import { portionsOf } from "./lists.js";
import type { CallOptions, Context, Format, Original, StoredMessage } from "./model.js";
import type { ListOptions } from "./options.js";

/** How a message that is in its place among the newest is rendered. */
const IN_PLACE = ["whole", "masked", "trimmed"];
const UNCHANGED = ["whole", "instruction", "pinned"];

/**
 * For each message of a context, the stored messages that it shows, in their order; none for a message that the context
 * adds, such as a summary. Those that are `whole` can take its place. A message without words, such as reasoning or an
 * approval, is in no context of the server; it comes with the message before which it was said, or with the last.
 */
export async function originals<M = any>(
  conversation: Conversation,
  context: Context,
  options: CallOptions & { readonly format?: Format } = {},
): Promise<Original<M>[][]> {
  const read = async (which: ListOptions) => {
    const stored = await orNone(conversation.stored<M>({ ...options, ...which }));
    return stored?.messages ?? [];
  };
  const shown = context.rendered.filter(({ as, message }) => message !== undefined && as !== "recalled");
  const [inPlace, moved] = [true, false].map((wanted) => shown.filter(({ as }) => IN_PLACE.includes(as) === wanted));
  const found: StoredMessage<M>[] = [];
  for (const ids of portionsOf(moved!.map(({ utteranceId }) => utteranceId))) {
    if (ids.length > 0) found.push(...(await read({ ids })));
  }
  const first = firstOf(context, inPlace!);
  if (first !== undefined) found.push(...(await read({ after: first - 1 })));
  return grouped(context, [...new Map(found.map((it) => [it.sequence, it])).values()].sort(bySequence));
}

function bySequence(one: StoredMessage, other: StoredMessage): number {
  return one.sequence - other.sequence;
}

/** The sequence from which on the messages in their place are read. */
function firstOf(context: Context, inPlace: Context["rendered"]): number | undefined {
  let first = inPlace.map(({ sequence }) => sequence).reduce((one, other) => Math.min(one, other), Infinity);
  if (first === Infinity) return undefined;
  while (isWordless(context, first - 1)) first -= 1;
  return first;
}

function isWordless({ omitted }: Context, sequence: number): boolean {
  const empty = omitted.filter(({ reason }) => reason === "empty").flatMap(({ sequences }) => sequences);
  return empty.some(({ first, last }) => first <= sequence && sequence <= last);
}

function grouped<M>(context: Context, found: readonly StoredMessage<M>[]): Original<M>[][] {
  const groups: Original<M>[][] = context.map(() => []);
  const places = new Map(context.rendered.filter(({ as }) => as !== "recalled").map((it) => [it.sequence, it]));
  let wordless: Original<M>[] = [];
  let last: Original<M>[] | undefined;
  for (const stored of found) {
    const shown = sequencesOf(stored).flatMap((sequence) => places.get(sequence) ?? []);
    const index = shown[0]?.message;
    if (index === undefined) {
      if (isWordless(context, stored.sequence)) wordless.push({ ...stored, whole: true });
      continue;
    }
    const whole = shown.every(({ as, message }) => UNCHANGED.includes(as) && message === index);
    last = groups[index]!;
    last.push(...wordless, { ...stored, whole: whole && shown.length === sequencesOf(stored).length });
    wordless = [];
  }
  last?.push(...wordless);
  return groups;
}

function sequencesOf({ sequence, lastSequence }: StoredMessage): number[] {
  return Array.from({ length: lastSequence - sequence + 1 }, (_, index) => sequence + index);
}
