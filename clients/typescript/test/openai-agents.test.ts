import assert from "node:assert/strict";
import { test } from "node:test";

import { type AgentInputItem, protocol } from "@openai/agents";
import { UtterdSession } from "utterd/openai-agents";

import { fresh, onEachStore } from "./servers.js";

type Items = AgentInputItem[];

const LONG = "The order was shipped with DHL on the third of May.";
const PNG = `data:image/png;base64,${Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.alloc(300, 7)]).toString("base64")}`;
const ASKED: AgentInputItem = {
  role: "user",
  content: [
    { type: "input_text", text: "Where are my orders 7 and 8? This is what they look like." },
    { type: "input_image", image: PNG, detail: "high" },
    { type: "input_image", image: { id: "file_1" } },
    { type: "input_file", file: { url: "https://example.com/8.pdf" }, filename: "8.pdf" },
    { type: "audio", audio: "AAAA", format: "wav" },
  ],
};
const THOUGHT: AgentInputItem = {
  type: "reasoning",
  id: "rs_1",
  content: [{ type: "input_text", text: "I have to look both up." }],
  providerData: { encrypted_content: "gAAAA" },
};
const SEARCHED: AgentInputItem = {
  type: "hosted_tool_call",
  id: "ws_1",
  name: "web_search_call",
  status: "completed",
  providerData: { type: "web_search_call", action: { type: "search", query: "DHL" } },
};
const call = (callId: string, id: number): AgentInputItem => ({
  type: "function_call",
  callId,
  name: "look",
  arguments: JSON.stringify({ id }),
  status: "completed",
  providerData: { id: `fc_${id}` },
});
const result = (callId: string, output: unknown): AgentInputItem =>
  ({ type: "function_call_result", name: "look", callId, status: "completed", output }) as AgentInputItem;
const told = (text: string): AgentInputItem => ({
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, providerData: { annotations: [] } }],
});
const SAID: Items = [
  ASKED,
  THOUGHT,
  SEARCHED,
  call("c7", 7),
  call("c8", 8),
  result("c8", { type: "text", text: "there is none" }),
  result("c7", [
    { type: "input_text", text: LONG },
    { type: "input_image", image: PNG },
  ]),
  { type: "shell_call", callId: "s1", action: { commands: ["ls"], timeoutMs: 100 }, status: "completed" },
  {
    type: "shell_call_output",
    callId: "s1",
    output: [{ stdout: "order.txt", stderr: "", outcome: { type: "exit", exitCode: 0 } }],
  },
  told("Order 7 is on its way; there is no order 8."),
];

/** As much of a Zod schema as is read here. */
interface Schema {
  readonly def: {
    readonly type: string;
    readonly shape?: Record<string, Schema>;
    readonly options?: Schema[];
    readonly values?: unknown[];
    readonly entries?: Record<string, unknown>;
    readonly element?: Schema;
    readonly innerType?: Schema;
    readonly in?: Schema;
  };
}

/** The objects that a schema allows. */
function objects({ def }: Schema): Schema[] {
  return def.options?.flatMap(objects) ?? [{ def }];
}

/** A value of a schema, with every field that it knows. */
function sample({ def }: Schema): unknown {
  const { shape, options, values, entries, element } = def;
  const within = options?.[0] ?? def.innerType ?? def.in;
  if (shape) return Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, sample(field)]));
  if (within) return sample(within);
  if (values) return values[0];
  if (entries) return Object.values(entries)[0];
  if (element) return objects(element).map(sample);
  const plain: Record<string, unknown> = { number: 1, boolean: true, record: { k: "v" }, null: null };
  return def.type in plain ? plain[def.type] : "some text";
}

onEachStore("a session of the OpenAI Agents SDK", (memory) => {
  const started = (budget?: number) => new UtterdSession(fresh(), memory(), { budget });

  test("items come back as they were", async () => {
    const session = started();
    assert.deepEqual(await session.getItems(), []);
    assert.equal(await session.popItem(), undefined);
    await session.addItems([]);
    await session.addItems([{ role: "system", content: "Be brief." }, ...SAID]);
    assert.deepEqual(await session.getItems(), [{ role: "system", content: "Be brief." }, ...SAID]);
    assert.deepEqual(await session.getItems(2), SAID.slice(-2));
    assert.deepEqual(await session.getItems(0), []);
    assert.deepEqual(await session.popItem(), SAID.at(-1));
    await session.replaceHistoryWithCompaction([ASKED, told("Both.")]);
    assert.deepEqual(await session.getItems(), [ASKED, told("Both.")]);
    await session.clearSession();
    assert.deepEqual(await session.getItems(), []);
  });

  test("items of each kind that the SDK knows come back as they were, with every field", async () => {
    const items = objects(protocol.ModelItem as unknown as Schema).map(sample) as Items;
    const kinds = new Set(items.map((item) => item.type));
    assert.ok(["message", "function_call_result", "reasoning", "compaction"].every((kind) => kinds.has(kind as never)));
    for (const item of items) {
      const session = started();
      await session.addItems([ASKED, item]);
      assert.deepEqual(await session.getItems(), [ASKED, item]);
    }
  });

  test("calls are calls for the server, results are theirs, and texts are stored once", async () => {
    const session = started();
    await session.addItems(SAID);
    const openai = await session.conversation.context({ format: "openai" });
    const named = openai.flatMap((it) => it.tool_calls ?? []).map((it) => [it.id, it.function.name]);
    assert.deepEqual(named.slice(0, 2), [
      ["c7", "look"],
      ["c8", "look"],
    ]);
    assert.match(JSON.stringify(openai.find((it) => it.tool_call_id === "c7")), /shipped with DHL/);
    assert.ok(JSON.stringify(openai).includes(PNG), "the user's picture goes to the model");
    const stored = JSON.stringify(await session.conversation.messages());
    assert.equal(stored.split(LONG).length, 2);
    assert.equal(stored.split(PNG).length, 3);
  });

  test("a context has the items that it shows whole, with what the model thought", async () => {
    const session = started(8000);
    await session.addItems(SAID);
    assert.deepEqual(await session.getItems(), SAID);
    await session.addItems([{ role: "user", content: "And order 9?" }, THOUGHT, call("c9", 9)]);
    const open = await session.getItems();
    assert.deepEqual(open.slice(-3), [{ role: "user", content: "And order 9?" }, THOUGHT, call("c9", 9)]);
    assert.match(JSON.stringify((await session.context({ unanswered: "placeholder" })).at(-1)), /"c9".*no result/);
    await session.addItems([{ role: "user", content: "Never mind." }]);
    assert.deepEqual(
      (await session.getItems()).slice(-3).map((item) => item.type),
      ["function_call", "function_call_result", undefined],
    );
    await session.conversation.forget({ newest: 1, hard: true, exact: true });
    await session.addItems([result("c9", "one word after the other, ".repeat(20_000))]);
    const cut = JSON.stringify(await session.getItems());
    assert.match(cut, /"callId":"c9","name":"look","status":"completed","output":"one word/);
    assert.ok(cut.length < 60_000, `${cut.length}`);
  });

  test("pictures of a result count", async () => {
    const session = started(2000);
    const look = (callId: string, pictures: number) => [
      call(callId, 7),
      result(callId, [
        { type: "input_text", text: LONG },
        ...Array(pictures).fill({ type: "input_image", image: PNG }),
      ]),
    ];
    await session.addItems([ASKED, ...look("c1", 20), ...look("c2", 1)]);
    const shown = (await session.getItems()).map((item) => JSON.stringify(item).split(PNG).length - 1);
    assert.deepEqual(shown.slice(-4), [0, 0, 0, 1]);
    assert.equal((await session.context({ budget: 60_000 })).length, 5);
    assert.deepEqual((await session.context({ budget: 60_000 })).slice(1), [...look("c1", 20), ...look("c2", 1)]);
  });

  test("a long conversation fits the budget, and nothing is lost", async () => {
    const session = started(2000);
    const said = Array.from({ length: 300 }, (_, index): Items => [
      { role: "user", content: `When is my parcel ${index} from Paris delivered?` },
      told(`Parcel ${index} is delivered on Monday, in the week number ${index % 52}.`),
    ]).flat();
    await session.addItems(said);
    const items = await session.getItems();
    const { counts } = await memory().countTokens(JSON.stringify(items));
    assert.ok(items.length > 20 && items.length < 100 && counts[0]! < 5000, `${items.length} ${counts}`);
    assert.match(JSON.stringify(items[0]), /"role":"system".*SUMMARY|summary/i);
    assert.deepEqual(items.slice(-20), said.slice(-20));
    assert.deepEqual(await session.getItems(said.length), said);
  });

  test("what others said, and what was edited since", async () => {
    const session = started(8000);
    await session.addItems([{ role: "user", content: "Where is it?" }, told("There.")]);
    const [first] = (await session.conversation.stored()).messages;
    await session.conversation.edit(first!.utteranceId, { content: "Where is the lamp?" });
    const called = { id: "c1", type: "function", function: { name: "look", arguments: '{"id":7}' } };
    await session.conversation.add([
      {
        role: "user",
        content: [
          { type: "text", text: "And this?" },
          { type: "image_url", image_url: { url: PNG } },
        ],
      },
      { role: "assistant", content: "I see.", tool_calls: [called] },
      { role: "tool", tool_call_id: "c1", content: "shipped" },
    ]);
    const expected: Items = [
      { type: "message", role: "user", content: "Where is the lamp?" },
      told("There."),
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: "And this?" },
          { type: "input_image", image: PNG },
        ],
      },
      { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "I see." }] },
      { type: "function_call", callId: "c1", name: "look", arguments: '{"id":7}', status: "completed" },
      { type: "function_call_result", callId: "c1", name: "look", status: "completed", output: "shipped" },
    ];
    assert.deepEqual(await session.getItems(), expected);
    const listed = await session.getItems(100);
    assert.deepEqual(listed.toSpliced(2, 1), expected.toSpliced(2, 1));
    assert.match(JSON.stringify(listed[2]), /"role":"user".*And this\?/);
  });

  test("an id that is none, a recipient and limits", async () => {
    const user = fresh();
    const id = `${fresh()}\n`;
    const session = new UtterdSession(id, memory(), { user, policy: { preset: "session" } });
    await session.addItems([ASKED]);
    assert.equal(await session.getSessionId(), id);
    const [record] = await memory().conversations({ recipient: user });
    assert.match(record?.conversationId ?? "", /^[0-9a-f]{64}$/);
    assert.equal(record?.policy.maxUtterances, undefined);
  });
});
