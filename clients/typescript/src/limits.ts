/** The limits of conversations that adapters start. */
import type { Policy } from "./model.js";

/** The largest number of utterances that an archive can be told to keep. */
const ALL = 2 ** 31 - 1;

/** Limits that let a budget decide, and keep everything. A quarter of it is for the summary and instructions. */
export function budgetPolicy(budget: number | undefined): Policy {
  if (budget === undefined) return { archiveLimit: ALL };
  return { maxUtterances: 0, maxTurns: 0, maxTokens: Math.ceil((budget * 3) / 4), archiveLimit: ALL };
}
