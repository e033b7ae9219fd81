/** The extension in pi. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { type JsonAgentSessionEvent, RpcClient } from "@earendil-works/pi-coding-agent";

import { ModelServer } from "./model.ts";
import { Directories, questions, reader, RULES } from "./session.ts";

const PACKAGE = fileURLToPath(new URL("../pi", import.meta.url));
const CLI = fileURLToPath(new URL("cli.js", import.meta.resolve("@earendil-works/pi-coding-agent")));

/** pi with the extension, and a model with a small window. */
async function started(directories: Directories, model: ModelServer, env: Record<string, string> = {}) {
  const agent = directories.directory("agent");
  const settings = { packages: [PACKAGE], compaction: { reserveTokens: 2_000, keepRecentTokens: 3_000 } };
  const models = [{ id: "mock", contextWindow: 12_000, maxTokens: 1_000 }];
  const provider = { baseUrl: model.url, api: "anthropic-messages", apiKey: "none", models };
  writeFileSync(join(agent, "settings.json"), JSON.stringify(settings));
  writeFileSync(join(agent, "models.json"), JSON.stringify({ providers: { mock: provider } }));
  const pi = new RpcClient({
    cliPath: CLI,
    cwd: directories.work,
    model: "mock/mock",
    args: ["--offline", "--no-session"],
    env: { PI_CODING_AGENT_DIR: agent, UTTERD_SUMMARY_TOKEN_LIMIT: "600", ...env },
  });
  await pi.start();
  return { client: pi, ask: (text: string) => pi.promptAndWait(text), [Symbol.asyncDispose]: () => pi.stop() };
}

/** Whether the model was asked for a summary: then it has no tools. */
const summarised = ({ requests }: ModelServer) => requests.some(({ tools }) => tools === undefined);

const isCompaction = (event: JsonAgentSessionEvent) => event.type === "compaction_end" && event.result !== undefined;

test("what was told at the start outlives the compactions of a session of pi", async () => {
  using directories = new Directories();
  await using model = await ModelServer.start(reader(directories.file));
  await using pi = await started(directories, model);
  let compactions = 0;
  for (const question of questions) compactions += (await pi.ask(question)).filter(isCompaction).length;
  assert.deepEqual(model.refused, []);
  assert.equal(model.requests.length, 2 * questions.length);
  assert.ok(compactions >= 3, `${compactions} compactions`);
  assert.ok(!summarised(model));
  const last = JSON.stringify(model.requests.at(-1)!.messages);
  for (const rule of RULES) assert.ok(last.includes(rule), `${rule} is not in ${last}`);
});

test("pi compacts with its model if there is no utterd", async () => {
  using directories = new Directories();
  await using model = await ModelServer.start(reader(directories.file));
  await using pi = await started(directories, model, { UTTERD_BIN: "/nowhere/utterd" });
  for (const question of questions.slice(0, 20)) await pi.ask(question);
  const told: unknown[] = [];
  pi.client.onEvent((event) => told.push(event));
  await pi.client.compact();
  assert.ok(summarised(model));
  assert.match(JSON.stringify(told), /utterd: \/nowhere\/utterd cannot be run.*pi compacts with the model/);
});
