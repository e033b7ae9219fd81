import assert from "node:assert/strict";
import { test } from "node:test";

import type { ModelMessage, ToolResultPart } from "ai";
import { InvalidRequestError, local } from "utterd";
import { UtterdHistory } from "utterd/ai-sdk";

import { fresh, onEachStore } from "./servers.js";

const LONG = "The order was shipped with DHL on the third of May.";
const ASKED: ModelMessage = {
  role: "user",
  content: [
    { type: "text", text: "Where are my orders 7 and 8? This is what they look like." },
    { type: "image", image: new URL("https://example.com/7.png") },
    { type: "file", data: Uint8Array.of(0, 1, 255), mediaType: "application/pdf", filename: "8.pdf" },
  ],
};
const CALLED: ModelMessage = {
  role: "assistant",
  content: [
    { type: "reasoning", text: "I have to look both up.", providerOptions: { openai: { itemId: "rs_1" } } },
    { type: "text", text: "Let me see." },
    { type: "tool-call", toolCallId: "c7", toolName: "lookup_order", input: { id: 7 } },
    { type: "tool-call", toolCallId: "c8", toolName: "lookup_order", input: { id: 8, $at: "home" } },
    { type: "tool-call", toolCallId: "s1", toolName: "web_search", input: { query: "DHL" }, providerExecuted: true },
    { type: "tool-result", toolCallId: "s1", toolName: "web_search", output: { type: "json", value: ["dhl.com"] } },
  ],
};
const FOUND: ModelMessage = {
  role: "tool",
  content: [
    { type: "tool-result", toolCallId: "c7", toolName: "lookup_order", output: { type: "text", value: LONG } },
    {
      type: "tool-result",
      toolCallId: "c8",
      toolName: "lookup_order",
      output: { type: "error-json", value: { code: 404 } },
    },
  ],
};
const TOLD: ModelMessage = {
  role: "assistant",
  content: [{ type: "text", text: "Order 7 is on its way; there is no order 8." }],
};
const SAID = [ASKED, CALLED, FOUND, TOLD];

onEachStore("a history of the AI SDK", (memory) => {
  const history = () => new UtterdHistory(fresh(), memory());

  test("messages come back as they were", async () => {
    const chat = history();
    assert.deepEqual(await chat.load(), []);
    await chat.save([]);
    await chat.save([{ role: "system", content: "Be brief." }, ...SAID]);
    await chat.save({ role: "user", content: "Thanks" });
    assert.deepEqual(await chat.load(), [
      { role: "system", content: "Be brief." },
      ...SAID,
      { role: "user", content: "Thanks" },
    ]);
    assert.deepEqual(await chat.load({ last: 2 }), [TOLD, { role: "user", content: "Thanks" }]);
    await chat.clear();
    assert.deepEqual(await chat.load(), []);
  });

  test("calls are calls for the server, and results are theirs", async () => {
    const chat = history();
    await chat.save(SAID);
    const openai = await chat.conversation.messages({ format: "openai" });
    assert.deepEqual(
      openai.map((it) => it.role),
      ["user", "assistant", "tool", "tool", "assistant"],
    );
    assert.deepEqual(
      openai[1].tool_calls.map((it: { id: string }) => it.id),
      ["c7", "c8"],
    );
    assert.deepEqual(
      openai.slice(2, 4).map((it) => [it.tool_call_id, it.content]),
      [
        ["c7", LONG],
        ["c8", '{"code":404}'],
      ],
    );
    assert.equal((await chat.conversation.remember("shipped DHL", { roles: ["tool"] })).length, 1);
    const stored = JSON.stringify(await chat.conversation.messages());
    assert.equal(stored.split(LONG).length, 2, "a text is stored once");
    const value = { state: "shipped", carriers: ["DHL", "UPS"], by: { $at: "home" } };
    const output = { type: "json", value } as const;
    const found: ModelMessage = {
      role: "tool",
      content: [{ type: "tool-result", toolCallId: "c9", toolName: "look", output }],
    };
    await chat.save([
      { role: "assistant", content: [{ type: "tool-call", toolCallId: "c9", toolName: "look", input: {} }] },
      found,
    ]);
    assert.deepEqual(await chat.load({ last: 1 }), [found]);
    const [kept] = (await chat.conversation.stored({ last: 1 })).messages;
    assert.equal(kept?.json.split("carriers").length, 2, "so is JSON");
    await chat.conversation.edit(kept.utteranceId, { content: "it is lost" });
    assert.match(JSON.stringify(await chat.load({ last: 1 })), /"type":"text","value":"it is lost"/);
  });

  test("a context is spread into a call of the model", async () => {
    const chat = history();
    assert.deepEqual(await chat.context({ instructions: "Be kind." }), { system: "Be kind.", messages: [] });
    await chat.save([{ role: "system", content: "Be brief." }, ...SAID]);
    const { system, messages } = await chat.context({ budget: 8000, instructions: "Be kind." });
    assert.match(system ?? "", /Be kind\.\n\nBe brief\./);
    assert.deepEqual(
      messages.map((it) => it.role),
      ["user", "assistant", "tool", "assistant"],
    );
    assert.deepEqual(messages, SAID);
    assert.deepEqual((await chat.context({ maxTurns: 1, budget: 8000 })).messages.length, 4);
  });

  test("an image is stored once, and goes to the model", async () => {
    const chat = history();
    const png = Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.alloc(3000, 7)]);
    const data = png.toString("base64");
    const said: ModelMessage[] = [
      { role: "user", content: [{ type: "image", image: new Uint8Array(png) }] },
      { role: "user", content: [{ type: "file", data: `data:image/png;base64,${data}`, mediaType: "image/*" }] },
      { role: "user", content: [{ type: "file", data: new Uint8Array(png), mediaType: "audio/wav" }] },
    ];
    await chat.save(said);
    assert.deepEqual(await chat.load(), said);
    const [first] = await chat.conversation.messages();
    assert.equal(JSON.stringify(first).split(data).length, 2);
    assert.deepEqual((await chat.context()).messages, said);
  });

  test("what came in comes out in later turns, too, but for what a budget does not count", async () => {
    const chat = history();
    const bytes = Uint8Array.of(82, 73, 70, 70);
    const files = [
      { type: "file", data: bytes, mediaType: "audio/wav", filename: "7.wav", providerOptions: { openai: { a: 1 } } },
      { type: "file", data: { type: "text", text: "a;b" }, mediaType: "text/csv" },
      { type: "file", data: { type: "data", data: bytes }, mediaType: "image" },
    ] as const;
    const outputs = [
      { type: "text", text: LONG },
      { type: "image-data", data: "iVBORw0KGgoAAAA=", mediaType: "image/png" },
      { type: "file", data: { type: "url", url: new URL("https://example.com/8.pdf") }, mediaType: "application/pdf" },
      { type: "file-data", data: "AAAA", mediaType: "audio/wav", filename: "8.wav" },
    ] as const;
    const drawn: ModelMessage = {
      role: "assistant",
      content: [{ type: "file", data: bytes, mediaType: "image/webp" }],
    };
    const said: ModelMessage[] = [
      { role: "user", content: [...files] },
      { role: "assistant", content: [{ type: "tool-call", toolCallId: "c1", toolName: "look", input: {} }] },
      {
        role: "tool",
        content: [
          { type: "tool-result", toolCallId: "c1", toolName: "look", output: { type: "content", value: [...outputs] } },
        ],
      },
      drawn,
      { role: "user", content: "And these?" },
      ...SAID,
      { role: "user", content: "Thanks" },
    ];
    await chat.save(said);
    assert.deepEqual(await chat.load(), said);
    const { messages, warnings } = await chat.context({ budget: 8000 });
    assert.deepEqual([messages, warnings], [said, []]);
    const { tokens } = await chat.conversation.context({ budget: 8000, format: "anthropic" });
    const spoken = { role: "assistant", content: CALLED.content.slice(1, 4) };
    assert.deepEqual(
      (await chat.context({ budget: tokens + 20 })).messages,
      said.map((message) => (message === CALLED ? spoken : message)),
    );
    const masked = await chat.context({ maskResultsAfterTurns: 1 });
    assert.deepEqual(masked.warnings, ["the files of the message at sequence 3 are not in the context"]);
    assert.match(JSON.stringify(masked.messages[2]), /"type":"text","value":"\[result of look.*omitted/);
    assert.deepEqual([masked.messages[1], masked.messages[3]], [said[1], said[3]]);
    const text = (await chat.conversation.context({ format: "text" })).text;
    for (const note of ["[7.wav, audio/wav]", "[file, text/csv]", "[file, image/webp]"]) assert.ok(text.includes(note));
  });

  test("pictures that are too large together are told of", async () => {
    const chat = history();
    const image = new Uint8Array(700_000);
    for (const text of ["one", "two", "three"]) {
      await chat.save({
        role: "user",
        content: [
          { type: "text", text },
          { type: "image", image, mediaType: "image/png" },
        ],
      });
      await chat.save({ role: "assistant", content: "I see." });
    }
    const { messages, warnings } = await chat.context({ budget: 20_000 });
    assert.deepEqual(warnings.slice(1), ["the files of the message at sequence 1 are not in the context"]);
    assert.deepEqual(messages[0], { role: "user", content: [{ type: "text", text: "one" }] });
    assert.deepEqual(messages.slice(1), (await chat.load()).slice(1));
  });

  test("a budget is used, and nothing is lost", async () => {
    const chat = new UtterdHistory(fresh(), memory(), { budget: 20_000 });
    const said = Array.from({ length: 1250 }, (_, index): ModelMessage[] => [
      { role: "user", content: `When is my parcel ${index} from Paris delivered?` },
      { role: "assistant", content: `Parcel ${index} is delivered on Monday.` },
    ]).flat();
    await chat.save(said);
    const { system, messages, warnings } = await chat.context();
    const { tokens, uncovered } = await chat.conversation.context({ budget: 20_000, stableSteps: false });
    assert.ok(tokens >= 17_000 && tokens <= 20_000, `${tokens}`);
    assert.deepEqual([uncovered, warnings], [0, []]);
    const { counts } = await memory().countTokens([system ?? "", ...messages.map(({ content }) => content as string)]);
    // Each message counts its words and 4.
    const used = counts.reduce((sum, count) => sum + count, 4 * messages.length);
    assert.ok(used >= 17_000 && used <= 20_000 && counts[0]! > 100, `${used}`);
    assert.ok(messages.length > 1000);
    assert.deepEqual(messages, said.slice(-messages.length));
    assert.deepEqual(await chat.load(), said);
    const { policy } = await chat.conversation.record();
    assert.deepEqual([policy.maxUtterances, policy.maxTokens], [undefined, 15_000]);
  });

  test("the newest calls stay open until the user goes on", async () => {
    const chat = history();
    const [answered, other] = FOUND.content as ToolResultPart[];
    await chat.save([ASKED, CALLED, { role: "tool", content: [answered!] }]);
    assert.deepEqual((await chat.context()).messages, await chat.load());
    const closed = (await chat.context({ unanswered: "placeholder" })).messages;
    assert.match(JSON.stringify(closed.at(-1)), /"c8".*no result/);
    await chat.save({ role: "user", content: "Never mind." });
    const { messages } = await chat.context();
    assert.deepEqual(
      messages.map((it) => it.role),
      ["user", "assistant", "tool", "tool", "user"],
    );
    assert.deepEqual(
      messages.slice(2, 4).flatMap((it) => (it.content as ToolResultPart[]).map(({ toolCallId }) => toolCallId)),
      [answered!.toolCallId, other!.toolCallId],
    );
  });

  test("results in another order than their calls, and one that is shortened", async () => {
    const chat = history();
    const [first, second] = FOUND.content as ToolResultPart[];
    await chat.save([ASKED, CALLED, { role: "tool", content: [second!] }, { role: "tool", content: [first!] }, TOLD]);
    assert.deepEqual((await chat.context()).messages, await chat.load());
    const long = history();
    const output = { type: "text", value: "one word after the other, ".repeat(2000) } as const;
    await long.save([{ role: "user", content: "Where is it?" }, CALLED]);
    await long.save([
      { role: "tool", content: [second!] },
      { role: "tool", content: [{ ...first!, output }] },
    ]);
    const { messages } = await long.context({ budget: 2000 });
    assert.deepEqual(messages.slice(0, 2), (await long.load()).slice(0, 2));
    const results = messages.slice(2).flatMap((it) => it.content as ToolResultPart[]);
    assert.deepEqual(results.map(({ toolCallId }) => toolCallId).sort(), ["c7", "c8"]);
    assert.ok(JSON.stringify(results).length < 8000);
  });

  test("an approval stands between a call and its result", async () => {
    const chat = history();
    const said: ModelMessage[] = [
      { role: "user", content: "Delete order 7." },
      {
        role: "assistant",
        content: [
          { type: "tool-call", toolCallId: "c1", toolName: "delete_order", input: { id: 7 } },
          { type: "tool-approval-request", approvalId: "a1", toolCallId: "c1" },
        ],
      },
      { role: "tool", content: [{ type: "tool-approval-response", approvalId: "a1", approved: true }] },
      {
        role: "tool",
        content: [
          { type: "tool-result", toolCallId: "c1", toolName: "delete_order", output: { type: "text", value: "done" } },
        ],
      },
    ];
    for (const [index, message] of said.entries()) {
      await chat.save(message);
      assert.deepEqual(await chat.load(), said.slice(0, index + 1));
      assert.deepEqual((await chat.context()).messages, said.slice(0, index + 1));
    }
    await chat.save({ role: "user", content: "Thanks" });
    assert.deepEqual((await chat.context()).messages.slice(0, 4), said);
  });

  test("what others said, and what was edited since", async () => {
    const chat = history();
    await chat.save({ role: "user", content: [{ type: "text", text: "Where is my order, the one with the book?" }] });
    const [first] = (await chat.conversation.stored()).messages;
    await chat.conversation.edit(first!.utteranceId, { content: "Where is my order, the one with the lamp?" });
    const call = { id: "c1", type: "function", function: { name: "lookup_order", arguments: '{"id":7}' } };
    await chat.conversation.add([
      { role: "assistant", content: "I see.", tool_calls: [call] },
      { role: "tool", tool_call_id: "c1", content: "shipped" },
    ]);
    const [other] = (await chat.conversation.add({ role: "user", content: "Hm?" })).memorized;
    assert.equal(other?.sequence, 4);
    await chat.save({ role: "user", content: [{ type: "text", text: "Hi" }] });
    await chat.conversation.edit((await chat.conversation.stored({ last: 1 })).messages[0]!.utteranceId, {
      content: "Hello",
    });
    assert.deepEqual(await chat.load({ last: 1 }), [{ role: "user", content: [{ type: "text", text: "Hello" }] }]);
    assert.deepEqual((await chat.context()).messages.at(-1)?.content.at(-1), { type: "text", text: "Hello" });
    await chat.conversation.forget({ newest: 2, hard: true, exact: true });
    assert.deepEqual(await chat.load(), [
      { role: "user", content: [{ type: "text", text: "Where is my order, the one with the lamp?" }] },
      {
        role: "assistant",
        content: [
          { type: "text", text: "I see." },
          { type: "tool-call", toolCallId: "c1", toolName: "lookup_order", input: { id: 7 } },
        ],
      },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "c1",
            toolName: "lookup_order",
            output: { type: "text", value: "shipped" },
          },
        ],
      },
    ]);
  });

  test("a message above the budget is shortened, with its picture, and later turns go on", async () => {
    const chat = new UtterdHistory(fresh(), memory(), { budget: 2000 });
    const image = {
      type: "image",
      image: Uint8Array.of(137, 80, 78, 71, 13, 10, 26, 10),
      mediaType: "image/png",
    } as const;
    const pasted = { type: "text", text: `begin ${"one word after the other, ".repeat(5000)} end` } as const;
    await chat.save({ role: "user", content: [pasted, image] });
    for (const said of ["Thanks", "And this?"]) {
      const { messages, warnings } = await chat.context();
      assert.ok(JSON.stringify(messages).length < 12_000 && warnings.length > 0, `${warnings}`);
      await chat.save([
        { role: "assistant", content: "I see." },
        { role: "user", content: said },
      ]);
    }
    assert.deepEqual((await chat.load())[0], { role: "user", content: [pasted, image] });
  });

  test("an id that is none, a recipient and limits", async () => {
    const user = fresh();
    const chat = new UtterdHistory(`${fresh()}\n`, memory(), { user, policy: { preset: "session" } });
    await chat.save(ASKED);
    const [record] = await memory().conversations({ recipient: user });
    assert.match(record?.conversationId ?? "", /^[0-9a-f]{64}$/);
    assert.equal(record?.policy.maxUtterances, undefined);
  });
});

test("a message that is too large is refused, or cut", async () => {
  await using memory = await local({ settings: { max_content_bytes: "1MiB", max_message_bytes: "16MiB" } });
  const id = fresh();
  const output = `begin ${"é".repeat(600_000)} end`;
  const image = new Uint8Array(1_500_000);
  const said = (toolCallId: string, value: string): ModelMessage[] => [
    {
      role: "user",
      content: [
        { type: "text", text: "Look!" },
        { type: "image", image, mediaType: "image/png" },
      ],
    },
    { role: "assistant", content: [{ type: "tool-call", toolCallId, toolName: "look", input: {} }] },
    {
      role: "tool",
      content: [{ type: "tool-result", toolCallId, toolName: "look", output: { type: "text", value } }],
    },
  ];
  await assert.rejects(
    new UtterdHistory(id, memory).save(said("c1", output)),
    (error) => error instanceof InvalidRequestError && /^messages\[0\]\.content: /.test(error.message),
  );
  const chat = new UtterdHistory(id, memory, { oversize: "cut" });
  assert.deepEqual(await chat.load(), []);
  // The second half is larger than a whole request.
  await chat.save([...said("c1", output), ...said("c2", output.repeat(16))]);
  const stored = await chat.load();
  assert.deepEqual(stored[0], {
    role: "user",
    content: [
      { type: "text", text: "Look!" },
      { type: "text", text: "[image, image/png]" },
    ],
  });
  assert.deepEqual([stored.length, stored[1]], [6, said("c1", "")[1]]);
  for (const [message, bytes] of [
    [stored[2], 1_200_010],
    [stored[5], 19_200_160],
  ] as const) {
    const [, value = ""] = /"value":"(.*)"/.exec(JSON.stringify(message)) ?? [];
    const [, left] = /^begin é+\\n\[… (\d+) bytes left out …\]\\né+ end$/.exec(value) ?? [];
    assert.ok(Buffer.byteLength(value) > 1_000_000 && Buffer.byteLength(value) < 1_048_576, value.slice(0, 80));
    assert.ok(Math.abs(Number(left) + Buffer.byteLength(value) - bytes) < 100);
  }
  assert.equal((await chat.context({ budget: 2_000_000 })).messages.length, 6);
  // What is small stays, and so does what a provider must get back unchanged.
  const providerOptions = { anthropic: { signature: "s".repeat(500_000) } };
  const rows = (count: number) =>
    ({ type: "json", value: { rows: Array.from({ length: count }, (_, row) => row) } }) as const;
  const results = Object.entries({ c3: 200_000, c4: 2000 });
  await chat.save([
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: "Let me see.", providerOptions },
        { type: "tool-call", toolCallId: "c3", toolName: "look", input: { text: "t".repeat(700_000) } },
        { type: "tool-call", toolCallId: "c4", toolName: "look", input: {} },
      ],
    },
    {
      role: "tool",
      content: results.map(([toolCallId, count]) => ({
        type: "tool-result",
        toolCallId,
        toolName: "look",
        output: rows(count),
      })),
    },
  ]);
  const [called, found] = await chat.load({ last: 2 });
  assert.deepEqual(called?.content[0], { type: "reasoning", text: "Let me see.", providerOptions });
  assert.match(JSON.stringify(called?.content[1]), /"input":{"text":"t+\\n\[… \d+ bytes left out …\]\\nt+"}/);
  assert.match(
    JSON.stringify(found?.content),
    /"c3".*"type":"text","value":"{\\"rows.* bytes left out .*"c4".*"type":"json"/,
  );
});
