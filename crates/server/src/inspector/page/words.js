// Numbers, times and names as people read them.

const number = new Intl.NumberFormat("en");
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "full" });
const hour = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });

/** @type {[unit: Intl.RelativeTimeFormatUnit, seconds: number][]} */
const UNITS = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/**
 * `1,234`.
 * @param {number | string | undefined} value
 */
export const count = (value) => number.format(Number(value ?? 0));

/**
 * `1 utterance`, `2 utterances`.
 * @param {number | string | undefined} value
 * @param {string} one
 * @param {string} [many]
 */
export const counted = (value, one, many = `${one}s`) => `${count(value)} ${Number(value ?? 0) === 1 ? one : many}`;

/**
 * A short time such as `3 hr. ago`.
 * @param {string | undefined} time
 */
export function ago(time) {
  if (!time) return "";
  const seconds = (Date.parse(time) - Date.now()) / 1000;
  const [unit, length] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ["second", 1];
  return Math.abs(seconds) < 10 ? "now" : relative.format(Math.round(seconds / length), unit);
}

/** @param {string | undefined} time */
export const at = (time) => (time ? moment.format(new Date(time)) : "");
/** @param {string | undefined} time */
export const onDay = (time) => (time ? day.format(new Date(time)) : "");
/** @param {string | undefined} time */
export const atHour = (time) => (time ? hour.format(new Date(time)) : "");
/** @param {string | undefined} time */
export const exactly = (time) => (time ? exact.format(new Date(time)) : "");
/** @param {string | undefined} time */
export const atClock = (time) => (time ? clock.format(new Date(time)) : "");

/**
 * The name of an enum's value, such as `awaiting answer` for `CONVERSATION_STATUS_AWAITING_ANSWER`.
 * @param {string | undefined} value
 * @param {string} prefix
 */
export const named = (value, prefix) =>
  (value ?? "").replace(`${prefix}_`, "").replaceAll("_", " ").toLowerCase().replace("unspecified", "");

/**
 * The words for an enum's value.
 * @param {Record<string, string>} words
 * @param {string} prefix
 */
const worded = (words, prefix) => (/** @type {string | undefined} */ value) =>
  words[(value ?? "").replace(`${prefix}_`, "")] ?? named(value, prefix);

/** Why a context leaves an utterance out. */
export const omission = worded(
  {
    EVICTED: "no longer in the window",
    BUDGET: "over the token budget",
    MAX_TURNS: "over the maximum number of turns",
    UNANSWERED_CALL: "a call without a result",
    ASIDE: "a result without a call",
    FORMAT: "not possible in this format",
  },
  "OMISSION_REASON",
);

/** Who wrote a segment of the summary. */
export const methodName = worded({ EXTRACTIVE: "extracted", LLM: "written by a model" }, "SUMMARY_METHOD");

/** Why the window is larger than its limits. */
export const overLimit = worded(
  {
    NEWEST_UNIT: "the newest utterances alone",
    OPEN_EXCHANGE: "a tool call waits for its result",
    PINNED: "pinned utterances",
  },
  "OVER_LIMIT_CAUSE",
);

/** @param {string | undefined} status */
export const statusName = (status) => named(status, "CONVERSATION_STATUS").replace("closed", "ended");

/** @param {string | undefined} role */
export const roleName = (role) => named(role, "ROLE") || "user";

/**
 * `#3`, or `#3 to #7`.
 * @param {{first: string | number, last: string | number}} range
 */
export const span = ({ first, last }) => (Number(first) === Number(last) ? `#${first}` : `#${first} to #${last}`);

/**
 * Whether a sequence is in one of the ranges.
 * @param {{first: string | number, last: string | number}[] | undefined} ranges
 * @param {number} sequence
 */
export const within = (ranges, sequence) =>
  (ranges ?? []).some(({ first, last }) => Number(first) <= sequence && sequence <= Number(last));

/**
 * The number of sequences in ranges.
 * @param {{first: string | number, last: string | number}[] | undefined} ranges
 */
export const length = (ranges) =>
  (ranges ?? []).reduce((sum, { first, last }) => sum + Number(last) - Number(first) + 1, 0);

/**
 * JSON indented, if it is JSON; anything else as it is.
 * @param {string} text
 */
export function indented(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" && value !== null ? JSON.stringify(value, null, 2) : text;
  } catch {
    return text;
  }
}
