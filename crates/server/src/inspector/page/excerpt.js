// A part of a text, with the words that a search found.

import { h } from "./element.js";

/** Characters of an excerpt, and before its first match. */
const [EXCERPT, LEAD] = [320, 80];

/**
 * A part of a text with its matches marked. The ranges count code points.
 * @param {string} content
 * @param {{start?: number, end?: number}[]} ranges
 * @param {number} [most] the characters of the part
 */
export function excerpt(content, ranges, most = EXCERPT) {
  const points = [...content];
  const from = Math.max((ranges[0]?.start ?? 0) - Math.min(LEAD, most / 4), 0);
  const to = Math.min(from + most, points.length);
  const shown = [];
  let place = from;
  for (const { start = 0, end = 0 } of ranges) {
    if (start >= to) break;
    shown.push(points.slice(place, start).join(""), h("mark", {}, points.slice(start, Math.min(end, to)).join("")));
    place = Math.min(end, to);
  }
  return [from > 0 && "…", ...shown, points.slice(place, to).join(""), to < points.length && "…"];
}

/** The words of an utterance: its text, or its calls. @param {any} match an utterance that was found @param {number} [most] */
export const quoted = ({ utterance: { content, toolCalls = [] }, matchedRanges = [] }, most) =>
  content
    ? excerpt(content, matchedRanges, most)
    : toolCalls.map((made) => h("code", {}, `${made.name}(${made.argumentsJson ?? ""})`));
