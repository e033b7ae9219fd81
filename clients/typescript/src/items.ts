/** Converts items of the OpenAI Agents SDK to the Responses API's form, and back. */
import { isDeepStrictEqual } from "node:util";

import type { AgentInputItem } from "@openai/agents";

import { fold, unfold } from "./fold.js";
import { blockOf } from "./media.js";

/** The field of a message that holds the SDK's own item. */
const FIELD = "openai_agents_js";
/** The Responses API's names of the items that the SDK calls otherwise. */
const TYPES: Readonly<Record<string, string>> = {
  function_call_result: "function_call_output",
  computer_call_result: "computer_call_output",
};

type Fields = Record<string, unknown>;

/** An item of the Responses API, or a message of OpenAI's chat. */
export interface Said extends Fields {
  readonly type?: string;
  readonly role?: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { name: string; arguments: string } }[];
}

/** The item in the Responses API's form, with the SDK's own in an extra field. */
export function saidBy(item: AgentInputItem): object {
  return fold(said(item), FIELD, item);
}

/** The SDK's items for messages: its own, or converted if another program stored them, or edited their texts. */
export function itemsOf(messages: readonly Said[]): AgentInputItem[] {
  const names = namesOf(messages);
  return messages.flatMap((message) => {
    const item = own(message);
    return item === undefined ? saidByOthers(message, names) : [item];
  });
}

/** Whether the item has a picture or a file. */
export function hasMedia(message: Said): boolean {
  const parts = [message.content ?? message["output"]].flat();
  return parts.some((part) => /^input_(image|file)$/.test(String((part as Fields | undefined)?.["type"])));
}

function said(item: AgentInputItem): Fields {
  const { type = "message", name, providerData, role, content, output, ...rest } = item as Fields;
  // The SDK has an item of the API that it does not know in the data of the provider.
  if (type === "hosted_tool_call") return { ...snake({ ...rest, output }), ...(providerData as Fields), type: name };
  if (type === "message") return { type, role, content: partsOf(content, role === "assistant" ? "output" : "input") };
  const fields = { type: TYPES[String(type)] ?? type, ...snake(rest), ...(name !== undefined && { name }) };
  if (type === "reasoning") {
    return { ...fields, summary: [content].flat().map((part) => ({ type: "summary_text", text: textIn(part) })) };
  }
  if (type === "function_call_result") return { ...fields, output: partsOf(output, "input") };
  return { ...fields, ...(output !== undefined && (snake({ output }) as Fields)) };
}

/** With the API's names of fields. */
function snake<T>(value: T): T {
  if (Array.isArray(value)) return value.map(snake) as T;
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  const fields = Object.entries(value).filter(([key]) => key !== "providerData");
  const named = (key: string) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(fields.map(([key, part]) => [named(key), snake(part)])) as T;
}

function partsOf(content: unknown, side: "input" | "output"): unknown {
  if (typeof content === "string" || content === undefined) return content;
  return [content].flat().map((part) => partOf(part as Fields, side));
}

function partOf(part: Fields, side: "input" | "output"): Fields {
  const { type, text, refusal, image, file, detail, filename, mediaType, transcript } = part;
  const written = text ?? transcript;
  if (typeof written === "string") return { type: `${side}_text`, text: written };
  if (refusal !== undefined) return { type: "refusal", refusal };
  const kind = image === undefined ? "file" : "image";
  const media = (image ?? file) as Fields | undefined;
  const id = media?.["id"] ?? media?.["fileId"];
  if (id !== undefined) return { type: `input_${kind}`, file_id: id };
  const known = { type: kind, data: media, mediaType, filename, ...(typeof media === "object" && media) };
  const block = blockOf((media === undefined ? { ...part, type } : known) as never);
  if (block.type === "text") return { type: `${side}_text`, text: block.text };
  const { source, title } = block;
  const url = source.type === "url" ? source.url : `data:${source.media_type};base64,${source.data}`;
  if (block.type === "image") return { type: "input_image", image_url: url, ...(detail !== undefined && { detail }) };
  const named = title === undefined ? {} : { filename: title };
  return { type: "input_file", ...named, [source.type === "url" ? "file_url" : "file_data"]: url };
}

/** The item that is folded into a message; undefined if another program stored it, or edited its text. */
export function own(message: Said): AgentInputItem | undefined {
  if (!(FIELD in message)) return undefined;
  const item = unfold(message, FIELD) as AgentInputItem | undefined;
  const { [FIELD]: _, ...rest } = message;
  return item !== undefined && isDeepStrictEqual(JSON.parse(JSON.stringify(said(item))), rest) ? item : undefined;
}

/** The tools of the calls in messages, by the calls' ids. */
function namesOf(messages: readonly Said[]): ReadonlyMap<unknown, unknown> {
  const calls = messages.flatMap(({ tool_calls = [] }) => tool_calls.map((it) => [it.id, it.function.name] as const));
  const items = messages.map((it) => [it["call_id"], it["name"]] as const);
  return new Map([...calls, ...items].filter(([, name]) => name !== undefined));
}

function saidByOthers(message: Said, names: ReadonlyMap<unknown, unknown>): AgentInputItem[] {
  const { type, role, content, tool_calls: calls = [], call_id, tool_call_id: callId = call_id } = message;
  if (role === "tool" || type === "function_call_output") {
    const output = textIn(message["output"] ?? content);
    const name = names.get(callId) ?? callId;
    return [{ type: "function_call_result", callId, name, status: "completed", output } as AgentInputItem];
  }
  if (type === "function_call") return [call(callId, message["name"], message["arguments"])];
  if (role === undefined) return [{ type: "unknown", providerData: message }];
  const text = textIn(content);
  const spoken =
    role === "assistant" ? [{ type: "output_text", text }] : typeof content === "string" ? content : heard(content);
  const status = role === "assistant" ? { status: "completed" } : {};
  const whole = { type: "message", role: role === "developer" ? "system" : role, ...status, content: spoken };
  return [
    ...(text || (role === "user" && spoken.length > 0) ? [whole as AgentInputItem] : []),
    ...calls.map((it) => call(it.id, it.function.name, it.function.arguments)),
  ];
}

function call(callId: unknown, name: unknown, written: unknown): AgentInputItem {
  return { type: "function_call", callId, name, arguments: written, status: "completed" } as AgentInputItem;
}

/** The texts and pictures of a user. */
function heard(content: unknown): Fields[] {
  return ((content ?? []) as Fields[]).flatMap((part): Fields[] => {
    if (typeof part["text"] === "string") return [{ type: "input_text", text: part["text"] }];
    const image = part["image_url"];
    const url = typeof image === "object" && image !== null ? (image as Fields)["url"] : image;
    return url === undefined ? [] : [{ type: "input_image", image: url }];
  });
}

function textIn(content: unknown): string {
  if (typeof content === "string") return content;
  const parts = [content ?? []].flat() as Fields[];
  return parts.flatMap(({ text }) => (typeof text === "string" ? text : [])).join("\n");
}
