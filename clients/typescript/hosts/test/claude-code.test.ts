/** The plugin in Claude Code. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { ModelServer } from "./model.ts";
import { Directories, questions, reader, RULES } from "./session.ts";

const PLUGIN = fileURLToPath(new URL("../claude-code", import.meta.url));
const CLI = fileURLToPath(new URL("../node_modules/@anthropic-ai/claude-code/cli-wrapper.cjs", import.meta.url));

interface Event {
  readonly type: string;
  readonly subtype?: string;
}

const isCompaction = ({ subtype }: Event) => subtype === "compact_boundary";

/** Claude Code with the plugin, which reads what its user says from a pipe. */
function started(directories: Directories, model: ModelServer, program: string) {
  const config = directories.directory("config");
  const options = { program, summaryTokens: 600, recentTokens: 2_000 };
  writeFileSync(join(config, "settings.json"), JSON.stringify({ pluginConfigs: { utterd: { options } } }));
  const streams = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"];
  const choices = ["--model", "claude-sonnet-5", "--tools", "Read", "--plugin-dir", PLUGIN];
  const child = spawn(process.execPath, [CLI, "-p", ...streams, ...choices], {
    cwd: directories.work,
    stdio: ["pipe", "pipe", "inherit"],
    env: {
      PATH: process.env["PATH"],
      HOME: config,
      CLAUDE_CONFIG_DIR: config,
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: "none",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      // Compacts from about 18,000 tokens on, 9,000 of which are its own.
      CLAUDE_CODE_AUTO_COMPACT_WINDOW: "100000",
      CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: "22",
    },
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  /** The events until the answer. */
  const ask = async (content: string) => {
    child.stdin.write(`${JSON.stringify({ type: "user", message: { role: "user", content } })}\n`);
    const events: Event[] = [];
    while (events.at(-1)?.type !== "result") {
      const { value, done } = await lines.next();
      assert.ok(!done, "Claude Code ended");
      events.push(JSON.parse(value));
    }
    return events;
  };
  const end = async () => {
    child.stdin.end();
    await once(child, "close");
  };
  return { ask, [Symbol.asyncDispose]: end };
}

test("what was told at the start outlives the compactions of a session of Claude Code", async () => {
  using directories = new Directories();
  await using model = await ModelServer.start(reader(directories.file));
  await using claude = started(directories, model, process.env["UTTERD_BIN"] ?? "utterd");
  let compactions = 0;
  for (const question of questions) compactions += (await claude.ask(question)).filter(isCompaction).length;
  assert.deepEqual(model.refused, []);
  // None was for a summary.
  assert.equal(model.requests.length, 2 * questions.length);
  assert.ok(compactions >= 3, `${compactions} compactions`);
  const last = JSON.stringify(model.requests.at(-1)!.messages);
  for (const rule of RULES) assert.ok(last.includes(rule), `${rule} is not in ${last}`);
});

test("Claude Code compacts with its model if there is no utterd", async () => {
  using directories = new Directories();
  await using model = await ModelServer.start(reader(directories.file));
  await using claude = started(directories, model, "/nowhere/utterd");
  for (const question of questions.slice(0, 3)) await claude.ask(question);
  assert.ok((await claude.ask("/compact")).some(isCompaction));
  assert.match(JSON.stringify(model.requests.slice(6)), /summary/);
});

test("Claude Code accepts the plugin", () => {
  const { stdout, status } = spawnSync(process.execPath, [CLI, "plugin", "validate", PLUGIN], { encoding: "utf8" });
  assert.equal(status, 0, stdout);
  assert.doesNotMatch(stdout, /error TS/);
});
