/**
 * A framework's own message inside a provider's message, without storing a text twice.
 *
 * Whatever a provider's format has no place for goes into an extra field of the message, which the server keeps and
 * returns. Texts that are already in the provider's part become pointers there, so that an edit of the text also
 * applies to the framework's message, and texts count only once towards the server's size limits. So does a tool's
 * value that the provider's part has as JSON. What JSON cannot represent, bytes and URLs, is marked in the same way, and
 * is a pointer too if the provider's part has it as text.
 */

/** The key of a pointer: `{"$at": [key or index, …]}` points to a text of the message. */
const AT = "$at";
/** Shorter texts are stored in place: a pointer would be longer. */
const SHORTEST = 24;

type Path = (string | number)[];
type Fields = Record<string, unknown>;

/** `message` with `own` as its field `field`. */
export function fold(message: Fields, field: string, own: unknown): Fields {
  const texts = new Map<string, Path>();
  collect(message, [], texts);
  return { ...message, [field]: folded(own, texts) };
}

/** What was folded into the field of `message`; undefined if a later change left a pointer that leads nowhere. */
export function unfold(message: Fields, field: string): unknown {
  try {
    return unfolded(message[field], message);
  } catch (error) {
    if (error instanceof Dangling) return undefined;
    throw error;
  }
}

class Dangling extends Error {}

function collect(value: unknown, path: Path, texts: Map<string, Path>): void {
  if (typeof value === "string") {
    if (value.length >= SHORTEST && !texts.has(value)) texts.set(value, path);
  } else if (Array.isArray(value)) {
    value.forEach((part, index) => collect(part, [...path, index], texts));
  } else if (typeof value === "object" && value !== null) {
    for (const [key, part] of Object.entries(value)) collect(part, [...path, key], texts);
  }
}

function folded(value: unknown, texts: ReadonlyMap<string, Path>): unknown {
  if (typeof value === "string") return texts.has(value) ? { [AT]: texts.get(value) } : value;
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof URL) return { [AT]: null, url: folded(value.href, texts) };
  if (value instanceof Uint8Array) return { [AT]: null, bytes: folded(base64(value), texts) };
  if (value instanceof ArrayBuffer) return { [AT]: null, buffer: folded(base64(new Uint8Array(value)), texts) };
  if (Array.isArray(value)) return value.map((part) => folded(part, texts));
  const parts = Object.fromEntries(Object.entries(value).map(([key, part]) => [key, folded(part, texts)]));
  const path = /json$/.test(String(parts["type"])) ? texts.get(JSON.stringify((value as Fields)["value"])) : undefined;
  if (path !== undefined) parts["value"] = { [AT]: null, json: { [AT]: path } };
  // An object that looks like a pointer, or like this, is marked by one more key.
  return AT in value ? { [AT]: null, is: parts } : parts;
}

function unfolded(value: unknown, message: Fields): unknown {
  if (Array.isArray(value)) return value.map((part) => unfolded(part, message));
  if (typeof value !== "object" || value === null) return value;
  const fields = value as Fields;
  if (!(AT in fields)) return each(fields, message);
  if (fields[AT] !== null) return textAt(fields[AT] as Path, message);
  const text = (key: string) => unfolded(fields[key], message) as string;
  if ("url" in fields) return new URL(text("url"));
  if ("bytes" in fields) return bytes(text("bytes"));
  if ("buffer" in fields) return bytes(text("buffer")).buffer;
  if ("json" in fields) return parsed(text("json"));
  return each(fields["is"] as Fields, message);
}

function each(fields: Fields, message: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).map(([key, part]) => [key, unfolded(part, message)]));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Dangling();
  }
}

function textAt(path: Path, message: Fields): string {
  let value: unknown = message;
  for (const step of path) value = (value as Fields | undefined)?.[step];
  if (typeof value !== "string") throw new Dangling();
  return value;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

function bytes(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.from(text, "base64"));
}
