/** Strings that are no text: JavaScript's can contain halves of surrogate pairs, which no protobuf text can hold. */

const HALF = /\p{Surrogate}/gu;

/** JSON that can be sent: halves of surrogate pairs become their escapes, and come back. */
export function escaped(json: string): string {
  return json.replace(HALF, (half) => `\\u${half.charCodeAt(0).toString(16)}`);
}

/** A request that can be sent: in its texts, halves of surrogate pairs become U+FFFD, with a warning. */
export function whole<T>(request: T): T;
export function whole(value: unknown): unknown {
  if (typeof value === "string") {
    if (!value.isWellFormed()) {
      process.emitWarning("a text has halves of surrogate pairs, which cannot be sent: they become U+FFFD", "utterd");
    }
    return value.toWellFormed();
  }
  if (Array.isArray(value)) return value.map((part) => whole(part));
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [whole(key), whole(part)]));
}
