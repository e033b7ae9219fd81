/** Converts messages of the AI SDK to Anthropic's format, and back. */
import type {
  AssistantModelMessage,
  ModelMessage,
  TextPart,
  ToolCallPart,
  ToolModelMessage,
  ToolResultPart,
  UserModelMessage,
} from "ai";

import { fold, unfold } from "./fold.js";
import { blockOf, noteOf, partOf as mediaOf, type MediaBlock } from "./media.js";

/** The field of a message that holds the AI SDK's own data. */
const FIELD = "ai_sdk";

/** A message in Anthropic's format. */
export interface Said {
  role: "system" | "user" | "assistant";
  content: string | (Block | Thought)[];
  [field: string]: unknown;
}

interface Text {
  type: "text";
  text: string;
}
type Result = {
  type: "tool_result";
  tool_use_id: string;
  content?: string | (Text | MediaBlock)[];
  is_error?: boolean;
};
type Reasoning = { text: string; providerOptions?: Record<string, Record<string, unknown>> | undefined };
type Thought = { type: "thinking"; thinking: string; signature: string };
export type Block = MediaBlock | Text | { type: "tool_use"; id: string; name: string; input: object } | Result;

/** The message in Anthropic's format, with the AI SDK's own data in an extra field. */
export function saidBy(message: ModelMessage): object {
  const content = contentOf(message);
  // A tool message without results must not count as the user's: that would abandon the open calls.
  const others = message.role === "tool" && content.length === 0 ? "assistant" : "user";
  const role = message.role === "assistant" || message.role === "system" ? message.role : others;
  return fold({ role, content }, FIELD, message);
}

/** The AI SDK's message that is folded into a message; undefined if another program stored it, or edited its text. */
export function own(said: Said): ModelMessage | undefined {
  const message = FIELD in said ? (unfold(said, FIELD) as ModelMessage | undefined) : undefined;
  if (message === undefined) return undefined;
  const texts = blocksOf({ role: "user", content: contentOf(message) }).map(textIn);
  return blocksOf(said).every((block) => texts.includes(textIn(block))) ? message : undefined;
}

function textIn(block: Block): string {
  if (block.type === "text") return block.text;
  if (block.type !== "tool_result") return "";
  const { content = "" } = block;
  return typeof content === "string"
    ? content
    : content.flatMap((it) => (it.type === "text" ? it.text : [])).join("\n");
}

/** The tools of the calls in messages, by the calls' ids. */
export function namesOf(messages: readonly Said[]): ReadonlyMap<string, string> {
  const blocks = messages.flatMap(blocksOf);
  return new Map(blocks.flatMap((block) => (block.type === "tool_use" ? [[block.id, block.name]] : [])));
}

/** The content of a message as blocks, without its reasoning. */
export function blocksOf({ content }: Said): Block[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content.filter((block): block is Block => !/thinking$/.test(block.type));
}

/** Converts a message in Anthropic's format: results become a message of their own. */
export function saidByOthers(said: Said, names: ReadonlyMap<string, string>): ModelMessage[] {
  const blocks = blocksOf(said);
  const texts = blocks.flatMap((block): TextPart[] =>
    block.type === "text" ? [{ type: "text", text: block.text }] : [],
  );
  if (said.role === "system") return [{ role: "system", content: texts.map(({ text }) => text).join("\n\n") }];
  if (said.role === "assistant") {
    const content = blocks.flatMap((block) => partOf(block));
    return [{ role: "assistant", content } satisfies AssistantModelMessage];
  }
  const results = blocks.flatMap((block) => (block.type === "tool_result" ? [resultOf(block, names)] : []));
  const tool: ToolModelMessage[] = results.length > 0 ? [{ role: "tool", content: results }] : [];
  const content = blocks.flatMap((block) => userPartOf(block) ?? []);
  const user: UserModelMessage[] = content.length > 0 ? [{ role: "user", content }] : [];
  return [...tool, ...user];
}

function contentOf(message: ModelMessage): Said["content"] {
  if (typeof message.content === "string") return message.content;
  if (message.role === "tool")
    return message.content.flatMap((part) => (part.type === "tool-result" ? [result(part)] : []));
  return message.content.flatMap((part): (Block | Thought)[] => {
    if (part.type === "reasoning") return part.text ? [thought(part)] : [];
    if (part.type === "text") return part.text ? [{ type: "text", text: part.text }] : [];
    if (message.role === "user" && (part.type === "image" || part.type === "file")) return [blockOf(part)];
    // The format has no files of an assistant.
    if (part.type === "file") return [{ type: "text", text: noteOf(part) }];
    // A call that the provider ran has its result in the same message, where the format has no place for it.
    return part.type === "tool-call" && !part.providerExecuted ? [call(part)] : [];
  });
}

/** Reasoning, which counts in contexts. */
function thought({ text, providerOptions }: Reasoning): Thought {
  const signature = providerOptions?.["anthropic"]?.["signature"];
  return { type: "thinking", thinking: text, signature: typeof signature === "string" ? signature : "" };
}

function call({ toolCallId, toolName, input }: ToolCallPart): Block {
  const fits = typeof input === "object" && input !== null && !Array.isArray(input);
  return { type: "tool_use", id: toolCallId, name: toolName, input: fits ? input : { input } };
}

function result({ toolCallId, output }: ToolResultPart): Block {
  const failed = output.type.startsWith("error") || output.type === "execution-denied";
  return {
    type: "tool_result",
    tool_use_id: toolCallId,
    content: outputOf(output),
    ...(failed && { is_error: true }),
  };
}

function outputOf(output: ToolResultPart["output"]): string | (Text | MediaBlock)[] {
  if (output.type === "execution-denied") return output.reason ?? "the execution was denied";
  if (output.type !== "content") return typeof output.value === "string" ? output.value : JSON.stringify(output.value);
  const blocks = output.value.flatMap((part): (Text | MediaBlock)[] => {
    if (part.type === "text") return [{ type: "text", text: part.text }];
    if (part.type === "custom") return [];
    const block = blockOf(part);
    // The server renders no documents in results.
    return [block.type === "document" ? { type: "text", text: noteOf(part) } : block];
  });
  const texts = blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
  return texts.length === blocks.length ? texts.join("\n") : blocks;
}

function userPartOf(block: Block): TextPart | ReturnType<typeof mediaOf> {
  if (block.type === "text") return { type: "text", text: block.text };
  return block.type === "image" || block.type === "document" ? mediaOf(block) : undefined;
}

function partOf(block: Block): (TextPart | ToolCallPart)[] {
  if (block.type === "text") return [{ type: "text", text: block.text }];
  if (block.type !== "tool_use") return [];
  return [{ type: "tool-call", toolCallId: block.id, toolName: block.name, input: block.input }];
}

function resultOf(block: Result, names: ReadonlyMap<string, string>): ToolResultPart {
  const { tool_use_id: toolCallId } = block;
  const output = { type: block.is_error ? "error-text" : "text", value: textIn(block) } as const;
  return { type: "tool-result", toolCallId, toolName: names.get(toolCallId) ?? toolCallId, output };
}
