/** Ids of frameworks as ids of conversations. */
import { createHash } from "node:crypto";

/** The most that an id has. */
const MAX_BYTES = 256;

/** The id itself, where it is one for the server too, or else a digest of it. */
export function fit(id: string): string {
  if (Buffer.byteLength(id) <= MAX_BYTES && /^(?:[^\p{C}\p{Z}]| )+$/u.test(id)) return id;
  return createHash("sha256")
    .update(`${[...id].length}:${id}`)
    .digest("hex");
}
