/** The adapter with the newest AI SDK and the oldest that it supports: what they store, and what their models get. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import * as newest from "ai";
import * as oldest from "ai-oldest";
import { type Client, local } from "utterd";
import { UtterdHistory } from "utterd/ai-sdk";

import { fresh } from "./servers.js";

type Sdk = typeof newest;
type Prompt = { role: string; content: string | { type: string; [field: string]: unknown }[] }[];

/** The header of a picture of 16 by 16 pixels. */
const HEADER = Buffer.from("89504e470d0a1a0a0000000d4948445200000010000000100806000000", "hex");
const PNG = Buffer.concat([HEADER, Buffer.alloc(300, 7)]).toString("base64");
const QUESTION = "Where are my orders?";
const ANSWER = "Both are on their way.";

const toolsOf = (sdk: Sdk) => ({
  look: sdk.tool({
    description: "Shows an order.",
    inputSchema: sdk.jsonSchema<{ id: number }>({ type: "object", properties: { id: { type: "integer" } } }),
    execute: async ({ id }: { id: number }) => `order ${id} is shipped`,
    // The parts that every version has.
    toModelOutput: (() => ({
      type: "content",
      value: [
        { type: "text", text: "shipped" },
        { type: "media", data: PNG, mediaType: "image/png" },
      ],
    })) as never,
  }),
});

/** A model that looks at two orders, one after the other, and then answers; `prompts` is what it got. */
function model() {
  const prompts: Prompt[] = [];
  const next = (prompt: Prompt) => {
    prompts.push(prompt);
    const step = prompt
      .slice(prompt.findLastIndex((it) => it.role === "user"))
      .filter((it) => it.role === "tool").length;
    const call = { type: "tool-call", toolCallId: fresh(), toolName: "look", input: JSON.stringify({ id: step }) };
    return step < 2 ? call : { type: "text", text: ANSWER };
  };
  const end = { usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 }, warnings: [] };
  const reason = ({ type }: { type: string }) => (type === "text" ? "stop" : "tool-calls");
  return {
    prompts,
    specificationVersion: "v2",
    provider: "test",
    modelId: "test",
    supportedUrls: {},
    doGenerate: async ({ prompt }: { prompt: Prompt }) => {
      const part = next(prompt);
      return { ...end, content: [part], finishReason: reason(part) };
    },
    doStream: async ({ prompt }: { prompt: Prompt }) => {
      const part = next(prompt);
      const text = [
        { type: "text-start", id: "1" },
        { type: "text-delta", id: "1", delta: ANSWER },
        { type: "text-end", id: "1" },
      ];
      const parts = [
        { type: "stream-start", warnings: [] },
        ...(part.type === "text" ? text : [part]),
        { type: "finish", finishReason: reason(part), ...end },
      ];
      return { stream: ReadableStream.from(parts) };
    },
  };
}

const kinds = (prompt: Prompt | undefined) => (prompt ?? []).map((it) => it.role);

for (const [name, sdk] of Object.entries({ newest, oldest: oldest as unknown as Sdk })) {
  describe(`the ${name} AI SDK`, () => {
    let memory: Client;
    before(async () => void (memory = await local()));
    after(() => memory.close());
    const stopWhen = sdk.stepCountIs(9);
    const tools = toolsOf(sdk);
    const asked = async (history: UtterdHistory) => {
      await history.save({ role: "user", content: QUESTION });
      return history.context();
    };
    const isWhole = async (history: UtterdHistory, count = 1) => {
      const stored = await history.load();
      assert.deepEqual(
        stored.map((it) => it.role),
        Array.from({ length: count }, () => ["user", "assistant", "tool", "assistant", "tool", "assistant"]).flat(),
      );
      assert.match(JSON.stringify(stored.at(-1)), new RegExp(ANSWER));
    };

    test("a result is stored whole", async () => {
      const history = new UtterdHistory(fresh(), memory);
      const used = model();
      const generate = async () =>
        sdk.generateText({ model: used as never, tools, stopWhen, ...(await asked(history)) });
      const result = await generate();
      await history.save(result);
      await isWhole(history);
      await history.save(await generate());
      await isWhole(history, 2);
      assert.equal(kinds(used.prompts[3]).length, 7);
    });

    test("so is a stream, and the event at its end", async () => {
      const history = new UtterdHistory(fresh(), memory);
      const stream = sdk.streamText({ model: model() as never, tools, stopWhen, ...(await asked(history)) });
      await stream.consumeStream();
      await history.save(stream);
      await isWhole(history);
      const saved = new Promise<void>((resolve, reject) => {
        void asked(history).then((context) =>
          sdk
            .streamText({
              model: model() as never,
              tools,
              stopWhen,
              ...context,
              onFinish: (event) => history.save(event).then(resolve, reject),
            })
            .consumeStream(),
        );
      });
      await saved;
      await isWhole(history, 2);
    });

    test("each step is stored, and gets a context within the budget", async () => {
      const history = new UtterdHistory(fresh(), memory, { budget: 2000 });
      const said = Array.from({ length: 400 }, (_, index) => [
        { role: "user" as const, content: `Question ${index}: when is the parcel number ${index * 31} delivered?` },
        {
          role: "assistant" as const,
          content: `Parcel ${index * 31} comes on Monday, in the week number ${index % 52}.`,
        },
      ]);
      await history.save(said.flat());
      const used = model();
      await history.save({ role: "user", content: QUESTION });
      const run = { system: "You help customers.", ...(await history.run({ budget: 1000 })) };
      const result = await sdk.generateText({ model: used as never, tools, stopWhen, ...run });
      const before = await history.load();
      assert.equal(before.length, 805);
      await history.save(result);
      assert.deepEqual(
        (await history.load()).slice(800).map((it) => it.role),
        ["user", "assistant", "tool", "assistant", "tool", "assistant"],
      );
      const [first, second, third] = used.prompts;
      assert.ok(kinds(first).length > 3);
      for (const prompt of used.prompts) {
        assert.deepEqual([prompt[0]?.role, prompt[0]?.content], ["system", "You help customers."]);
        assert.match(JSON.stringify(prompt[1]), /SUMMARY/);
        const { counts } = await memory.countTokens(
          JSON.stringify(prompt, (key, value) => (key === "data" ? "" : value)),
        );
        assert.ok(counts[0]! < 2000, `${counts}`);
      }
      assert.deepEqual(kinds(second).slice(-3), ["user", "assistant", "tool"]);
      assert.deepEqual(kinds(third).slice(-5), ["user", "assistant", "tool", "assistant", "tool"]);
      assert.ok(JSON.stringify(third).includes(PNG));
    });

    test("a run that fails is not taken for a part of the next", async () => {
      const history = new UtterdHistory(fresh(), memory);
      const broken = model();
      const { doGenerate } = broken;
      broken.doGenerate = (options) => {
        if (broken.prompts.length > 0) throw new Error("overloaded");
        return doGenerate(options);
      };
      const failing = { model: broken as never, tools, stopWhen, maxRetries: 0 };
      await asked(history);
      await assert.rejects(sdk.generateText({ ...failing, ...(await history.run()) }), /overloaded/);
      assert.equal((await history.load()).length, 3);
      const context = await history.context();
      const result = await sdk.generateText({ model: model() as never, tools, stopWhen, ...context });
      await history.save(result);
      await isWhole(history);
    });

    test("pictures of tools and users are in the next turn, too", async () => {
      const history = new UtterdHistory(fresh(), memory, { budget: 4000 });
      const image = new Uint8Array(Buffer.from(PNG, "base64"));
      await history.save({ role: "user", content: [{ type: "image", image, mediaType: "image/png" }] });
      const used = model();
      for (let turn = 0; turn < 2; turn++) {
        const context = await asked(history);
        assert.deepEqual(context.warnings, []);
        await history.save(await sdk.generateText({ model: used as never, tools, stopWhen, ...context }));
      }
      const last = JSON.stringify(used.prompts.at(-1), (_, value) =>
        value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value,
      );
      assert.equal(last.split(PNG).length - 1, 5, "one of the user, four of the tool");
    });
  });
}
