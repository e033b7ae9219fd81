/** Turns frameworks' ids into ids of conversations. */
import { createHash } from "node:crypto";

/** The most bytes of an id. */
const MAX_BYTES = 256;

/** The id itself if the server accepts it, or else a digest of it. */
export function fit(id: string): string {
  if (Buffer.byteLength(id) <= MAX_BYTES && /^(?:[^\p{C}\p{Z}]| )+$/u.test(id)) return id;
  return createHash("sha256")
    .update(`${[...id].length}:${id}`)
    .digest("hex");
}
