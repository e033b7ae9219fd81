/** The messages of pi, and of agents that are made with its SDK, as OpenAI's chat messages, which the server reads. */

/** A message of pi; those of other roles than `user`, `assistant` and `toolResult` are left out. */
export interface PiMessage {
  readonly role: string;
  readonly content?: string | readonly PiPart[];
  /** The call that a `toolResult` answers. */
  readonly toolCallId?: string;
}

/** A part of a message; others than `text` and `toolCall` are left out. */
export interface PiPart {
  readonly type: string;
  readonly text?: string;
  readonly id?: string;
  readonly name?: string;
  readonly arguments?: unknown;
}

/** A message of OpenAI's chat. */
export interface ChatMessage {
  readonly role: "user" | "assistant" | "tool";
  readonly content: string;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly ChatCall[];
}

/** A call in a message. */
export interface ChatCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

/** The message of OpenAI's chat that says what a message of pi says; none if that is for pi alone. */
export function chatMessage({ role, content = "", toolCallId = "" }: PiMessage): ChatMessage[] {
  switch (role) {
    case "user":
      return [{ role, content: textOf(content) }];
    case "assistant":
      return [{ role, content: textOf(content), tool_calls: callsOf(content) }];
    case "toolResult":
      return [{ role: "tool", content: textOf(content), tool_call_id: toolCallId }];
    default:
      return [];
  }
}

/** A message with the lines of a summary, in the form that `prepare` continues. */
export function summaryMessage(lines: string): { readonly role: "user"; readonly content: string } {
  const [before, after] = [
    "[CONVERSATION HISTORY SUMMARY - 1 messages]",
    "[END SUMMARY - Recent conversation continues below]",
  ];
  return { role: "user", content: `${before}\n\n${lines.trimEnd()}\n\n${after}` };
}

function callsOf(content: string | readonly PiPart[]): ChatCall[] | undefined {
  if (typeof content === "string") return undefined;
  const calls = content.flatMap(({ type, id = "", name = "", arguments: given = {} }): ChatCall[] =>
    type === "toolCall" ? [{ id, type: "function", function: { name, arguments: JSON.stringify(given) } }] : [],
  );
  return calls.length > 0 ? calls : undefined;
}

function textOf(content: string | readonly PiPart[]): string {
  if (typeof content === "string") return content;
  return content.flatMap(({ type, text = "" }) => (type === "text" ? [text] : [])).join("\n");
}
