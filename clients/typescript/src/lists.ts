/** Lists that come in pages, or go in parts. */

/** The most items on a page, or in a call. */
const PAGE = 1000;

/** The items in parts that a call accepts; at least one. */
export function portionsOf<T>(items: readonly T[]): T[][] {
  const count = Math.max(Math.ceil(items.length / PAGE), 1);
  return Array.from({ length: count }, (_, part) => items.slice(part * PAGE, (part + 1) * PAGE));
}

/** Everything that is listed, at most `limit`. All pages have the same size, as a token requires. */
export async function collect<P extends { readonly nextPageToken: string }, T>(
  limit: number,
  ask: (place: { pageSize: number; pageToken: string }) => Promise<P>,
  items: (page: P) => T[],
): Promise<T[]> {
  if (!(limit >= 0)) throw new TypeError(`limit: ${limit}; accepted: 0 or more`);
  const found: T[] = [];
  let pageToken = "";
  while (found.length < limit) {
    const page = await ask({ pageSize: Math.min(limit, PAGE), pageToken });
    found.push(...items(page));
    pageToken = page.nextPageToken;
    if (!pageToken) break;
  }
  return found.slice(0, limit);
}
