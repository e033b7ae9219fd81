/** Puts the AI SDK's own messages in place of what a context made of them. */
import { isDeepStrictEqual } from "node:util";

import type { ModelMessage } from "ai";

import type { Context, Original } from "./model.js";
import { type Block, blocksOf, namesOf, own, type Said, saidByOthers } from "./parts.js";

/** Messages for a model, and what the caller should know about them. */
export interface Restored {
  readonly messages: ModelMessage[];
  readonly warnings: string[];
}

/**
 * The messages of a context. Where it contains a stored message unchanged, the AI SDK's own takes its place. What the
 * context shortens, masks or adds is converted. With `open`, the calls of the newest exchange wait for their results.
 */
export function restored(context: Context<Said>, originals: readonly Original<Said>[][], open: boolean): Restored {
  const names = namesOf(context);
  const waiting = open ? openCalls(context, originals.flat()) : new Set();
  const waits = (block: Block) => block.type === "tool_result" && waiting.has(block.tool_use_id);
  const turn = context.findLastIndex((said) => said.role === "user" && blocksOf(said).some(isSaid));
  const owns = new Map(originals.flat().map(({ sequence, message }) => [sequence, own(message)]));
  const older = originals.slice(0, Math.max(turn, 0)).flat();
  const keeps = hasRoom(
    context,
    older.flatMap(({ sequence }) => owns.get(sequence) ?? []),
  );
  const warnings: string[] = [];
  const messages = context.flatMap((said, index) => {
    const blocks = blocksOf(said);
    const taken = new Set<number>();
    const placed = (originals[index] ?? []).flatMap(({ message, sequence, whole }) => {
      const original = owns.get(sequence);
      if (original === undefined || original.role === "system" || original.content.length === 0) return [];
      const places = placesOf(message, blocks, taken);
      if (places === undefined && !hasFilesOf(original, message, blocks))
        warnings.push(`the files of the message at sequence ${sequence} are not in the context`);
      return places === undefined ? [] : [{ original, whole, start: Math.min(...places) }];
    });
    let at = 0;
    const convertedTo = (end: number) => {
      const content = blocks.filter((block, place) => place >= at && place < end && !taken.has(place) && !waits(block));
      at = Math.max(at, end);
      return content.length > 0 ? saidByOthers({ ...said, content }, names) : [];
    };
    const found = placed.flatMap(({ original, whole, start }) => [
      ...(start === Infinity ? [] : convertedTo(start)),
      ...(whole && (keeps || index >= turn) ? [original] : plain(original)),
    ]);
    return [...found, ...convertedTo(blocks.length)];
  });
  return { messages, warnings };
}

function isSaid(block: Block): boolean {
  return block.type !== "tool_result";
}

/** The ids, as the context has them, of the newest calls that have no result yet; none if the user has gone on. */
function openCalls(context: Context<Said>, stored: readonly Original<Said>[]): ReadonlySet<string> {
  const said = stored.map(({ message }) => message);
  const last = said.findLastIndex((it) => callsOf(it).length > 0);
  const at = context.findLastIndex((it) => callsOf(it).length > 0);
  if (last < 0 || context.slice(at + 1).some((it) => blocksOf(it).some(isSaid))) return new Set();
  const answered = new Set(said.slice(last).flatMap((it) => blocksOf(it).flatMap(answerOf)));
  const calls = callsOf(said[last]!);
  // The context can have other ids.
  const shown = callsOf(context[at]!).slice(-calls.length);
  return new Set(shown.filter((_, index) => !answered.has(calls[index]!)));
}

function callsOf(said: Said): string[] {
  return blocksOf(said).flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
}

function answerOf(block: Block): string[] {
  return block.type === "tool_result" ? [block.tool_use_id] : [];
}

/** Takes the blocks of a whole message. Returns their places; undefined if it is not there, or was changed. */
function placesOf(message: Said, blocks: readonly Block[], taken: Set<number>): number[] | undefined {
  const texts = blocksOf(message).flatMap((block) => (block.type === "text" ? [block.text] : []));
  const others = blocksOf(message).filter((block) => block.type !== "text");
  // Several texts are rendered as one, unless something must stay between them.
  const joined = texts.length > 1 ? [[{ type: "text", text: texts.join("\n") } as const, ...others]] : [];
  for (const form of [blocksOf(message), ...joined]) {
    const places: number[] = [];
    for (const block of form) {
      const place = blocks.findIndex((it, at) => !taken.has(at) && !places.includes(at) && isSame(block, it));
      if (place >= 0) places.push(place);
    }
    if (places.length < form.length) continue;
    places.forEach((place) => taken.add(place));
    return places;
  }
  return undefined;
}

function isSame(one: Block, other: Block): boolean {
  return isDeepStrictEqual(essence(one), essence(other));
}

/** A result can be written in several ways, and ids and names can be replaced by those that the format accepts. */
function essence(block: Block): object {
  if (block.type === "text") return { text: block.text.trimEnd() };
  if (block.type === "tool_use") return { input: block.input };
  if (block.type !== "tool_result") return block;
  const { content = "", is_error = false } = block;
  return { is_error, content: typeof content === "string" ? [{ type: "text", text: content }] : content };
}

/** Whether the blocks have the files of a message, whose words are shortened. */
function hasFilesOf(original: ModelMessage, message: Said, blocks: readonly Block[]): boolean {
  const files = blocksOf(message).filter(({ type }) => type === "image" || type === "document");
  return files.length === filesIn(original) && files.every((file) => blocks.some((block) => isSame(file, block)));
}

function filesIn({ content }: ModelMessage): number {
  if (typeof content === "string") return 0;
  const files = content.flatMap((part): unknown[] => {
    if (part.type !== "tool-result") return part.type === "image" || part.type === "file" ? [part] : [];
    return part.output.type === "content" ? part.output.value.filter(({ type }) => type !== "text") : [];
  });
  return files.length;
}

/** Whether the budget also has room for what it does not count of these messages: a token for each 3 bytes of it. */
function hasRoom({ tokens, budget = Infinity }: Context<Said>, messages: readonly ModelMessage[]): boolean {
  const parts = messages.flatMap((message) => partsOf(message).filter((part) => isUncounted(part, message)));
  return parts.length === 0 || tokens + Buffer.byteLength(JSON.stringify(parts)) / 3 <= budget;
}

/**
 * A message without its reasoning, and without what the budget does not count. What remains loses the provider's options,
 * which may refer to them.
 */
function plain(message: ModelMessage): ModelMessage[] {
  const parts = partsOf(message);
  const kept = parts.filter((part) => part.type !== "reasoning" && !isUncounted(part, message));
  if (kept.length === parts.length) return [message];
  if (kept.length === 0) return [];
  return [{ role: message.role, content: kept.map(({ providerOptions: _, ...rest }) => rest) } as ModelMessage];
}

/** A part of an assistant's or a tool's message. */
interface Part {
  readonly type: string;
  readonly toolCallId?: string;
  readonly providerExecuted?: boolean;
  readonly providerOptions?: unknown;
}

function partsOf({ role, content }: ModelMessage): readonly Part[] {
  return role === "user" || typeof content === "string" ? [] : (content as readonly Part[]);
}

/** Whether it is a call that the provider ran, with its approval, or of an unknown type. */
function isUncounted({ type, toolCallId, providerExecuted }: Part, message: ModelMessage): boolean {
  if (type === "tool-approval-request") {
    return partsOf(message).some((part) => part.toolCallId === toolCallId && part.providerExecuted);
  }
  if (type === "tool-result") return message.role !== "tool";
  const counted = ["text", "reasoning", "file", "tool-call", "tool-approval-response"];
  return !counted.includes(type) || providerExecuted === true;
}
