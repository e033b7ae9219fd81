/** OpenClaw's messages: what they are called in the store, and what they say there. */
import type { OpenClawPluginApi } from "openclaw/plugin-sdk/core";
import { type ChatCall, chatMessage, type ChatMessage, type PiMessage } from "utterd/pi-messages";

export type Engine = Awaited<ReturnType<Parameters<OpenClawPluginApi["registerContextEngine"]>[1]>>;
export type HostMessage = Parameters<Engine["assemble"]>[0]["messages"][number];

/** A message, its id in the store, and what it says there. */
export interface Named {
  readonly id: string;
  readonly message: HostMessage;
  readonly chat: ChatMessage;
}

/** The times of messages that the context engine makes have a fraction; OpenClaw's have none. */
const MADE = 0.5;

/** Whether the context engine has made a message: a summary, or what OpenClaw itself has not read. */
export const isMade = ({ timestamp }: HostMessage): boolean => Number(timestamp) % 1 === MADE;

/**
 * The messages with their ids. OpenClaw gives none, but its messages keep their time. Calls and their results are named
 * by the message with the call, because OpenClaw changes the ids of calls to suit the model, and adds missing results.
 */
export function named(messages: readonly HostMessage[]): Named[] {
  const seen = new Map<string, number>();
  const calls = new Map<string, string>();
  return messages
    .filter((message) => !isMade(message))
    .map((message) => {
      const result = message.role === "toolResult" ? calls.get(message.toolCallId) : undefined;
      const name = result ?? `${message.role}${message.timestamp}`;
      const count = (seen.get(name) ?? 0) + 1;
      seen.set(name, count);
      const id = count === 1 ? name : `${name}n${count}`;
      callsOf(message).forEach((call, index) => calls.set(call, `${id}c${index + 1}`));
      return { id, message, chat: chatOf(message, calls) };
    });
}

function callsOf(message: HostMessage): string[] {
  if (message.role !== "assistant" || typeof message.content === "string") return [];
  return message.content.flatMap((part) => (part.type === "toolCall" ? [part.id] : []));
}

function chatOf(message: HostMessage, calls: ReadonlyMap<string, string>): ChatMessage {
  const [chat = chatMessage({ role: "user", content: textOf(message) })[0]!] = chatMessage(message as PiMessage);
  return {
    ...chat,
    ...(chat.tool_call_id === undefined ? {} : { tool_call_id: calls.get(chat.tool_call_id) ?? chat.tool_call_id }),
    ...(chat.tool_calls && { tool_calls: chat.tool_calls.map((call) => ({ ...call, id: calls.get(call.id)! })) }),
  };
}

/** What a message of OpenClaw's own says to the model. */
function textOf(message: HostMessage): PiMessage["content"] {
  switch (message.role) {
    case "compactionSummary":
    case "branchSummary":
      return message.summary;
    case "bashExecution":
      return `${message.command}\n${message.output}`;
    default:
      return message.content as PiMessage["content"];
  }
}

/** A message of a context as one of OpenClaw's. `id` is that of a stored message, `tools` has the tools' names by call. */
export function made(chat: ChatMessage, id: string, tools: ReadonlyMap<string, string>): HostMessage {
  const timestamp = Number(/\d+/.exec(id)?.[0] ?? 0) + MADE;
  const text = { type: "text", text: chat.content ?? "" } as const;
  switch (chat.role) {
    case "assistant": {
      const calls = chat.tool_calls ?? [];
      return {
        ...UNKNOWN,
        role: "assistant",
        content: [...(text.text ? [text] : []), ...calls.map(callOf)],
        timestamp,
      };
    }
    case "tool": {
      const toolCallId = chat.tool_call_id ?? "";
      const toolName = tools.get(toolCallId) ?? "";
      return { role: "toolResult", toolCallId, toolName, content: [text], isError: false, timestamp };
    }
    default:
      return { role: "user", content: text.text, timestamp };
  }
}

const COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
/** What is not stored of an answer. */
const UNKNOWN = {
  api: "openai-completions",
  provider: "utterd",
  model: "utterd",
  usage: { ...COST, totalTokens: 0, cost: COST },
  stopReason: "stop",
} as const;

function callOf({ id, function: { name, arguments: given } }: ChatCall) {
  return { type: "toolCall", id, name, arguments: JSON.parse(given) } as const;
}

/** A message with a shorter text; its calls stay. */
export function shortened(message: HostMessage, text: string): HostMessage {
  if (message.role !== "user" && message.role !== "assistant" && message.role !== "toolResult") return message;
  const calls = Array.isArray(message.content) ? message.content.filter(({ type }) => type === "toolCall") : [];
  return { ...message, content: [...(text ? [{ type: "text", text }] : []), ...calls] } as HostMessage;
}

/** About how many tokens a picture has. */
const PICTURE = 1_200;
const CHARACTERS_OF_A_TOKEN = 4;

/** About how many tokens a message has beside its text and calls. */
export function tokensBesideText(message: HostMessage): number {
  if (!("content" in message) || typeof message.content === "string") return 0;
  return message.content.reduce((sum, part) => {
    if (part.type === "image") return sum + PICTURE;
    return part.type === "thinking" ? sum + part.thinking.length / CHARACTERS_OF_A_TOKEN : sum;
  }, 0);
}
