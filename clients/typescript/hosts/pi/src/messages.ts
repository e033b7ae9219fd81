/** pi's messages as OpenAI's chat messages, which the server reads. */
import type { AssistantMessage, Message } from "@earendil-works/pi-ai";

/** A message of OpenAI's chat. */
export interface ChatMessage {
  readonly role: "user" | "assistant" | "tool";
  readonly content: string;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly ToolCall[];
}

interface ToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

/** The summary of the last compaction, in the form in which the server continues it; none if there is no summary. */
export function earlierSummary(lines: string | undefined): ChatMessage[] {
  if (!lines) return [];
  const content = `[CONVERSATION HISTORY SUMMARY - 1 messages]\n\n${lines.trimEnd()}\n\n[END SUMMARY - Recent conversation continues below]`;
  return [{ role: "user", content }];
}

/** A message; none in the place of pi's system messages, which stay in the context. */
export function chatMessage(message: Message): ChatMessage[] {
  switch (message.role) {
    case "user":
      return [{ role: "user", content: textOf(message.content) }];
    case "assistant":
      return [{ role: "assistant", content: textOf(message.content), tool_calls: callsOf(message) }];
    case "toolResult":
      return [{ role: "tool", content: textOf(message.content), tool_call_id: message.toolCallId }];
    case "system":
      return [];
  }
}

function callsOf({ content }: AssistantMessage): ToolCall[] | undefined {
  const calls = content.flatMap((part): ToolCall[] =>
    part.type === "toolCall"
      ? [{ id: part.id, type: "function", function: { name: part.name, arguments: JSON.stringify(part.arguments) } }]
      : [],
  );
  return calls.length > 0 ? calls : undefined;
}

/** The text of a message's content; thoughts and images are left out. */
function textOf(content: string | readonly { readonly type: string; readonly text?: string }[]): string {
  if (typeof content === "string") return content;
  return content.flatMap((part) => (part.type === "text" ? [part.text ?? ""] : [])).join("\n");
}
