/** A compaction by utterd instead of one by the model: a summary of the older messages, and the newest as they are. */
import type { EngineInterface, Register, SessionCompactInput, SessionMessage } from "claude-code";

const CHARACTERS_OF_A_TOKEN = 4;

interface Options {
  readonly program: string;
  readonly summaryTokens: number;
  readonly recentTokens: number;
}

export const register: Register = (on, given) => {
  const options = given as unknown as Options;
  on("session.compact", async ($, event, next) => {
    try {
      const place = placeOfRecent(event.messages, options.recentTokens * CHARACTERS_OF_A_TOKEN);
      const summary = await summaryOf($, event, event.messages.slice(0, place), options);
      return { messages: [summary, ...event.messages.slice(place)] };
    } catch (error) {
      $.ui.toast(`utterd: ${error instanceof Error ? error.message : error}. Claude Code compacts with the model.`);
      return next(event);
    }
  });
};

/** Where the newest messages begin: those of about so many characters, but no results without their calls. */
function placeOfRecent(messages: readonly SessionMessage[], characters: number): number {
  let place = messages.length;
  let left = characters;
  for (let at = messages.length - 1; at > 0; at--) {
    const message = messages[at]!;
    left -= sizeOf(message);
    if (left < 0 && place < messages.length) break;
    if ((message.toolResults ?? []).length === 0) place = at;
  }
  return place;
}

/** The message with the summary of these messages, the first of which may be an earlier summary. */
async function summaryOf(
  $: EngineInterface,
  { instructions }: SessionCompactInput,
  messages: readonly SessionMessage[],
  { program, summaryTokens }: Options,
): Promise<SessionMessage> {
  // There is room for the summary alone, so that it tells of everything.
  const limits = ["--max-messages", "1", "--keep-recent", "0", "--summary", String(summaryTokens), "--summary-as-user"];
  const focus = instructions ? [`--focus=${instructions.slice(0, 60)}`] : [];
  const stdin = JSON.stringify(messages.flatMap(chatMessages));
  const { exitCode, stdout, stderr } = await $.process.run([program, "prepare", ...limits, ...focus], { stdin });
  if (exitCode !== 0) throw new Error(stderr.trim());
  const [summary] = JSON.parse(stdout) as { content: string }[];
  if (summary === undefined) throw new Error("there is nothing to summarise");
  return { role: "user", text: summary.content, toolUses: [] };
}

/** A message as OpenAI's chat messages, which utterd reads; the results that it brings are messages of their own. */
function chatMessages({ role, text, toolUses, toolResults = [] }: SessionMessage): object[] {
  const results = toolResults.map((it) => ({ role: "tool", tool_call_id: it.tool_use_id, content: it.text }));
  const tool_calls = toolUses.map((it) => ({
    id: it.tool_use_id,
    type: "function",
    function: { name: it.tool, arguments: JSON.stringify(it.input) },
  }));
  if (tool_calls.length > 0) return [...results, { role, content: text, tool_calls }];
  return text ? [...results, { role, content: text }] : results;
}

/** About how many characters a message has. */
function sizeOf({ text, toolUses, toolResults = [] }: SessionMessage): number {
  const parts = [...toolUses.map(({ input }) => JSON.stringify(input)), ...toolResults.map((it) => it.text)];
  return [text, ...parts].reduce((sum, part) => sum + part.length, 0);
}
