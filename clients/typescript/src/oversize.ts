/** Shortens a message that is larger than the server accepts: its largest texts keep their head and tail. */
import type { ModelMessage } from "ai";

import { noteOf } from "./media.js";

/** Bytes that the words in place of a cut may take, with room for the JSON around them. */
const ROOM = 256;

type Fields = Record<string, unknown>;

/** A value in a message, and what replaces it if so many of its bytes are kept. */
interface Leaf {
  readonly bytes: number;
  readonly path: readonly string[];
  readonly replace: (bytes: number) => unknown;
}

/** The message with its largest texts, JSON or files smaller by at least `excess` bytes in all, as far as they go. */
export function shortened(message: ModelMessage, excess: number): ModelMessage {
  const leaves = leavesOf(message, []).filter(({ bytes }) => bytes > 2 * ROOM);
  let shorter: unknown = message;
  let left = excess;
  for (const { bytes, path, replace } of leaves.sort((one, other) => other.bytes - one.bytes)) {
    if (left <= 0) break;
    const kept = Math.max(bytes - left - ROOM, 0);
    shorter = put(shorter, path, replace(kept));
    left -= bytes - kept - ROOM;
  }
  return shorter as ModelMessage;
}

function leavesOf(value: unknown, path: readonly string[]): Leaf[] {
  if (typeof value === "string") {
    return [{ bytes: Buffer.byteLength(value), path, replace: (bytes) => headAndTail(value, bytes) }];
  }
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return [];
  const file = fileIn(value as Fields);
  if (file !== undefined)
    return [{ bytes: file, path, replace: () => ({ type: "text", text: noteOf(value as never) }) }];
  const { type, value: json } = value as Fields;
  if (type === "json" || type === "error-json") {
    const text = JSON.stringify(json);
    const replace = (bytes: number) => ({ type: type.replace("json", "text"), value: headAndTail(text, bytes) });
    return [{ bytes: Buffer.byteLength(text), path, replace }];
  }
  // A provider's options, such as signatures, are of no use in part.
  const parts = Object.entries(value).filter(([key]) => key !== "providerOptions");
  return parts.flatMap(([key, part]) => leavesOf(part, [...path, key]));
}

/** The bytes of a file as JSON has them; undefined if the value is none. */
function fileIn({ type, image, data }: Fields): number | undefined {
  if (!/^(image|file|media|reasoning-file)/.test(String(type))) return undefined;
  const tagged = data as { data?: unknown; text?: unknown } | undefined;
  for (const content of [image, data, tagged?.data, tagged?.text]) {
    if (typeof content === "string" || content instanceof URL) return Buffer.byteLength(String(content));
    if (content instanceof Uint8Array || content instanceof ArrayBuffer) return (content.byteLength * 4) / 3;
  }
  return 0;
}

function headAndTail(text: string, bytes: number): string {
  const all = Buffer.from(text);
  const half = Math.max(Math.floor(bytes / 2), 0);
  const [head, tail] = [all.subarray(0, half), all.subarray(all.length - half)].map((part) =>
    part.toString().replace(/^\uFFFD+|\uFFFD+$/g, ""),
  );
  return `${head}\n[… ${all.length - 2 * half} bytes left out …]\n${tail}`;
}

function put(value: unknown, [key, ...path]: readonly string[], part: unknown): unknown {
  if (key === undefined) return part;
  const copy = Array.isArray(value) ? [...value] : { ...(value as Fields) };
  (copy as Fields)[key] = put((copy as Fields)[key], path, part);
  return copy;
}
