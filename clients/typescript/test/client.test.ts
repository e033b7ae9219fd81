import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";

import { ConflictError, ExistsError, InvalidRequestError, NotFoundError, PreconditionError } from "utterd";
import { fit, originals } from "utterd/adapters";

import { fresh, onEachStore } from "./servers.js";

const ASKED = { role: "user", content: "My flight HAT136 leaves on May 23. Can I move it?" };
const CALLED = {
  role: "assistant",
  content: null,
  tool_calls: [{ id: "c1", type: "function", function: { name: "find_flight", arguments: '{"id": "HAT136"}' } }],
};
const FOUND = { role: "tool", tool_call_id: "c1", content: "seats left: 3" };
const TOLD = { role: "assistant", content: "Yes, three seats are left in the morning." };
const SAID = [ASKED, CALLED, FOUND, TOLD];
const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ role: "user", content: `message number ${index + 1} of several` }));

onEachStore("a conversation", (memory) => {
  test("messages come back as they came, and go to the model", async () => {
    const chat = memory().conversation(fresh());
    const added = await chat.add(SAID);
    assert.deepEqual(
      [added.started, added.memorized.map((it) => it.role)],
      [true, ["user", "assistant", "tool", "assistant"]],
    );
    assert.deepEqual(await chat.messages(), SAID);
    const context = await chat.context({ budget: 8000, format: "openai", instructions: "Be brief." });
    assert.deepEqual(
      context.map((it) => it.role),
      ["system", "user", "assistant", "tool", "assistant"],
    );
    assert.ok(context.tokens > 0 && context.tokens <= 8000 && context.budget === 8000);
    assert.deepEqual(context.sequences, [1, 2, 3, 4]);
    assert.deepEqual([...context.whole].flat(), [1, 1, 2, 2, 3, 3, 4, 4]);
    await chat.edit(added.memorized[0]!.utteranceId, { pinned: true });
    const last = await chat.context({ maxTurns: 1, format: "openai" });
    await chat.add(
      [
        { role: "user", content: "Thanks" },
        { role: "assistant", content: "", reasoning: "hm" },
      ],
      {
        lenient: true,
      },
    );
    const next = await chat.context({ maxTurns: 1, format: "openai" });
    const shown = (groups: Awaited<ReturnType<typeof originals>>) =>
      groups.map((group) => group.map(({ message, whole }) => whole && message));
    assert.deepEqual(
      shown(await originals(chat, last)),
      SAID.map((message) => [message]),
    );
    assert.deepEqual(shown(await originals(chat, next)), [
      [ASKED],
      [
        { role: "user", content: "Thanks" },
        { role: "assistant", content: "", reasoning: "hm" },
      ],
    ]);
    const anthropic = await chat.context({ format: "anthropic", instructions: "Be brief." });
    assert.deepEqual(anthropic.system, [{ type: "text", text: "Be brief." }]);
    assert.match((await chat.context({ format: "text" })).text, /HAT136/);
  });

  test("a recipient's active conversation", async () => {
    const recipient = fresh();
    const chat = memory().conversation({ recipient });
    assert.equal((await chat.capacity()).conversationId, "");
    await chat.add(ASKED);
    const [record, ...others] = await memory().conversations({ recipient });
    assert.deepEqual([record?.recipientId, record?.active, others], [recipient, true, []]);
    assert.ok(record?.startTime instanceof Date && record.endTime === undefined);
    assert.equal(await memory().deleteRecipient(recipient), 1);
  });

  test("values beside a conversation", async () => {
    const chat = memory().conversation(fresh());
    await assert.rejects(chat.updateState({ set: { step: 1 } }), NotFoundError);
    const { revision } = await chat.add(ASKED, { state: { set: { step: 1, blob: new Uint8Array([0, 255]) } } });
    assert.deepEqual(await chat.state(), {
      blob: { value: new Uint8Array([0, 255]), version: revision },
      step: { value: 1, version: revision },
    });
    const plan = { city: "Zürich", half: "\ud800", none: null };
    const changed = await chat.updateState({ set: { plan }, delete: ["blob"], expectedVersions: { plan: 0 } });
    assert.equal(changed, revision + 1);
    assert.deepEqual(await chat.state(["plan", "blob"]), { plan: { value: plan, version: changed } });
  });

  test("a message and its change of state are kept together", async () => {
    const chat = memory().conversation(fresh());
    await chat.add(ASKED, { state: { set: { step: 1 } } });
    const state = { set: { step: 2 }, expectedVersions: { step: 0 } };
    for (const change of [chat.add(TOLD, { state }), chat.replaceAfter(0, TOLD, { state })]) {
      const error = await change.then(
        () => undefined,
        (error: unknown) => error,
      );
      assert.ok(error instanceof ConflictError && error.reason === "STALE_STATE");
      assert.equal(error.fields[0]?.field, 'state.expectedVersions["step"]');
    }
    await assert.rejects(chat.add(FOUND, { state: { set: { step: 2 } } }), PreconditionError);
    assert.deepEqual([await chat.messages(), (await chat.state("step")).step?.value], [[ASKED], 1]);
    await assert.rejects(chat.updateState({ set: { step: undefined } }), TypeError);
  });

  test("a recipient's own values", async () => {
    const recipient = fresh();
    const own = memory().recipient(recipient);
    assert.deepEqual([await own.state(), own.id], [{}, recipient]);
    assert.equal(await own.updateState({ set: { plan: [1], step: 1 } }, { expectedRevision: 0 }), 1);
    const chat = memory().conversation({ recipient });
    await chat.add(ASKED, { recipientState: { set: { plan: [2] }, delete: ["step"] } });
    assert.deepEqual([await chat.state(), await own.state()], [{}, { plan: { value: [2], version: 2 } }]);
    const recipientState = { set: { plan: [] }, expectedVersions: { plan: 1 } };
    await assert.rejects(chat.add(TOLD, { recipientState }), ConflictError);
    assert.ok(await chat.delete());
    assert.deepEqual(await own.state(["plan", "step"]), { plan: { value: [2], version: 2 } });
  });

  test("lists are bounded in every way", async () => {
    const chat = memory().conversation(fresh());
    const said = numbered(5);
    await chat.add(said, { ids: ["a", "b", "c", "d", "e"] });
    assert.deepEqual(await chat.messages({ last: 2 }), said.slice(3));
    assert.deepEqual(await chat.messages({ after: 1, before: 4 }), said.slice(1, 3));
    assert.deepEqual(await chat.messages({ ids: ["b"] }), [said[1]]);
    assert.deepEqual(await chat.messages({ offset: 1, limit: 2, newestFirst: true }), [said[3], said[2]]);
    assert.deepEqual(await chat.messages({ roles: ["tool"] }), []);
    assert.deepEqual(await chat.messages({ limit: 0 }), []);
    const stored = await chat.stored({ last: 1 });
    assert.deepEqual([stored.revision, stored.messages[0]?.utteranceId, stored.messages[0]?.sequence], [1, "e", 5]);
    assert.equal(stored.messages[0]?.json, JSON.stringify(said[4]));
    assert.ok(Math.abs(stored.messages[0]!.time.getTime() - Date.now()) < 60_000);
  });

  test("a list of more than a page", async () => {
    const chat = memory().conversation(fresh());
    const said = numbered(1001);
    await chat.add(said.slice(0, 600));
    await chat.add(said.slice(600));
    assert.deepEqual(await chat.messages(), said);
  });

  test("more messages than a call takes", async () => {
    const chat = memory().conversation({ recipient: fresh() });
    const said = numbered(2500);
    const ids = said.map((_, index) => `id ${index}`);
    const state = { set: { step: 1 }, expectedVersions: { step: 0 } };
    const wrong = said.with(1500, { role: "nobody", content: "?" });
    const failed = await chat.add(wrong, { ids, expectedRevision: 0, state }).then(
      () => assert.fail("it was stored"),
      (error: unknown) => error,
    );
    assert.ok(failed instanceof InvalidRequestError);
    assert.match(failed.message, /^messages\[1500\]\.role: /);
    assert.equal((await chat.messages()).length, 1000);
    const again = { ids, expectedRevision: 0, state, requestId: failed.requestId };
    const added = await chat.add(said, again);
    assert.deepEqual(
      added.memorized.map((it) => it.sequence),
      said.map((_, index) => index + 1),
    );
    assert.deepEqual([added.started, added.replayed, added.revision], [true, false, 3]);
    assert.equal((await chat.add(said, again)).replayed, true);
    const stored = (await chat.stored()).messages;
    assert.deepEqual(
      stored.map((it) => [it.message, it.utteranceId]),
      said.map((message, index) => [message, ids[index]]),
    );
  });

  test("more results than a call takes, and more text", async () => {
    const chat = memory().conversation(fresh());
    const said = Array.from({ length: 300 }, (_, turn) => {
      const calls = ["a", "b", "c", "d"].map((letter) => `${letter}${turn}`);
      return [
        { role: "assistant", content: calls.map((id) => ({ type: "tool_use", id, name: "look", input: {} })) },
        { role: "user", content: calls.map((id) => ({ type: "tool_result", tool_use_id: id, content: "done" })) },
      ];
    }).flat();
    assert.equal((await chat.add(said)).memorized.length, 1500);
    const long = Array.from({ length: 20 }, (_, index) => ({ role: "user", content: `${index} `.repeat(300_000) }));
    const added = await chat.replaceAfter(0, long);
    assert.deepEqual([added.removed.length, added.memorized.length], [1500, 20]);
    assert.deepEqual(await chat.messages(), long);
  });

  test("an upsert takes a message's place", async () => {
    const chat = memory().conversation(fresh());
    await chat.add(numbered(2), { ids: ["a", "b"] });
    await assert.rejects(chat.add(ASKED, { ids: ["a"] }), ExistsError);
    await chat.add(ASKED, { ids: ["a"], upsert: true });
    assert.deepEqual(await chat.messages(), [ASKED, numbered(2)[1]]);
  });

  test("the end is taken off, put in place of, and cleared", async () => {
    const chat = memory().conversation(fresh());
    assert.equal(await chat.pop(), undefined);
    await chat.clear();
    await chat.add(SAID);
    assert.deepEqual(await chat.pop(), TOLD);
    assert.deepEqual(
      (await chat.replaceAfter(1, TOLD)).removed.map((it) => it.sequence),
      [2, 3],
    );
    assert.deepEqual(await chat.messages(), [ASKED, TOLD]);
    await chat.clear();
    assert.deepEqual(await chat.messages(), []);
  });

  test("what is forgotten comes back, unless it is forgotten for good", async () => {
    const chat = memory().conversation(fresh());
    await chat.add(SAID);
    const gone = await chat.forget("last:1", { returnMessages: true });
    assert.deepEqual([gone.messages.map((it) => it.message), gone.understoodAs], [[TOLD], "newest"]);
    await chat.restore(gone.forgotten.map((it) => it.utteranceId));
    assert.equal((await chat.messages()).length, 4);
    assert.equal((await chat.forget({ newest: 2, dryRun: true })).forgotten.length, 3);
    await chat.forget({ sequences: [{ first: 2, last: 3 }, 4], hard: true, exact: true });
    assert.deepEqual(await chat.messages(), [ASKED]);
  });

  test("what was said is found, by words, roles and times", async () => {
    const chat = memory().conversation(fresh());
    await chat.add(SAID);
    const [match] = await chat.remember("when does the flight leave?", { neighbors: 1, roles: ["user"] });
    assert.equal(match?.utterance.content, ASKED.content);
    assert.ok(match.relevance > 0 && match.neighbors.length > 0);
    assert.deepEqual(
      (await chat.remember("", { roles: ["tool"] })).map((it) => it.utterance.toolCallId),
      ["c1"],
    );
    assert.deepEqual(await chat.remember("flight", { until: new Date(0) }), []);
    assert.equal((await chat.remember("", { limit: 2, since: new Date(0) })).length, 2);
  });

  test("summaries and compactions", async () => {
    const chat = memory().conversation(fresh());
    const calls = Array.from({ length: 40 }, (_, index) => ({
      role: "user",
      content: [
        `Order ${index} was shipped to Paris with DHL on May ${index % 30};`,
        `please tell me the price of ${index * 7} euros, and of everything else that was in that order, by mail.`,
      ].join(" "),
    }));
    await (await memory().create({ id: chat.id, policy: { preset: "session" } })).add(calls);
    assert.match((await chat.summarize({ tokens: 100, focus: ["Paris"] })).text, /Paris/);
    const preview = await chat.compact({ count: 20, preview: true });
    assert.equal(preview.utterances, 20);
    const made = await chat.compact({ count: 20 });
    assert.ok(made.tokensAfter < made.tokensBefore);
    assert.equal((await chat.summary()).text, made.summary);
    assert.equal((await chat.undoCompaction()).utterances, 20);
    await assert.rejects(chat.undoCompaction(), PreconditionError);
  });

  test("a watch tells of each change, until it is left", async () => {
    const chat = memory().conversation(fresh());
    await chat.add(ASKED);
    const seen: number[] = [];
    for await (const capacity of chat.watch()) {
      seen.push(capacity.utterances);
      if (seen.length === 2) break;
      await chat.add(TOLD);
    }
    assert.deepEqual(seen, [1, 2]);
    const stop = new AbortController();
    const watch = chat.watch({ signal: stop.signal });
    await watch.next();
    const next = watch.next();
    stop.abort(new Error("enough"));
    await assert.rejects(next, /enough/);
  });

  test("a fork goes its own way", async () => {
    const chat = memory().conversation(fresh());
    await chat.add(SAID);
    const fork = await chat.fork({ after: 1, title: "the other way" });
    await fork.add(TOLD);
    assert.deepEqual(await fork.messages(), [ASKED, TOLD]);
    const record = await fork.record();
    assert.deepEqual([record.forkedFrom, record.title], [chat.id, "the other way"]);
    assert.equal((await chat.messages()).length, 4);
  });

  test("what is said and known of it is changed", async () => {
    const chat = memory().conversation(fresh());
    await chat.add(ASKED, { ids: ["a"] });
    const edited = await chat.edit("a", { content: "Is there a train?", pinned: true, metadata: { by: "me" } });
    assert.deepEqual([edited.content, edited.pinned, edited.metadata], ["Is there a train?", true, { by: "me" }]);
    const updated = await chat.update({ title: "travel", labels: { a: "b" }, policy: { maxUtterances: 3 } });
    assert.deepEqual([updated.title, updated.labels, updated.policy.maxUtterances], ["travel", { a: "b" }, 3]);
    assert.equal((await chat.update({ policy: { maxUtterances: 0 } })).policy.maxUtterances, undefined);
    const ended = await chat.end("done");
    assert.deepEqual([ended.status, ended.endedReason, ended.endTime instanceof Date], ["closed", "done", true]);
    await assert.rejects(chat.add(ASKED), PreconditionError);
    assert.deepEqual([await chat.delete(), await chat.delete()], [true, false]);
  });

  test("conversations are made and listed", async () => {
    const prefix = fresh();
    for (const id of ["a", "b"]) await memory().create({ id: `${prefix}${id}`, recipient: prefix });
    await assert.rejects(memory().create({ id: `${prefix}a` }), ExistsError);
    assert.equal((await memory().create({ id: `${prefix}a`, existOk: true })).id, `${prefix}a`);
    const listed = async (limit?: number) =>
      (await memory().conversations({ allRecipients: true, prefix, order: "oldest_start", limit })).map((it) =>
        it.conversationId.slice(prefix.length),
      );
    assert.deepEqual([await listed(), await listed(1)], [["a", "b"], ["a"]]);
    assert.deepEqual(await memory().conversations({ recipient: prefix, status: "closed" }), []);
  });

  test("without a conversation", async () => {
    const prepared = await memory().prepare([FOUND, ASKED], { prompt: "Well?" });
    assert.deepEqual([prepared.messages.map((it) => it.role), prepared.dropped.length], [["user"], 1]);
    const rule = { role: "user", content: "Move HAT136 to the morning. Never pay more than 50 euros." };
    const options = { maxMessages: 1, keepRecent: 0, summaryTokens: 100, summary: "user", focus: ["euros"] } as const;
    const folded = await memory().prepare([rule, ASKED], options);
    assert.deepEqual([folded.messages.length, folded.summarised], [1, [0, 1]]);
    assert.match(folded.summary, /Never pay more than 50 euros/);
    assert.ok(folded.messages[0].content.includes(folded.summary));
    assert.deepEqual(await memory().countTokens(["hello world", ""]), { counts: [2, 0], encoding: "o200k_base" });
  });

  test("a revision that was pinned, and an attempt that is repeated", async () => {
    const chat = memory().conversation(fresh());
    const { revision } = await chat.add(ASKED, { expectedRevision: 0, requestId: "once" });
    await assert.rejects(chat.add(TOLD, { expectedRevision: revision + 1 }), (error) => {
      assert.ok(error instanceof ConflictError);
      assert.deepEqual([error.code, error.reason, error.name], ["ABORTED", "STALE_REVISION", "ConflictError"]);
      assert.equal(error.metadata["actual"], String(revision));
      return true;
    });
    const again = await chat.add(ASKED, { expectedRevision: 0, requestId: "once" });
    assert.deepEqual([again.replayed, again.revision], [true, revision]);
  });

  test("errors name the field, and bad arguments are refused before anything is sent", async () => {
    const chat = memory().conversation(fresh());
    await assert.rejects(chat.add([ASKED, { role: "nobody" }]), (error) => {
      assert.ok(error instanceof InvalidRequestError);
      assert.equal(error.fields[0]?.field, "messages[1].role");
      assert.match(error.message, /^messages\[1\]\.role: is "nobody"/);
      assert.match(error.fields[0]?.description ?? "", /accepted/);
      return true;
    });
    await assert.rejects(chat.record(), NotFoundError);
    const result = { role: "tool", tool_call_id: "token_budget", content: "?" };
    for (const [call, message] of [
      [chat.context({ budget: 1.5 }), /^budget: is 1\.5; accepted: whole numbers/],
      [chat.context({ budget: 0 }), /^budget: is 0; accepted/],
      [chat.context({ maxTurns: -1 }), /^maxTurns: /],
      [chat.summarize({ part: "recent" }), /^recent: is missing; part: "recent" needs it/],
      [chat.replaceAfter(-1, []), /^replaceAfter: /],
      [chat.compact({ count: 1, keepRecent: 1 }), /keepRecent; accepted: one of them/],
      [memory().create({ policy: { maxUtterances: 1, keepUtterances: 2 } }), /^policy\.keepUtterances: /],
      [memory().conversation("\n").capacity(), /^id: /],
    ] as const) {
      await assert.rejects(call, (error) => error instanceof InvalidRequestError && message.test(error.message));
    }
    await assert.rejects(chat.add(result), (error) => {
      assert.ok(error instanceof PreconditionError);
      assert.match(error.message, /^messages\[0\]\.tool_call_id: "token_budget" is not an open call/);
      return true;
    });
    const { dropped } = await memory().prepare([{ role: "nobody" }], { prompt: "Well?" });
    assert.match(dropped[0] ?? "", /^messages\[0\]\.role: is "nobody"/);
    await assert.rejects(chat.context({ budget: 1.5 }), InvalidRequestError);
    await assert.rejects(chat.add({ role: "user", content: "x", score: NaN }), /accepted: finite numbers/);
    await assert.rejects(chat.add("hello"), /write { role: "user", content: "hello" }/);
    await assert.rejects(
      chat.add(["hello" as unknown as object]),
      /^TypeError: messages\[0\]: "hello" is not a message/,
    );
    await assert.rejects(chat.add(ASKED, { ids: ["a", "b"] }), /ids: has 2; accepted: one for each/);
    await assert.rejects(chat.add(ASKED, { state: { a: 1 } as object }), /^TypeError: state: .* { set: { a: … } }/);
    await assert.rejects(chat.updateState({ a: 1 } as object), /write { set: { a: … } }/);
    await assert.rejects(chat.remember("", { since: "today" as unknown as Date }), /since: today; accepted: a date/);
    await assert.rejects(chat.messages({ after: 0.5 }), /accepted: whole numbers/);
    await assert.rejects(chat.messages({ limit: -1 }), /accepted: 0 or more/);
    await assert.rejects(chat.context({ format: "html" as "text" }), /accepted: openai, anthropic, text/);
    await assert.rejects(chat.context({ format: "toString" as "text" }), /accepted/);
  });

  test("halves of surrogate pairs, and the JSON of others", async () => {
    const chat = memory().conversation(fresh());
    const halved = { role: "user", content: "half \ud83d" };
    await chat.add(halved);
    await chat.add('[{"role": "user", "content": "half \ud83d"}]');
    assert.deepEqual(await chat.messages(), [halved, halved]);
    const [[warning]] = await Promise.all([once(process, "warning"), chat.update({ title: "half \ud83d" })]);
    assert.match((warning as Error).message, /they become U\+FFFD/);
    assert.equal((await chat.record()).title, "half \ufffd");
    assert.equal(fit("half \ud83d"), "d9625daa5639d57c215064b21c6a2d064811d162bf5d7c7b1d5fa5c08ea5bee7");
    await chat.add('[{"role": "user",   "content": "spaced", "price": 1e400}]');
    assert.equal(
      (await chat.stored({ last: 1 })).messages[0]?.json,
      '{"role": "user",   "content": "spaced", "price": 1e400}',
    );
  });
});
