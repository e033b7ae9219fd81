/** The context engine in OpenClaw. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { connect, local } from "utterd";

import { type Answer, blocksOf, ModelServer, type Request } from "./model.ts";
import { Directories, questions, reader, RULES } from "./session.ts";

const PLUGIN = fileURLToPath(new URL("../openclaw", import.meta.url));
const CLI = fileURLToPath(new URL("../openclaw.mjs", import.meta.resolve("openclaw")));
const TOKEN = "secret";
/** How OpenClaw names a session that is begun over HTTP. */
const SESSION = "agent:main:openai-user:alice";
/** Milliseconds that a gateway may take to start. */
const START = 120_000;

/** A gateway of OpenClaw with the plugin, and a model with a small window. */
class Gateway implements AsyncDisposable {
  private readonly process: ChildProcess;
  private readonly url: string;
  private readonly env: NodeJS.ProcessEnv;
  log = "";

  private constructor(port: number, env: NodeJS.ProcessEnv) {
    this.url = `http://127.0.0.1:${port}`;
    this.env = env;
    this.process = spawn(process.execPath, [CLI, "gateway"], { env, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.process.stdout!, this.process.stderr!]) stream.on("data", (it) => (this.log += it));
  }

  static async start(directories: Directories, state: string, model: ModelServer, server: string): Promise<Gateway> {
    const port = await freePort();
    const config = join(state, "openclaw.json");
    writeFileSync(config, JSON.stringify(configuration(port, directories.work, model.url, server)));
    const gateway = new Gateway(port, {
      PATH: process.env["PATH"],
      HOME: state,
      OPENCLAW_STATE_DIR: state,
      OPENCLAW_CONFIG_PATH: config,
      OPENCLAW_DISABLE_BONJOUR: "1",
      OPENCLAW_NO_RESPAWN: "1",
      OPENCLAW_SKIP_CHANNELS: "1",
      OPENCLAW_EXEC_SHELL_SNAPSHOT: "0",
    });
    await gateway.ready();
    return gateway;
  }

  /** The answer to what the user says. */
  async ask(content: string): Promise<string> {
    const body = JSON.stringify({ model: "openclaw", user: "alice", messages: [{ role: "user", content }] });
    const response = await this.fetch("/v1/chat/completions", { method: "POST", body });
    const text = await response.text();
    assert.equal(response.status, 200, text);
    return JSON.parse(text).choices[0].message.content;
  }

  /** Does something with the session, such as `compact` and `reset`. */
  async session(method: string): Promise<any> {
    const params = ["--params", JSON.stringify({ key: SESSION }), "--json"];
    const call = spawn(process.execPath, [CLI, "gateway", "call", `sessions.${method}`, "--token", TOKEN, ...params], {
      env: this.env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    call.stdout.on("data", (it) => (output += it));
    assert.deepEqual(await once(call, "close"), [0, null], output);
    return JSON.parse(output);
  }

  async kill(): Promise<void> {
    this.process.kill("SIGKILL");
    if (this.process.exitCode === null && this.process.signalCode === null) await once(this.process, "exit");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  private async ready(): Promise<void> {
    for (const end = Date.now() + START; Date.now() < end; await setTimeout(200)) {
      assert.equal(this.process.exitCode, null, this.log);
      const response = await this.fetch("/v1/models").catch(() => undefined);
      if (response?.ok) return;
    }
    assert.fail(`OpenClaw did not start: ${this.log}`);
  }

  private fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    return fetch(`${this.url}${path}`, { ...init, headers });
  }
}

function configuration(port: number, workspace: string, baseUrl: string, server: string): object {
  const model = { id: "mock", name: "mock", contextWindow: 24_000, maxTokens: 1_000, input: ["text"] };
  const provider = { baseUrl, api: "anthropic-messages", apiKey: "none", models: [model] };
  const http = { endpoints: { chatCompletions: { enabled: true } } };
  return {
    gateway: { mode: "local", port, bind: "loopback", auth: { mode: "token", token: TOKEN }, http },
    update: { checkOnStart: false },
    models: { mode: "replace", providers: { mock: provider } },
    agents: {
      defaults: {
        model: { primary: "mock/mock" },
        workspace,
        skipBootstrap: true,
        compaction: { keepRecentTokens: 500 },
      },
    },
    tools: { allow: ["read"] },
    plugins: {
      allow: ["utterd"],
      load: { paths: [PLUGIN] },
      slots: { contextEngine: "utterd", memory: "none" },
      entries: { utterd: { enabled: true, config: { server, summaryTokens: 600 } } },
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** The summary at the head of a request. */
const summaryOf = ({ messages }: Request): string | undefined =>
  /\[CONVERSATION HISTORY SUMMARY.*/s.exec(blocksOf(messages[0]!)[0]!.text ?? "")?.[0];

const textOf = ({ messages }: Request): string => JSON.stringify(messages);

/** A model, and what happens while it is asked for the nth time. */
function interrupted(answer: Answer, nth: number, happens: () => unknown): Answer {
  let asked = 0;
  return (request) => {
    if (++asked === nth) happens();
    return answer(request);
  };
}

function assertRules(model: ModelServer): void {
  const last = textOf(model.requests.at(-1)!);
  for (const rule of RULES) assert.ok(last.includes(rule), `${rule} is not in ${last}`);
}

test("what was told at the start outlives the compactions and a crash of OpenClaw", async () => {
  using directories = new Directories();
  const state = directories.directory("state");
  await using memory = await local({ path: directories.directory("memory") });
  let gateway: Gateway;
  // It is killed after the tool was used for the 50th question.
  await using model = await ModelServer.start(interrupted(reader(directories.file), 100, () => void gateway.kill()));
  await using first = await Gateway.start(directories, state, model, memory.address);
  gateway = first;
  for (const question of questions.slice(0, 49)) await first.ask(question);
  await assert.rejects(first.ask(questions[49]!));
  await using second = await Gateway.start(directories, state, model, memory.address);
  for (const question of questions.slice(50)) await second.ask(question);
  assert.deepEqual(model.refused, []);
  const compactions = new Set(model.requests.map(summaryOf)).size - 1;
  assert.ok(compactions >= 3, `${compactions} compactions`);
  assertRules(model);

  const chat = memory.conversation({ recipient: SESSION });
  const stored = await chat.messages();
  const asked = stored.filter(({ role, content }) => role === "user" && questions.includes(content));
  assert.deepEqual(
    asked.map(({ content }) => content),
    questions,
  );
  // Only the answer at the crash was never received.
  const said = stored.filter(({ role }) => role === "assistant");
  assert.equal(said.length, model.requests.length - 1);
  const calls = said.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }: { id: string }) => id));
  assert.deepEqual(
    stored.flatMap(({ tool_call_id = [] }) => tool_call_id),
    calls,
  );

  assert.ok((await second.session("compact")).compacted);
  const before = textOf(model.requests.at(-1)!);
  await second.ask("Thank you.");
  assert.ok(textOf(model.requests.at(-1)!).length < before.length / 2);
  assertRules(model);

  await second.session("reset");
  await second.ask("What is next?");
  assert.doesNotMatch(textOf(model.requests.at(-1)!), /billing|SUMMARY/);
  const [found] = await chat.remember("Which service do we move?", { scope: "recipient" });
  assert.equal(found!.utterance.content, questions[0]);
});

test("OpenClaw compacts with its model while there is no utterd, which stores later what was said", async () => {
  using directories = new Directories();
  await using model = await ModelServer.start(reader(directories.file));
  const address = `unix:${join(directories.directory("memory"), "socket")}`;
  await using gateway = await Gateway.start(directories, directories.directory("state"), model, address);
  for (const question of questions.slice(0, 4)) await gateway.ask(question);
  await gateway.session("compact");
  // Who writes a summary has no tools.
  assert.equal(model.requests.at(-1)!.tools, undefined);
  assert.match(gateway.log, /utterd: no server: .*OpenClaw compacts with the model/);

  await using server = await started(address);
  for (const question of questions.slice(4, 6)) await gateway.ask(question);
  assert.deepEqual(model.refused, []);
  assertRules(model);
  const stored = await server.memory.conversation({ recipient: SESSION }).messages();
  const asked = stored.filter(({ role, content }) => role === "user" && questions.includes(content));
  assert.deepEqual(
    asked.map(({ content }) => questions.indexOf(content)),
    [0, 4, 5],
  );
});

/** A server at an address. */
async function started(address: string) {
  const flags = ["serve", "--listen", address, "--announce", "json"];
  const server = spawn(process.env["UTTERD_BIN"] ?? "utterd", flags, { stdio: ["ignore", "pipe", "ignore"] });
  await once(server.stdout, "data");
  const memory = connect(address);
  const end = async () => {
    await memory.close();
    server.kill();
    await once(server, "close");
  };
  return { memory, [Symbol.asyncDispose]: end };
}
