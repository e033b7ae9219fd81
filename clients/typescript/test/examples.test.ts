/** The examples, against aimock: each is killed while its tool runs, and resumes. */
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";

import { local } from "utterd";

const ROOT = join(import.meta.dirname, "..", "..");
const EXAMPLES = readdirSync(join(ROOT, "examples")).map((file) => file.replace(/\.ts$/, ""));
const FIXTURES = {
  fixtures: [
    {
      match: { userMessage: "order 7", hasToolResult: false },
      response: { toolCalls: [{ id: "call_7", name: "lookup_order", arguments: { id: 7 } }] },
    },
    { match: { toolResultContains: "DHL" }, response: { content: "Order 7 was shipped with DHL." } },
  ],
};
const skip = spawnSync("llmock", ["--help"]).error === undefined ? false : "npm install -g @copilotkit/aimock";

const directory = mkdtempSync(join(tmpdir(), "utterd-test-"));
let models: { url: string; end: () => void } | undefined;

before(async () => {
  if (skip) return;
  const fixtures = join(directory, "fixtures.json");
  writeFileSync(fixtures, JSON.stringify(FIXTURES));
  const process = spawn("llmock", ["-p", "0", "-f", fixtures], { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: process.stdout })) {
    const [url] = /http:\/\/[^\s/]+/.exec(line) ?? [];
    if (url !== undefined) {
      process.stdout.resume();
      models = { url, end: () => process.kill() };
      break;
    }
  }
});

after(() => {
  models?.end();
  rmSync(directory, { recursive: true });
});

for (const example of EXAMPLES) {
  test(`${example} is killed and goes on`, { skip }, async () => {
    await using memory = await local();
    const run = (...words: string[]) =>
      spawn(process.execPath, [join(ROOT, "build", "examples", `${example}.js`), "order-7", ...words], {
        cwd: directory,
        stdio: ["ignore", "pipe", "inherit"],
        env: {
          ...process.env,
          UTTERD_SERVER: memory.address,
          OPENAI_BASE_URL: `${models?.url}/v1`,
          OPENAI_API_KEY: "none",
        },
      });
    const orders = join(directory, "orders.json");
    // The tool blocks until somebody writes; the second open succeeds once the tool has opened its end.
    execFileSync("mkfifo", [orders]);
    const killed = run("Where is my order 7?");
    const writer = await open(orders, "w");
    killed.kill("SIGKILL");
    await once(killed, "exit");
    await writer.close();
    rmSync(orders);
    writeFileSync(orders, JSON.stringify({ 7: { state: "shipped", carrier: "DHL" } }));
    const resumed = run();
    assert.equal((await text(resumed.stdout)).trim(), "Order 7 was shipped with DHL.");
    const stored = (await memory.conversation("order-7").stored()).messages.map((it) => it.json);
    for (const said of ["Where is my order 7?", "shipped with DHL"]) {
      assert.equal(stored.filter((json) => json.includes(said)).length, 1);
    }
  });
}

test("the examples are short", () => {
  const lines = (name: string) =>
    readFileSync(join(ROOT, "examples", `${name}.ts`), "utf8")
      .trimEnd()
      .split("\n").length;
  assert.deepEqual(
    EXAMPLES.filter((name) => lines(name) > 40),
    [],
  );
});
