/** An extension for pi: compactions get a summary by utterd instead of one by the model. */
import { convertToLlm, type ExtensionAPI, type SessionBeforeCompactEvent } from "@earendil-works/pi-coding-agent";
import { connect, local } from "utterd";
import { chatMessage, summaryMessage } from "utterd/pi-messages";

/** The most tokens of a summary, unless `UTTERD_SUMMARY_TOKEN_LIMIT` says otherwise. */
const SUMMARY_TOKENS = 2_000;

export default function utterd(pi: ExtensionAPI): void {
  pi.on("session_before_compact", async (event, context) => {
    const { firstKeptEntryId, tokensBefore } = event.preparation;
    try {
      const summary = await summarize(event);
      // Without a summary, pi writes its own.
      return summary ? { compaction: { summary, firstKeptEntryId, tokensBefore } } : undefined;
    } catch (error) {
      if (!event.signal.aborted) context.ui.notify(`utterd: ${told(error)}. pi compacts with the model.`, "warning");
      return undefined;
    }
  });
}

/** The summary of what leaves the context, and of the earlier summary. */
async function summarize({ preparation, customInstructions, signal }: SessionBeforeCompactEvent): Promise<string> {
  const { previousSummary, messagesToSummarize, turnPrefixMessages } = preparation;
  const left = convertToLlm([...messagesToSummarize, ...turnPrefixMessages]);
  const history = [...(previousSummary ? [summaryMessage(previousSummary)] : []), ...left.flatMap(chatMessage)];
  if (history.length === 0) return "";
  await using memory = process.env["UTTERD_SERVER"] ? connect() : await local();
  const prepared = await memory.prepare(history, {
    // There is room for the summary alone, so that it tells of everything.
    maxMessages: 1,
    keepRecent: 0,
    summaryTokens: Number(process.env["UTTERD_SUMMARY_TOKEN_LIMIT"]) || SUMMARY_TOKENS,
    summary: "user",
    focus: customInstructions ? [firstBytes(customInstructions, 256)] : [],
    signal,
  });
  return prepared.summary;
}

/** The beginning of a text that has at most so many bytes in UTF-8. */
function firstBytes(text: string, most: number): string {
  return Buffer.from(text)
    .subarray(0, most)
    .toString()
    .replace(/\uFFFD$/, "");
}

function told(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
