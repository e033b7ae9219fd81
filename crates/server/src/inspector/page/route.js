// What is shown, as the part of the address after #: `#/ID?tab=context&at=16`. So it can be linked to, and the
// browser goes back and forward.

import { phone } from "./narrow.js";

/** @typedef {{conversation: string, tab: string, at: number}} Route */

/** @returns {Route} */
export function route() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const given = new URLSearchParams(query);
  return { conversation: decoded(path), tab: given.get("tab") ?? "", at: Number(given.get("at") ?? 0) };
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

/**
 * The address of a conversation, and of a place in it. A phone shows the place instead of a panel.
 * @param {string} conversation
 * @param {{tab?: string, at?: number | string}} [place]
 */
export function link(conversation, { tab = route().tab, at = 0 } = {}) {
  const isPlace = Number(at) > 0;
  const shown = isPlace && phone.matches ? "messages" : tab;
  const query = new URLSearchParams({ ...(shown && { tab: shown }), ...(isPlace && { at: String(at) }) }).toString();
  return `#/${encodeURIComponent(conversation)}${query && `?${query}`}`;
}

/**
 * Shows another tab without a step in the browser's history.
 * @param {string} tab
 */
export function turnTo(tab) {
  history.replaceState(null, "", link(route().conversation, { tab }));
}
