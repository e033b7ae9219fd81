/** A model server that speaks Anthropic's Messages API, and refuses what the provider refuses. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

export interface Block {
  readonly type: string;
  readonly text?: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly tool_use_id?: string;
  readonly content?: string | readonly Block[];
}

export interface Message {
  readonly role: string;
  readonly content: string | readonly Block[];
}

export interface Tool {
  readonly name: string;
  readonly input_schema: { readonly properties: Readonly<Record<string, unknown>> };
}

export interface Request {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly system?: string | readonly Block[];
  readonly tools?: readonly Tool[];
  readonly stream?: boolean;
}

/** What the model says to a request. */
export type Answer = (request: Request) => readonly Block[];

const BYTES_OF_A_TOKEN = 4;

/** The tokens of something, as the model counts them. */
export const tokensOf = (it: unknown): number => Math.ceil(Buffer.byteLength(JSON.stringify(it)) / BYTES_OF_A_TOKEN);

/** The blocks of a message. */
export const blocksOf = ({ content }: Message): readonly Block[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : content;

export class ModelServer {
  readonly requests: Request[] = [];
  /** Why requests were refused. */
  readonly refused: string[] = [];
  private readonly server = createServer((request, response) => void this.serve(request, response));

  private readonly answer: Answer;

  private constructor(answer: Answer) {
    this.answer = answer;
  }

  static async start(answer: Answer): Promise<ModelServer> {
    const model = new ModelServer(answer);
    model.server.listen(0, "127.0.0.1");
    await once(model.server, "listening");
    return model;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, "close");
  }

  private async serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(incoming.url ?? "", this.url);
    if (incoming.method !== "POST" || !pathname.startsWith("/v1/messages")) {
      send(response, 404, { type: "error", error: { type: "not_found_error", message: "not found" } });
      return;
    }
    const request = (await json(incoming)) as Request;
    const wrong = problemOf(request);
    if (wrong !== undefined) {
      this.refused.push(wrong);
      send(response, 400, { type: "error", error: { type: "invalid_request_error", message: wrong } });
    } else if (pathname.endsWith("/count_tokens")) {
      send(response, 200, { input_tokens: tokensOf(request) });
    } else {
      this.requests.push(request);
      respond(response, request, this.answer(request));
    }
  }
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function respond(response: ServerResponse, request: Request, content: readonly Block[]): void {
  const stop_reason = content.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn";
  const usage = {
    input_tokens: tokensOf([request.system, request.messages, request.tools]),
    output_tokens: tokensOf(content),
  };
  const message = { id: `msg_${Date.now()}`, type: "message", role: "assistant", model: request.model, usage };
  if (!request.stream) {
    send(response, 200, { ...message, content, stop_reason, stop_sequence: null });
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const event = (type: string, more: object) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`);
  event("message_start", { message: { ...message, content: [], stop_reason: null, stop_sequence: null } });
  content.forEach((block, index) => {
    event("content_block_start", { index, content_block: emptied(block) });
    event("content_block_delta", { index, delta: deltaOf(block) });
    event("content_block_stop", { index });
  });
  event("message_delta", { delta: { stop_reason, stop_sequence: null }, usage });
  event("message_stop", {});
  response.end();
}

const emptied = (block: Block): Block => (block.type === "text" ? { ...block, text: "" } : { ...block, input: {} });

const deltaOf = (block: Block): object =>
  block.type === "text"
    ? { type: "text_delta", text: block.text }
    : { type: "input_json_delta", partial_json: JSON.stringify(block.input) };

/** What the provider's API would refuse in a request; undefined if it is accepted. */
function problemOf(request: Request): string | undefined {
  // System messages may come anywhere.
  const messages = request.messages.filter(({ role }) => role !== "system");
  if (messages.length === 0) return "messages: at least one message is required";
  if (messages[0]!.role !== "user") return "messages.0: the first message must be the user's";
  for (const [place, message] of messages.entries()) {
    const wrong = problemOfMessage(message, place === 0 ? undefined : messages[place - 1]!, messages[place + 1]);
    if (wrong !== undefined) return `messages.${place}: ${wrong}`;
  }
  return undefined;
}

function problemOfMessage(message: Message, before: Message | undefined, after: Message | undefined) {
  if (!["user", "assistant"].includes(message.role)) return `role ${message.role} is not accepted`;
  const blocks = blocksOf(message);
  if (blocks.length === 0) return "content must not be empty";
  if (blocks.some(({ type, text }) => type === "text" && !text?.trim())) return "text must not be empty";
  const called = ids(message, "tool_use");
  const answered = ids(after, "tool_result");
  const missing = called.filter((id) => !answered.includes(id));
  if (missing.length > 0) return `tool_use ${missing} has no tool_result directly after it`;
  const calls = ids(before, "tool_use");
  const orphans = ids(message, "tool_result").filter((id) => !calls.includes(id));
  if (orphans.length > 0) return `tool_result ${orphans} has no tool_use directly before it`;
  const repeated = called.length !== new Set(called).size;
  return repeated ? "tool_use ids must be unique" : undefined;
}

function ids(message: Message | undefined, kind: "tool_use" | "tool_result"): string[] {
  if (message === undefined) return [];
  return blocksOf(message).flatMap(({ type, id, tool_use_id }) => (type === kind ? [(id ?? tool_use_id)!] : []));
}
