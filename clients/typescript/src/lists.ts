/** Lists that come in pages. */

/** The most items on a page. */
const PAGE = 1000;

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
