/** Turns frameworks' ids into ids of conversations. */
import { createHash } from "node:crypto";

/** The most bytes of an id. */
const MAX_BYTES = 256;

/** The id itself if the server accepts it, or else a digest of it. */
export function fit(id: string): string {
  if (Buffer.byteLength(id) <= MAX_BYTES && /^(?:[^\p{C}\p{Z}]| )+$/u.test(id)) return id;
  const characters = [...id];
  return createHash("sha256")
    .update(Buffer.concat([`${characters.length}:`, ...characters].map(bytesOf)))
    .digest("hex");
}

/** UTF-8, in which half of a surrogate pair has bytes of its own too. */
function bytesOf(character: string): Buffer {
  if (character.isWellFormed()) return Buffer.from(character);
  const code = character.charCodeAt(0);
  return Buffer.from([0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)]);
}
