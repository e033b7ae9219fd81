// The limits of a conversation, and what happens to utterances that leave its window.

import { ask, given, tell } from "./dialogs.js";
import { field, h, select } from "./element.js";
import { FIELDS } from "./fields.js";
import { count, counted } from "./words.js";

/** @typedef {import("./conversation.js").Conversation} Conversation */

const DAY = 86_400;

/** @type {[key: string, label: string, unlimited: boolean][]} */
const LIMITS = [
  ["maxUtterances", FIELDS.max_utterances, true],
  ["keepUtterances", FIELDS.keep_utterances, false],
  ["maxTokens", FIELDS.max_tokens, true],
  ["keepTokens", FIELDS.keep_tokens, false],
  ["maxTurns", FIELDS.max_turns, true],
  ["keepTurns", FIELDS.keep_turns, false],
  ["summaryTokenLimit", FIELDS.summary_token_limit, true],
  ["archiveLimit", FIELDS.archive_limit, false],
];

/** How summaries are made, and the part of a policy that says so. @type {[string, string, object][]} */
const SUMMARIES = [
  ["default", "the server's default", {}],
  ["extracted", "extracted", { summarizationEnabled: true, llmSummaries: false }],
  ["model", "by a model", { summarizationEnabled: true, llmSummaries: true }],
  ["none", "none", { summarizationEnabled: false }],
];

/** @type {[value: string, text: string][]} */
const OVERSIZE = [
  ["OVERSIZE_KEEP", "stored"],
  ["OVERSIZE_REJECT", "refused"],
];

/** The limits as pairs of a name and a value. @param {any} policy */
export function limits(policy) {
  const shown = LIMITS.filter(([key, , unlimited]) => policy[key] !== undefined || unlimited);
  const days = daysOf(policy);
  return {
    ...Object.fromEntries(
      shown.map(([key, label]) => [label, policy[key] === undefined ? "unlimited" : count(policy[key])]),
    ),
    [FIELDS.summarization_enabled]: SUMMARIES.find(([value]) => value === summariesOf(policy))?.[1],
    ...(policy.summaryModel && { [FIELDS.summary_model]: policy.summaryModel }),
    [FIELDS.oversize]: OVERSIZE.find(([value]) => value === policy.oversize)?.[1] ?? "stored",
    ...(days && { [FIELDS.expire_after]: days }),
  };
}

/** @param {any} policy */
function summariesOf({ summarizationEnabled = true, llmSummaries }) {
  if (!summarizationEnabled) return "none";
  if (llmSummaries === undefined) return "default";
  return llmSummaries ? "model" : "extracted";
}

/** @param {any} policy @returns {string} */
const daysOf = ({ expireAfter = "" }) => (parseFloat(expireAfter) > 0 ? String(parseFloat(expireAfter) / DAY) : "");

/** Asks for other limits. @param {Conversation} conversation */
export function changeLimits(conversation) {
  const { policy = {} } = conversation.about;
  ask({
    title: "Limits of this conversation",
    body: [
      h(
        "p",
        { class: "quiet" },
        "A smaller limit takes effect at once: the oldest utterances leave the window. An empty maximum means unlimited.",
      ),
      h("div", { class: "grid" }, numbers(policy), choices(policy)),
    ],
    action: "Change",
    submit: async (form) => {
      const request = { policy: changed(form, policy), updateMask: "policy" };
      const { evicted = [] } = await conversation.change("ConversationService/UpdateConversation", request);
      tell(evicted.length > 0 ? `${counted(evicted.length, "utterance")} left the window` : "Changed");
    },
  });
}

/** @param {any} policy */
function numbers(policy) {
  return LIMITS.map(([key, label, unlimited]) => {
    const placeholder = unlimited ? "unlimited" : "default";
    return field(label, h("input", { name: key, type: "number", min: 0, value: policy[key], placeholder }));
  });
}

/** @param {any} policy */
function choices(policy) {
  const how = summariesOf(policy);
  // What was set once cannot be left to the server's default again.
  const offered = SUMMARIES.filter(([value]) => value !== "default" || how === "default");
  const summaries = offered.map(([value, text]) => /** @type {[string, string]} */ ([value, text]));
  const model = { name: "summaryModel", value: policy.summaryModel ?? "", placeholder: "the server's" };
  const days = { name: "days", type: "number", min: 0, step: "any", value: daysOf(policy), placeholder: "never" };
  return [
    field(FIELDS.summarization_enabled, select(summaries, { name: "summaries" }, how)),
    field(FIELDS.summary_model, h("input", model)),
    field(FIELDS.oversize, select(OVERSIZE, { name: "oversize" }, policy.oversize)),
    field(FIELDS.expire_after, h("input", days)),
  ];
}

/** The part of a policy that a form changes. @param {FormData} form @param {any} policy */
function changed(form, policy) {
  const isChanged = (/** @type {string} */ key) => given(form, key) !== String(policy[key] ?? "");
  const limits = LIMITS.filter(([key, , unlimited]) => isChanged(key) && (unlimited || given(form, key) !== ""));
  const summaries = SUMMARIES.find(([value]) => value === given(form, "summaries"))?.[2];
  return {
    ...Object.fromEntries(limits.map(([key]) => [key, Number(given(form, key) || 0)])),
    ...(given(form, "summaries") !== summariesOf(policy) && summaries),
    ...(isChanged("summaryModel") && { summaryModel: given(form, "summaryModel") }),
    ...(isChanged("oversize") && { oversize: given(form, "oversize") }),
    ...(given(form, "days") !== daysOf(policy) && { expireAfter: `${Number(given(form, "days")) * DAY}s` }),
  };
}
