/** What goes to a model with utterd is what goes to it with an array of messages, in the newest AI SDK and the oldest. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import * as newest from "ai";
import type { ModelMessage } from "ai";
import * as oldest from "ai-oldest";
import { type Client, local } from "utterd";
import { UtterdHistory } from "utterd/ai-sdk";

import { fresh } from "./servers.js";

type Sdk = typeof newest;
type Part = { type: string; [field: string]: unknown };
type Prompt = { role: string; content: string | Part[] }[];
type Result = Awaited<ReturnType<typeof newest.generateText>>;

/** Where the messages of a talk are. */
interface Store {
  add(messages: ModelMessage[]): Promise<void>;
  result(result: Result): Promise<void>;
  input(): Promise<{ messages: ModelMessage[] }>;
}

const picture = (number: number) =>
  new Uint8Array(
    Buffer.concat([
      Buffer.from("89504e470d0a1a0a0000000d4948445200000040000000400802", "hex"),
      Buffer.alloc(300, number),
    ]),
  );

const toolsOf = (sdk: Sdk) => {
  const inputSchema = sdk.jsonSchema<{ id: number }>({ type: "object", properties: { id: { type: "integer" } } });
  const shown = ({ output }: { output: number }) => ({
    type: "content",
    value: [
      { type: "text", text: `the picture of order ${output}` },
      { type: "media", data: Buffer.from(picture(output)).toString("base64"), mediaType: "image/png" },
    ],
  });
  return {
    look: sdk.tool({ inputSchema, execute: async ({ id }) => ({ id, state: "shipped", to: "a street in Oslo" }) }),
    show: sdk.tool({ inputSchema, execute: async ({ id }) => id, toModelOutput: shown as never }),
    drop: sdk.tool({ inputSchema, needsApproval: true, execute: async ({ id }) => `order ${id} is dropped` }),
  };
};

/** What the model says, by the number of the question and of the step. Its ids are none that every provider accepts. */
function answer(turn: number, step: number): Part[] {
  const call = (toolName: string, id: number): Part => ({
    type: "tool-call",
    toolCallId: `call.${turn}|${step}_${toolName}_${id}`,
    toolName,
    input: JSON.stringify({ id }),
    providerMetadata: { google: { thoughtSignature: `signature ${turn}` } },
  });
  const thought: Part = {
    type: "reasoning",
    text: `Let me think about question ${turn}: which order is it?`,
    providerMetadata: { anthropic: { signature: `c2lnbmF0dXJl${turn}` } },
  };
  const steps = [
    [[{ type: "text", text: "I look at both." }, call("look", 1), call("look", 2)]],
    [[thought, call("show", turn)]],
    [[call("drop", turn), call("look", turn)], [call("look", 7)]],
    [[thought, call("drop", turn)]],
  ];
  return (
    steps[turn % 5]?.[step] ?? [thought, { type: "text", text: `All is well with the order of question ${turn}.  ` }]
  );
}

function model() {
  const prompts: Prompt[] = [];
  const doGenerate = async ({ prompt }: { prompt: Prompt }) => {
    prompts.push(prompt);
    const turn = prompt.filter(({ role }) => role === "user").length - 1;
    const steps = prompt.slice(prompt.findLastIndex(({ role }) => role === "user"));
    const content = answer(turn, steps.filter(({ role }) => role === "assistant").length);
    const finishReason = content.some(({ type }) => type === "tool-call") ? "tool-calls" : "stop";
    return { content, finishReason, usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 }, warnings: [] };
  };
  return { prompts, specificationVersion: "v2", provider: "test", modelId: "test", supportedUrls: {}, doGenerate };
}

async function talk(sdk: Sdk, store: Store): Promise<Prompt[]> {
  const used = model();
  const tools = toolsOf(sdk);
  for (let turn = 0; turn < 30; turn++) {
    const text = `Question ${turn}: where is my order, the one with the lamp?`;
    const image = { type: "image", image: picture(turn), mediaType: "image/png" } as const;
    await store.add([{ role: "user", content: turn % 3 === 1 ? [{ type: "text", text }, image] : text }]);
    for (;;) {
      const input = await store.input();
      const result = await sdk.generateText({ model: used as never, tools, stopWhen: sdk.stepCountIs(9), ...input });
      await store.result(result as unknown as Result);
      const asked = result.content.filter((part) => part.type === "tool-approval-request");
      if (asked.length === 0) break;
      const approved = turn % 2 === 0;
      const content = asked.map(
        ({ approvalId }) => ({ type: "tool-approval-response", approvalId, approved }) as const,
      );
      await store.add([{ role: "tool", content }]);
    }
  }
  return used.prompts;
}

const asJson = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, part) => (part instanceof Uint8Array ? Buffer.from(part).toString("base64") : part)),
  );

function array(): Store & { readonly messages: ModelMessage[] } {
  const messages: ModelMessage[] = [];
  return {
    messages,
    add: async (added) => void messages.push(...added),
    result: async ({ responseMessages, response }) => void messages.push(...(responseMessages ?? response.messages)),
    input: async () => ({ messages: [...messages] }),
  };
}

for (const [name, sdk] of Object.entries({ newest, oldest: oldest as unknown as Sdk })) {
  describe(`requests of the ${name} AI SDK`, () => {
    let memory: Client;
    before(async () => void (memory = await local()));
    after(() => memory.close());

    for (const how of ["run", "context"] as const) {
      test(`with ${how}() are those with an array`, async () => {
        const own = array();
        const history = new UtterdHistory(fresh(), memory, { budget: 60_000 });
        const store = {
          add: (added: ModelMessage[]) => history.save(added),
          result: (result: Result) => history.save(result),
          input: () => history[how](),
        };
        const [expected, found] = [await talk(sdk, own), await talk(sdk, store)];
        assert.ok(expected.length > 50);
        assert.deepEqual(found.map(asJson), expected.map(asJson));
        const { messages, warnings } = await history.context();
        assert.deepEqual([messages, warnings], [await history.load(), []]);
      });
    }
  });
}
