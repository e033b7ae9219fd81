/** What a model gets by an adapter: signed thoughts as they came, in each step of a loop, and no more than the budget. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";

import * as agents from "@openai/agents";
import type { AgentInputItem, AgentOutputItem, ModelRequest } from "@openai/agents";
import * as ai from "ai";
import { type Client, local } from "utterd";
import { UtterdHistory } from "utterd/ai-sdk";
import { UtterdSession } from "utterd/openai-agents";

import { fresh } from "./servers.js";

/** How many calls the model makes after a question. After any other, it makes none. */
const STEPS: Readonly<Record<string, number>> = { "Take thirty steps.": 30, "Fetch all of it.": 1 };
const [THIRTY, ALL] = Object.keys(STEPS) as [string, string];
const DONE = "All is done.";
/** What a provider's rule says for a picture of 640 by 480. */
const PICTURE_TOKENS = Math.floor((640 * 480) / 750);
const PNG = Buffer.concat([
  Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"),
  Buffer.from([0, 0, 640 >> 8, 640 & 255, 0, 0, 480 >> 8, 480 & 255, 8, 2, 0, 0, 0]),
  Buffer.alloc(40),
]);
const URL = `data:image/png;base64,${PNG.toString("base64")}`;

type Fields = { readonly [field: string]: any };
type Piece = readonly [kind: "question" | "thought" | "call" | "result" | "text", text: string, signature?: string];

const signatureOf = (thought: string) => createHash("sha256").update(thought).digest("hex");

/** Signs its thoughts, and refuses what a provider refuses: a tool loop whose thoughts have changed. */
class Provider {
  readonly requests: unknown[] = [];
  steps = 0;
  /** Whether the oldest steps of a loop can be missing. */
  lenient = false;
  /** What a thought has besides its beginning. */
  thinks = "";
  private readonly expected: Piece[] = [];

  answer(request: unknown, pieces: readonly Piece[]): Piece[] {
    this.requests.push(structuredClone(request));
    const asked = pieces.findLastIndex(([kind]) => kind === "question");
    const steps = STEPS[pieces[asked]![1]] ?? 0;
    const loop = pieces.slice(asked + 1);
    const expected = this.lenient ? this.expected.slice(-Math.max(loop.length, 3)) : this.expected;
    if (steps > 0 && (!isDeepStrictEqual(loop, expected) || loop.length % 3 > 0)) {
      throw new Error(`step ${this.steps}: ${JSON.stringify(loop)} instead of ${JSON.stringify(expected)}`);
    }
    if (this.steps >= steps) return [["text", DONE]];
    this.steps += 1;
    const thought = `Thought ${this.steps}: there is more to do, so I take another step.${this.thinks}`;
    const issued: Piece[] = [
      ["thought", thought, signatureOf(thought)],
      ["call", `call_${this.steps}`],
    ];
    this.expected.push(...issued, ["result", `call_${this.steps}`]);
    return issued;
  }
}

/** What an adapter is tried with. */
interface Setting {
  readonly memory: Client;
  readonly provider: Provider;
  readonly budget: number;
  readonly result: string;
}
/** Asks the model a question, and shows pictures. */
type Ask = (question: string, pictures?: number) => Promise<string>;

function aiModel(provider: Provider) {
  const pieces = ({ role, content }: Fields): Piece[] => {
    if (typeof content === "string") return [];
    return content.flatMap((part: Fields): Piece[] => {
      if (part["type"] === "reasoning") {
        return [["thought", part["text"], part["providerOptions"]?.anthropic?.signature]];
      }
      if (part["type"] === "tool-call") return [["call", part["toolCallId"]]];
      if (part["type"] === "tool-result") return [["result", part["toolCallId"]]];
      return role === "user" && part["type"] === "text" ? [["question", part["text"]]] : [];
    });
  };
  const partOf = ([kind, text, signature]: Piece) => {
    if (kind === "thought") return { type: "reasoning", text, providerMetadata: { anthropic: { signature } } };
    if (kind === "text") return { type: "text", text };
    return { type: "tool-call", toolCallId: text, toolName: "step", input: "{}" };
  };
  const doGenerate = async ({ prompt }: { prompt: Fields[] }) => {
    const content = provider.answer(prompt, prompt.flatMap(pieces)).map(partOf);
    const finishReason = content.length > 1 ? "tool-calls" : "stop";
    return { content, finishReason, usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 }, warnings: [] };
  };
  return { specificationVersion: "v2", provider: "test", modelId: "test", supportedUrls: {}, doGenerate } as never;
}

const shown = (question: string, pictures: number): ai.ModelMessage => {
  const image = { type: "image", image: PNG, mediaType: "image/png" } as const;
  return { role: "user", content: [{ type: "text", text: question }, ...Array(pictures).fill(image)] };
};

/** Trims each step of a run. */
function aiSdkRun({ memory, provider, budget, result }: Setting): Ask {
  const history = new UtterdHistory(fresh(), memory, { budget });
  const step = ai.tool({ inputSchema: ai.jsonSchema({ type: "object" }), execute: async () => result });
  return async (question, pictures = 0) => {
    await history.save(shown(question, pictures));
    const given = { model: aiModel(provider), tools: { step }, stopWhen: ai.stepCountIs(99), maxRetries: 0 };
    const generated = await ai.generateText({ ...given, ...(await history.run()) });
    await history.save(generated);
    return generated.text;
  };
}

/** Each step is a call of its own. */
function aiSdkContext({ memory, provider, budget, result }: Setting): Ask {
  const history = new UtterdHistory(fresh(), memory, { budget });
  const step = ai.tool({ inputSchema: ai.jsonSchema({ type: "object" }) });
  return async (question, pictures = 0) => {
    await history.save(shown(question, pictures));
    for (;;) {
      const given = { model: aiModel(provider), tools: { step }, maxRetries: 0 };
      const generated = await ai.generateText({ ...given, ...(await history.context()) });
      await history.save(generated);
      if (generated.toolCalls.length === 0) return generated.text;
      const output = { type: "text", value: result } as const;
      const content = generated.toolCalls.map(
        ({ toolCallId, toolName }) => ({ type: "tool-result", toolCallId, toolName, output }) as const,
      );
      await history.save({ role: "tool", content });
    }
  };
}

class AgentsModel {
  constructor(private readonly provider: Provider) {}

  async getResponse({ input }: ModelRequest) {
    const items = input as Fields[];
    const pieces = items.flatMap((item): Piece[] => {
      if (item["type"] === "reasoning") {
        return [["thought", item["content"][0].text, item["providerData"]?.encrypted_content]];
      }
      if (item["type"] === "function_call") return [["call", item["callId"]]];
      if (item["type"] === "function_call_result") return [["result", item["callId"]]];
      return item["role"] === "user" ? [["question", item["content"][0].text ?? item["content"]]] : [];
    });
    const output = this.provider.answer(items, pieces).map(([kind, text, signature]): AgentOutputItem => {
      if (kind === "thought") {
        const providerData = { encrypted_content: signature };
        return { type: "reasoning", id: `rs_${text}`, content: [{ type: "input_text", text }], providerData };
      }
      if (kind === "call") {
        return { type: "function_call", callId: text, name: "step", arguments: "{}", status: "completed" };
      }
      const content = [{ type: "output_text" as const, text }];
      return { type: "message", role: "assistant", status: "completed", content };
    });
    return { usage: new agents.Usage(), output };
  }

  async *getStreamedResponse(): AsyncGenerator<never> {
    throw new Error("not streamed");
  }
}

/** Each step is a run of its own, which reads the session. */
function openaiAgents({ memory, provider, budget, result }: Setting): Ask {
  const session = new UtterdSession(fresh(), memory, { budget });
  const parameters = { type: "object" as const, properties: {}, required: [], additionalProperties: true as const };
  const step = agents.tool({
    name: "step",
    description: "A step.",
    parameters,
    strict: false,
    execute: async () => result,
  });
  const model = new AgentsModel(provider);
  const agent = new agents.Agent({ name: "a", model, tools: [step], toolUseBehavior: "stop_on_first_tool" });
  const runner = new agents.Runner({ tracingDisabled: true });
  return async (question, pictures = 0) => {
    const image = { type: "input_image", image: URL };
    let input = [
      { role: "user", content: [{ type: "input_text", text: question }, ...Array(pictures).fill(image)] },
    ] as AgentInputItem[];
    for (;;) {
      const done = await runner.run(agent, input, { session });
      if (done.newItems.at(-1)?.type !== "tool_call_output_item") return String(done.finalOutput);
      input = [];
    }
  };
}

/** The texts of a request, and undefined for each of its pictures. */
function partsOf(value: unknown, key = ""): (string | undefined)[] {
  if (value instanceof Uint8Array || (typeof value === "string" && value.includes("iVBORw0KGgo"))) return [undefined];
  if (typeof value === "string") return /^(text|content|output|value|arguments)$/.test(key) ? [value] : [];
  if (Array.isArray(value)) return value.flatMap((part) => partsOf(part, key));
  return Object.entries(value ?? {}).flatMap(([name, part]) => partsOf(part, name));
}

for (const adapter of [aiSdkRun, aiSdkContext, openaiAgents]) {
  describe(`requests of ${adapter.name}`, () => {
    let memory: Client;
    before(async () => void (memory = await local()));
    after(() => memory.close());

    const started = (budget: number, result = "ok") => {
      const provider = new Provider();
      return { provider, ask: adapter({ memory, provider, budget, result }) };
    };
    /** What the user says goes to the model of the Agents SDK beside the session, which has it from then on. */
    const check = async ({ requests }: Provider, budget: number) => {
      for (const request of adapter === openaiAgents ? requests.slice(-1) : requests) {
        const parts = partsOf(request);
        const texts = parts.filter((part) => part !== undefined);
        const { counts } = await memory.countTokens(texts);
        const tokens = counts.reduce((one, other) => one + other, 0) + (parts.length - texts.length) * PICTURE_TOKENS;
        assert.ok(tokens <= budget, `${tokens} tokens`);
      }
    };

    for (const budget of [4000, 500]) {
      test(`signed thoughts of thirty steps in ${budget} tokens`, async () => {
        const { provider, ask } = started(budget);
        provider.lenient = budget < 4000;
        for (const number of [1, 2, 3]) await ask(`Note ${number}: ${"a long text about a lamp. ".repeat(200)}`);
        assert.equal(await ask(THIRTY), DONE);
        assert.equal(provider.steps, 30);
      });
    }

    test("long thoughts", async () => {
      const { provider, ask } = started(8000);
      Object.assign(provider, { lenient: true, thinks: " I wonder.".repeat(700) });
      assert.equal(await ask(THIRTY), DONE);
      assert.equal(provider.steps, 30);
      await check(provider, 8000);
    });

    test("a message above the budget", async () => {
      const { provider, ask } = started(8000);
      for (const question of [
        `This is a contract: ${"word ".repeat(10_400)}Signed.`,
        "What is it?",
        "And who signed?",
      ]) {
        assert.equal(await ask(question), DONE);
      }
      await check(provider, 8000);
      for (const request of provider.requests) assert.match(JSON.stringify(request), /This is a contract.*Signed\./);
    });

    test("a result above the budget", async () => {
      const { provider, ask } = started(2000, `Found: ${"word ".repeat(60_000)}`);
      assert.equal(await ask(ALL), DONE);
      assert.equal(await ask("And now?"), DONE);
      await check(provider, 2000);
    });

    for (const atOnce of [1, 20]) {
      test(`20 pictures, ${atOnce} at once`, async () => {
        const { provider, ask } = started(2000);
        for (let number = 0; number < 20 / atOnce; number++) await ask(`This is picture ${number}.`, atOnce);
        assert.equal(await ask("And now?"), DONE);
        assert.ok(atOnce > 1 || partsOf(provider.requests.at(-1)).includes(undefined));
        await check(provider, 2000);
      });
    }
  });
}
