/** What the context engine for OpenClaw makes of messages, without OpenClaw. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { local } from "utterd";

import { type HostMessage, isMade, named } from "../openclaw/src/messages.ts";
import { Mirror } from "../openclaw/src/mirror.ts";

const ADDRESS = { sessionId: "s", sessionKey: "agent:main:main" };
const FILLER = "The service reads its configuration at the start. ";

/** A turn with two calls at once, whose ids are the same in each turn, as with some models. */
function turn(at: number, idOf = (call: number) => `call_${call}`): HostMessage[] {
  const timestamp = 1_800_000_000_000 + at * 10;
  const calls = [0, 1].map((call) => ({
    type: "toolCall",
    id: idOf(call),
    name: "read",
    arguments: { path: `${call}` },
  }));
  const results = [0, 1].map((call) => {
    const content = [{ type: "text", text: `Part ${at}.${call}: ${FILLER.repeat(5)}` }];
    return {
      role: "toolResult",
      toolCallId: idOf(call),
      toolName: "read",
      content,
      isError: false,
      timestamp: timestamp + 2,
    };
  });
  return [
    { role: "user", content: `Look at part ${at}.`, timestamp },
    { role: "assistant", content: calls, timestamp: timestamp + 1 },
    ...results,
    { role: "assistant", content: [{ type: "text", text: `Part ${at} is fine.` }], timestamp: timestamp + 3 },
  ] as HostMessage[];
}

const turns = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => turn(from + at)).flat();

/** How many of the messages the summary at the head tells of. */
function summarised([first]: readonly HostMessage[]): number {
  const content = first !== undefined && "content" in first ? String(first.content) : "";
  return Number(/^\[CONVERSATION HISTORY SUMMARY - (\d+) messages/.exec(content)?.[1] ?? 0);
}

async function mirrored(messages: readonly HostMessage[]) {
  const memory = await local();
  const mirror = new Mirror(memory, 500);
  const session = await mirror.session(ADDRESS);
  await mirror.store(ADDRESS, session, named(messages));
  const fitted = async (its: readonly HostMessage[], budget: number) =>
    (await mirror.fitted(session, named(its), budget))[0];
  return { memory, mirror, session, fitted, [Symbol.asyncDispose]: () => memory.close() };
}

test("each message is stored once, whatever OpenClaw calls its calls", async () => {
  await using it = await mirrored(turns(0, 3));
  const renamed = [0, 1, 2].flatMap((at) => turn(at, (call) => `other${at}${call}`));
  assert.equal(await it.mirror.store(ADDRESS, it.session, named(renamed)), false);
  const again = new Mirror(it.memory, 500);
  assert.equal(await again.store(ADDRESS, await again.session(ADDRESS), named([...renamed, ...turn(3)])), true);
  const stored = await it.session.conversation.messages();
  assert.equal(stored.length, 20);
  const results = stored.flatMap(({ tool_call_id = [] }) => tool_call_id);
  assert.deepEqual(
    results,
    stored.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }: { id: string }) => id)),
  );
  // A retry from a process that does not know what was stored since.
  assert.equal(await it.mirror.store(ADDRESS, it.session, named([...turn(3), ...turn(4)])), true);
  assert.equal((await it.session.conversation.messages()).length, 25);
});

test("a turn that is committed again is stored once", async () => {
  await using it = await mirrored(turns(0, 1));
  // The first answer is lost.
  const commit = () => it.mirror.store(ADDRESS, { ...it.session, stored: new Set() }, named(turn(1)), "key");
  assert.deepEqual([await commit(), await commit()], [true, false]);
  assert.equal((await it.session.conversation.messages()).length, 10);
});

test("a message leaves a context only into its summary", async () => {
  const all = turns(0, 40);
  await using it = await mirrored(all);
  for (const budget of [20_000, 6_000, 3_000, 1_500, 5_000]) {
    const shown = await it.fitted(all, budget);
    assert.ok(summarised(shown) + shown.filter((message) => !isMade(message)).length >= all.length, `${budget}`);
    assert.deepEqual(shown.slice(-5), all.slice(-5));
  }
});

test("what OpenClaw has not read comes from the store", async () => {
  await using it = await mirrored(turns(0, 10));
  const shown = await it.fitted(turns(6, 10), 20_000);
  assert.equal(shown.length, 50);
  assert.deepEqual(shown.slice(30), turns(6, 10));
  assert.ok(shown.slice(0, 30).every(isMade));
  // A further request of the same turn has them among its messages.
  assert.deepEqual(await it.fitted(shown, 20_000), shown);
});

test("what OpenClaw has taken back is not shown", async () => {
  await using it = await mirrored(turns(0, 6));
  const kept = [...turns(0, 4), ...turn(7)];
  await it.mirror.store(ADDRESS, it.session, named(kept));
  assert.deepEqual(await it.fitted(kept, 20_000), kept);
});

test("a session that begins anew is a conversation of its own", async () => {
  await using it = await mirrored(turns(0, 2));
  assert.equal(await it.mirror.continued(ADDRESS, named(turns(1, 2))), it.session);
  const begun = await it.mirror.continued(ADDRESS, []);
  assert.notEqual(begun.conversation.id, it.session.conversation.id);
  assert.equal((await new Mirror(it.memory, 500).session(ADDRESS)).conversation.id, begun.conversation.id);
});

test("a compaction after an overflow folds few messages too", async () => {
  await using it = await mirrored(turns(0, 4));
  await it.fitted(turns(0, 4), 20_000);
  await assert.rejects(it.mirror.compact(it.session, undefined, false), { code: "FAILED_PRECONDITION" });
  const { tokensBefore, tokensAfter } = await it.mirror.compact(it.session, undefined, true);
  assert.ok(tokensAfter < tokensBefore);
  const shown = await it.fitted(turns(0, 4), 20_000);
  assert.ok(summarised(shown) > 0 && shown.length < 20);
});
