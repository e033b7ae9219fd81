/** Puts the AI SDK's own messages in place of what a context made of them. */
import { isDeepStrictEqual } from "node:util";

import type { ModelMessage } from "ai";

import type { Context, StoredMessage } from "./model.js";
import { type Block, blocksOf, namesOf, own, type Said, saidByOthers } from "./parts.js";

/** Messages for a model, and what the caller should know about them. */
export interface Restored {
  readonly messages: ModelMessage[];
  readonly warnings: string[];
}

/**
 * The messages of a context. Where it contains a stored message unchanged, the AI SDK's own takes its place. What the
 * context shortens, masks or adds is converted.
 */
export function restored(context: Context<Said>, stored: readonly StoredMessage<Said>[]): Restored {
  const names = namesOf(context);
  const sources = sourcesOf(context, stored);
  const turn = context.findLastIndex((said) => said.role === "user" && blocksOf(said).some(isSaid));
  const warnings: string[] = [];
  const messages = context.flatMap((said, index) => {
    const converted = (content: Block[]) => (content.length > 0 ? saidByOthers({ ...said, content }, names) : []);
    let rest = blocksOf(said);
    const found: ModelMessage[] = [];
    for (const { message, sequence } of sources.get(index) ?? []) {
      const original = own(message);
      const place = placeOf(message, rest);
      if (original === undefined || original.role === "system") continue;
      if (place === undefined) {
        if (hasFiles(original))
          warnings.push(`the files of the message at sequence ${sequence} are not in the context`);
        continue;
      }
      found.push(...converted(rest.slice(0, place.start)), ...(index < turn ? counted(original) : [original]));
      rest = rest.slice(place.end);
    }
    return [...found, ...converted(rest)];
  });
  return { messages, warnings };
}

function isSaid(block: Block): boolean {
  return block.type !== "tool_result";
}

/** The stored messages in each message of a context, by its index. */
function sourcesOf(context: Context<Said>, stored: readonly StoredMessage<Said>[]) {
  const bySequence = new Map<number, StoredMessage<Said>>();
  for (const source of stored) {
    for (let sequence = source.sequence; sequence <= source.lastSequence; sequence++) bySequence.set(sequence, source);
  }
  const sources = new Map<number, Set<StoredMessage<Said>>>();
  for (const { sequence, message, as } of context.rendered) {
    const source = bySequence.get(sequence);
    if (source === undefined || message === undefined || as === "recalled") continue;
    sources.set(message, (sources.get(message) ?? new Set()).add(source));
  }
  return sources;
}

/** Where the whole message is in the blocks; undefined if it is not, or was changed. */
function placeOf(message: Said, blocks: readonly Block[]) {
  const texts = blocksOf(message).flatMap((block) => (block.type === "text" ? [block.text] : []));
  const others = blocksOf(message).filter((block) => block.type !== "text");
  // Several texts are rendered as one, unless something must stay between them.
  const forms = [blocksOf(message), [{ type: "text", text: texts.join("\n") } as const, ...others]];
  for (const form of forms.filter(({ length }) => length > 0)) {
    const start = blocks.findIndex((_, at) => form.every((block, index) => isSame(block, blocks[at + index])));
    if (start >= 0) return { start, end: start + form.length };
  }
  return undefined;
}

function isSame(one: Block, other: Block | undefined): boolean {
  return other !== undefined && isDeepStrictEqual(plain(one), plain(other));
}

/** A result can be written in several ways. */
function plain(block: Block): Block {
  if (block.type !== "tool_result") return block;
  const { content = "", is_error = false } = block;
  return { ...block, is_error, content: typeof content === "string" ? [{ type: "text", text: content }] : content };
}

function hasFiles({ content }: ModelMessage): boolean {
  if (typeof content === "string") return false;
  return content.some((part) => {
    if (part.type !== "tool-result") return part.type === "image" || part.type === "file";
    return part.output.type === "content" && part.output.value.some(({ type }) => type !== "text");
  });
}

/**
 * A message of an older turn, without what the budget does not count: reasoning, and calls that the provider ran. What
 * remains loses the provider's options, which may refer to them.
 */
function counted(message: ModelMessage): ModelMessage[] {
  if (message.role !== "assistant" || typeof message.content === "string") return [message];
  const content = message.content.flatMap((part) => {
    if (part.type !== "text" && part.type !== "file" && (part.type !== "tool-call" || part.providerExecuted)) return [];
    const { providerOptions: _, ...rest } = part;
    return [rest];
  });
  if (content.length === message.content.length) return [message];
  return content.length > 0 ? [{ role: "assistant", content }] : [];
}
