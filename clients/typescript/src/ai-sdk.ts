/**
 * Message histories for the AI SDK, which gets them from its caller.
 *
 *     const history = new UtterdHistory("order-7", connect());
 *     await history.save({ role: "user", content: "Where is my order?" });
 *     const result = await generateText({ model, tools, ...(await history.context({ budget: 8000 })) });
 *     await history.save(result.response.messages);
 *
 * A message is stored in Anthropic's format, together with the AI SDK's own data, and is returned unchanged.
 */
import type {
  AssistantModelMessage,
  ModelMessage,
  TextPart,
  ToolCallPart,
  ToolModelMessage,
  ToolResultPart,
  UserModelMessage,
} from "ai";

import type { Client } from "./client.js";
import type { ContextOptions } from "./contexts.js";
import type { Conversation } from "./conversation.js";
import { NotFoundError } from "./errors.js";
import { fold, unfold } from "./fold.js";
import { fit } from "./ids.js";
import { blockOf, partOf as mediaOf, type MediaBlock } from "./media.js";
import type { CallOptions, Policy } from "./model.js";

/** The field of a message that holds the AI SDK's own data. */
const FIELD = "ai_sdk";

/** The recipient of a history, and its limits. */
export interface HistoryOptions {
  /** The conversation's recipient. */
  readonly user?: string;
  /** Limits for the conversation, if it starts here. */
  readonly policy?: Policy;
}

/** What goes to a model: spread it into the call. */
export interface ModelContext {
  /** Instructions and the summary; undefined if there are none. */
  system: string | undefined;
  messages: ModelMessage[];
}

/** The messages of a conversation on an utterd server. */
export class UtterdHistory {
  /** The conversation itself. */
  readonly conversation: Conversation;
  private policy: Policy | undefined;

  /** `sessionId`: the conversation's id, or a digest of it if it is too long or has control characters. */
  constructor(
    sessionId: string,
    private readonly memory: Client,
    private readonly options: HistoryOptions = {},
  ) {
    this.conversation = memory.conversation({ id: fit(sessionId), recipient: options.user });
    this.policy = options.policy;
  }

  /** Every stored message, or the newest `last`. */
  async load(options: CallOptions & { readonly last?: number } = {}): Promise<ModelMessage[]> {
    const stored = await orNone(this.conversation.messages<Said>({ ...options, format: "anthropic" }));
    const names = namesOf(stored ?? []);
    return (stored ?? []).flatMap((said) => own(said) ?? saidByOthers(said, names));
  }

  /** Stores messages, such as a result's `response.messages`, all or none. */
  async save(messages: ModelMessage | readonly ModelMessage[], options: CallOptions = {}): Promise<void> {
    const said = [messages].flat().map(saidBy);
    if (said.length === 0) return;
    if (this.policy !== undefined) {
      const { id } = this.conversation;
      const { user: recipient, policy } = this.options;
      await this.memory.create({ ...options, id, recipient, policy, existOk: true });
      this.policy = undefined;
    }
    await this.conversation.add(said, { ...options, format: "anthropic", lenient: true });
  }

  /**
   * What goes to the model within a token budget: a summary, and the newest messages in whole exchanges. System
   * messages at the head stay, and count towards the budget. Users' images and PDF files are included; what Anthropic's
   * format has no place for, such as audio, is left out.
   */
  async context(options: Omit<ContextOptions, "format"> = {}): Promise<ModelContext> {
    const wanted = { unanswered: "placeholder", ...options, format: "anthropic" } as const;
    const context = await orNone(this.conversation.context<Said>(wanted));
    if (context === undefined) return { system: options.instructions, messages: [] };
    const names = namesOf(context);
    const system = context.system.map(({ text }) => text).join("\n\n");
    return { system: system || undefined, messages: context.flatMap((said) => saidByOthers(said, names)) };
  }

  /** Removes all messages. */
  async clear(options: CallOptions = {}): Promise<void> {
    await this.conversation.clear(options);
  }
}

/** A message in Anthropic's format. */
interface Said {
  role: "system" | "user" | "assistant";
  content: string | Block[];
  [field: string]: unknown;
}

type Block =
  | MediaBlock
  | { type: "text"; text: string }
  | { type: "tool_use"; id: string; name: string; input: object }
  | { type: "tool_result"; tool_use_id: string; content?: string | { text?: string }[]; is_error?: boolean };

async function orNone<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}

/** The message in Anthropic's format, with the AI SDK's own data in an extra field. */
function saidBy(message: ModelMessage): object {
  const content = contentOf(message);
  // A tool message without results must not count as the user's: that would abandon the open calls.
  const others = message.role === "tool" && content.length === 0 ? "assistant" : "user";
  const role = message.role === "assistant" || message.role === "system" ? message.role : others;
  return fold({ role, content }, FIELD, message);
}

function contentOf(message: ModelMessage): string | Block[] {
  if (typeof message.content === "string") return message.content;
  if (message.role === "tool")
    return message.content.flatMap((part) => (part.type === "tool-result" ? [result(part)] : []));
  return message.content.flatMap((part): Block[] => {
    if (part.type === "text") return part.text ? [{ type: "text", text: part.text }] : [];
    if (message.role === "user" && (part.type === "image" || part.type === "file")) {
      const block = blockOf(part);
      return block ? [block] : [];
    }
    // A call that the provider ran has its result in the same message, where the format has no place for it.
    return part.type === "tool-call" && !part.providerExecuted ? [call(part)] : [];
  });
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
    content: textOf(output),
    ...(failed && { is_error: true }),
  };
}

function textOf(output: ToolResultPart["output"]): string {
  if (output.type === "execution-denied") return output.reason ?? "the execution was denied";
  if (output.type === "content") return output.value.flatMap((part) => ("text" in part ? [part.text] : [])).join("\n");
  return typeof output.value === "string" ? output.value : JSON.stringify(output.value);
}

/** The AI SDK's message that is folded into a message; undefined if another program stored it. */
function own(said: Said): ModelMessage | undefined {
  return FIELD in said ? (unfold(said, FIELD) as ModelMessage | undefined) : undefined;
}

/** The tools of the calls in messages, by the calls' ids. */
function namesOf(messages: readonly Said[]): ReadonlyMap<string, string> {
  const blocks = messages.flatMap(blocksOf);
  return new Map(blocks.flatMap((block) => (block.type === "tool_use" ? [[block.id, block.name]] : [])));
}

function blocksOf({ content }: Said): Block[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

/** Converts a message in Anthropic's format, such as a context's: results become a message of their own. */
function saidByOthers(said: Said, names: ReadonlyMap<string, string>): ModelMessage[] {
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

function userPartOf(block: Block): TextPart | ReturnType<typeof mediaOf> {
  if (block.type === "text") return { type: "text", text: block.text };
  return block.type === "image" || block.type === "document" ? mediaOf(block) : undefined;
}

function partOf(block: Block): (TextPart | ToolCallPart)[] {
  if (block.type === "text") return [{ type: "text", text: block.text }];
  if (block.type !== "tool_use") return [];
  return [{ type: "tool-call", toolCallId: block.id, toolName: block.name, input: block.input }];
}

function resultOf(block: Block & { type: "tool_result" }, names: ReadonlyMap<string, string>): ToolResultPart {
  const { content = "", tool_use_id: toolCallId } = block;
  const value = typeof content === "string" ? content : content.flatMap(({ text }) => text ?? []).join("\n");
  const type = block.is_error ? "error-text" : "text";
  return { type: "tool-result", toolCallId, toolName: names.get(toolCallId) ?? toolCallId, output: { type, value } };
}
