/** The session with the newest OpenAI Agents SDK and the oldest that it supports: what they store, and what their models get. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import * as newest from "@openai/agents";
import type { AgentInputItem, AgentOutputItem, ModelRequest, Session } from "@openai/agents";
import * as oldest from "agents-oldest";
import { type Client, local } from "utterd";
import { UtterdSession } from "utterd/openai-agents";

import { fresh } from "./servers.js";

type Sdk = typeof newest;
type Items = AgentInputItem[];

const PNG = `data:image/png;base64,${Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.alloc(300, 7)]).toString("base64")}`;

/** What a tool gets. */
const parameters = {
  type: "object" as const,
  properties: { id: { type: "integer" } },
  required: ["id"],
  additionalProperties: true as const,
};

/** Version 0.3 does not store the result of a call that was approved: there, no call needs to be. */
const toolsOf = (sdk: Sdk) => {
  const needsApproval = sdk === newest;
  const shared = { description: "About an order.", parameters, strict: false as const };
  const idOf = (input: unknown) => (input as { id: number }).id;
  return [
    sdk.tool({
      ...shared,
      name: "look",
      execute: async (input: unknown) => `The order ${idOf(input)} is on its way to Oslo.`,
    }),
    sdk.tool({ ...shared, name: "show", execute: async () => ({ type: "image" as const, image: PNG }) }),
    sdk.tool({
      ...shared,
      name: "drop",
      needsApproval,
      execute: async (input: unknown) => `dropped ${idOf(input)}`,
    }),
  ];
};

/** A model that thinks, calls tools and answers, by the number of the question; `requests` is what it got. */
class Model {
  readonly requests: Items[] = [];

  async getResponse({ input }: ModelRequest) {
    const items = input as Items;
    this.requests.push(structuredClone(items));
    const said = items.findLastIndex((item) => "role" in item && item.role === "user");
    const turn = items.filter((item) => "role" in item && item.role === "user").length;
    const called = items.slice(said).some((item) => item.type === "function_call");
    return { usage: new newest.Usage(), output: this.output(turn, called) };
  }

  async *getStreamedResponse(): AsyncGenerator<never> {
    throw new Error("not asked for");
  }

  private output(turn: number, called: boolean): AgentOutputItem[] {
    const call = (name: string, id: number) => ({
      type: "function_call" as const,
      id: `fc_${turn}_${id}`,
      callId: `call_${turn}_${id}`,
      name,
      arguments: JSON.stringify({ id }),
      status: "completed" as const,
    });
    const calls = [[call("look", 1), call("look", 2)], [call("show", 1)], [call("drop", 1), call("look", 2)], []];
    const text = `The answer to question ${turn}: all is well with the order.`;
    const thought = `I have to think about question ${turn}, and look first.`;
    const reasoning = {
      type: "reasoning" as const,
      id: `rs_${turn}`,
      content: [{ type: "input_text" as const, text: thought }],
    };
    const message = {
      type: "message" as const,
      id: `msg_${turn}`,
      role: "assistant" as const,
      status: "completed" as const,
    };
    const next = called ? [] : calls[turn % calls.length]!;
    const searched = {
      type: "hosted_tool_call" as const,
      id: `ws_${turn}`,
      name: "web_search_call",
      status: "completed",
    };
    if (next.length > 0) return [reasoning, ...(turn % 3 === 0 ? [searched] : []), ...next];
    return [{ ...message, content: [{ type: "output_text", text, providerData: { annotations: [] } }] }];
  }
}

/** Talks for some turns, with every fourth question about a picture. */
async function talk(sdk: Sdk, session: Session, turns: number, model = new Model()): Promise<Model> {
  const agent = new sdk.Agent({ name: "shop", instructions: "Be kind.", model: model as never, tools: toolsOf(sdk) });
  const runner = new sdk.Runner({ tracingDisabled: true });
  for (let turn = 0; turn < turns; turn++) {
    const text = `Question number ${turn}: where is my order, the one with the lamp?`;
    const shown: Items = [
      {
        role: "user",
        content: [
          { type: "input_text", text },
          { type: "input_image", image: PNG, detail: "low" },
        ],
      },
    ];
    const sessionInputCallback = async (history: Items, added: Items) => [...history, ...added];
    let result = await runner.run(agent, turn % 4 === 3 ? shown : text, { session, sessionInputCallback });
    while (result.interruptions.length > 0) {
      for (const asked of result.interruptions) {
        if (turn % 8 === 1) result.state.approve(asked);
        else result.state.reject(asked);
      }
      result = await runner.run(agent, result.state, { session });
    }
    assert.match(result.finalOutput ?? "", /all is well/);
  }
  return model;
}

for (const [name, sdk] of Object.entries({ newest, oldest: oldest as unknown as Sdk })) {
  describe(`the ${name} OpenAI Agents SDK`, () => {
    let memory: Client;
    before(async () => void (memory = await local()));
    after(() => memory.close());

    for (const budget of [undefined, 60_000]) {
      test(`requests are those of the SDK's own session, with ${budget ?? "no"} budget`, async () => {
        const own = new sdk.MemorySession();
        const session = new UtterdSession(fresh(), memory, { budget });
        const [expected, found] = [await talk(sdk, own, 30), await talk(sdk, session, 30)];
        assert.ok(expected.requests.length > 50);
        assert.deepEqual(found.requests, expected.requests);
        assert.deepEqual(await session.getItems(), await own.getItems());
      });
    }
  });
}
