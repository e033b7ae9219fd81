/** What is retried and what is not, against a server that fails on demand. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Http2Server, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";

import { ErrorInfoSchema, RetryInfoSchema } from "#proto/google/rpc/error_details_pb.js";
import { MemoryService } from "#proto/utterd/v1/memory_service_pb.js";
import { Code, ConnectError } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import {
  type Client,
  ConflictError,
  connect,
  DeadlineError,
  ExhaustedError,
  NotFoundError,
  UnavailableError,
} from "utterd";

type Failure = ConnectError | "the connection is lost" | "no answer";
interface Request {
  requestId?: string;
  authorization?: string | null;
}

const SAID = { role: "user", content: "hi" };
const UNAVAILABLE = new ConnectError("away", Code.Unavailable);
const STALE = new ConnectError("stale", Code.Aborted, undefined, [
  { desc: ErrorInfoSchema, value: { reason: "STALE_REVISION", metadata: { actual: "7" } } },
]);
const later = (nanos: number) =>
  new ConnectError("busy", Code.ResourceExhausted, undefined, [
    { desc: RetryInfoSchema, value: { retryDelay: { nanos } } },
  ]);

let server: Http2Server;
let client: Client;
let failures: Failure[];
let requests: Request[];
let sessions: Set<ServerHttp2Session>;
let unanswered: ((value?: unknown) => void)[];
let forgotten: object;

async function answer<T>(request: Request, headers: Headers, response: T): Promise<T> {
  requests.push({ requestId: request.requestId, authorization: headers.get("authorization") });
  const failure = failures.shift();
  if (failure instanceof ConnectError) throw failure;
  if (failure === "the connection is lost") for (const session of sessions) session.destroy();
  if (failure !== undefined) await new Promise((end) => unanswered.push(end));
  return response;
}

beforeEach(async () => {
  [failures, requests, sessions, unanswered, forgotten] = [[], [], new Set(), [], {}];
  const routes = connectNodeAdapter({
    routes: (router) =>
      router.service(MemoryService, {
        memorize: (request, { requestHeader }) => answer(request, requestHeader, { conversationId: "c", revision: 1n }),
        forget: (request, { requestHeader }) => answer(request, requestHeader, forgotten),
        async *watchCapacity(_, { requestHeader }) {
          for (const utteranceCount of [1, 2]) yield answer({}, requestHeader, { capacity: { utteranceCount } });
          throw new ConnectError("deleted", Code.NotFound);
        },
      }),
  });
  server = createServer(routes);
  server.on("session", (session) => sessions.add(session));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  client = connect(`127.0.0.1:${(server.address() as AddressInfo).port}`, { token: "secret" });
});

afterEach(async () => {
  await client.close();
  for (const end of unanswered) end();
  for (const session of sessions) session.destroy();
  server.close();
});

const ids = () => new Set(requests.map((it) => it.requestId));

test("an attempt is repeated under its request id", async () => {
  failures = [UNAVAILABLE, "the connection is lost"];
  assert.equal((await client.conversation("c").add(SAID)).revision, 1);
  assert.deepEqual([requests.length, ids().size], [3, 1]);
  assert.ok(requests[0]?.requestId);
  assert.equal(requests[0].authorization, "Bearer secret");
});

test("it ends at the deadline, and can be resumed", async () => {
  failures = Array.from({ length: 100 }, () => UNAVAILABLE);
  const start = performance.now();
  await assert.rejects(client.conversation("c").add(SAID, { timeout: 4000 }), (error) => {
    assert.ok(error instanceof UnavailableError);
    assert.equal(error.requestId, requests[0]?.requestId);
    return true;
  });
  // The last pause, of at most a second, would have outlasted it.
  assert.ok(performance.now() - start > 2900 && performance.now() - start < 4100);
  assert.ok(requests.length > 6);
  failures = [];
  await client.conversation("c").add(SAID, { requestId: requests[0]?.requestId });
  assert.equal(ids().size, 1);
});

test("it ends with the client", async () => {
  failures = Array.from({ length: 100 }, () => UNAVAILABLE);
  const adding = assert.rejects(client.conversation("c").add(SAID, { timeout: null }), UnavailableError);
  while (requests.length < 2) await new Promise(setImmediate);
  await client.close();
  await adding;
  assert.ok(requests.length < 5);
});

test("adds outlast a restart of the server", async () => {
  const path = mkdtempSync(join(tmpdir(), "utterd-test-"));
  const flags = ["serve", "--listen", `unix:${path}/socket`, "--announce", "json", "--backend", "fjall"];
  const serve = async () => {
    const started = spawn(process.env["UTTERD_BIN"] || "utterd", [...flags, "--data-dir", `${path}/store`], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    await once(createInterface(started.stdout), "line");
    return started;
  };
  const stop = async (started: ChildProcess) => {
    started.kill();
    await once(started, "exit");
  };
  let serving = await serve();
  await using memory = connect(`unix:${path}/socket`);
  try {
    const chats = ["a", "b", "c"].map((id) => memory.conversation(id));
    const said = Array.from({ length: 30 }, (_, index) => ({ role: "user", content: `message ${index}` }));
    const restart = async () => {
      await stop(serving);
      await pause(4000);
      serving = await serve();
    };
    let restarted: Promise<void> | undefined;
    const adding = chats.map(async (chat) => {
      for (const [index, message] of said.entries()) {
        if (index === 10) restarted ??= restart();
        await chat.add(message);
      }
    });
    await Promise.all(adding);
    await restarted;
    for (const chat of chats) assert.deepEqual(await chat.messages(), said);
  } finally {
    await stop(serving);
    rmSync(path, { recursive: true });
  }
});

test("the server says when", async () => {
  failures = [later(200_000_000)];
  const start = performance.now();
  await client.conversation("c").add(SAID);
  assert.ok(performance.now() - start >= 199 && requests.length === 2);
});

test("a limit that stays is told at once", async () => {
  const info = { desc: ErrorInfoSchema, value: { reason: "NAMESPACE_QUOTA" } };
  failures = [new ConnectError("full", Code.ResourceExhausted, undefined, [info])];
  await assert.rejects(client.conversation("c").add(SAID), (error) => {
    assert.ok(error instanceof ExhaustedError && error.reason === "NAMESPACE_QUOTA");
    return true;
  });
  assert.equal(requests.length, 1);
});

test("a conflict is the caller's who pinned a revision", async () => {
  failures = [STALE];
  await assert.rejects(client.conversation("c").add(SAID, { expectedRevision: 3 }), (error) => {
    assert.ok(error instanceof ConflictError);
    assert.deepEqual(error.metadata, { actual: "7" });
    return true;
  });
  assert.equal(requests.length, 1);
  failures = [STALE];
  await client.conversation("c").add(SAID);
  assert.equal(requests.length, 3);
});

test("a conflict is the caller's who pinned versions of the state", async () => {
  const info = { desc: ErrorInfoSchema, value: { reason: "STALE_STATE" } };
  failures = [new ConnectError("stale", Code.Aborted, undefined, [info])];
  const state = { set: { step: 2 }, expectedVersions: { step: 1 } };
  await assert.rejects(client.conversation("c").add(SAID, { state }), ConflictError);
  assert.equal(requests.length, 1);
});

test("a pop that happened while the server was lost", async () => {
  failures = ["the connection is lost"];
  forgotten = { replayed: true, forgotten: [{ sequence: 7n }] };
  await assert.rejects(client.conversation("c").pop(), /was removed/);
  assert.deepEqual([requests.length, ids().size], [2, 1]);
});

test("no pause outlasts the timeout", async () => {
  failures = Array.from({ length: 9 }, () => later(900_000_000));
  await assert.rejects(client.conversation("c").add(SAID, { timeout: 500 }), ExhaustedError);
  assert.equal(requests.length, 1);
});

test("a server that does not answer", async () => {
  failures = ["no answer", "no answer"];
  await assert.rejects(client.conversation("c").add(SAID, { timeout: 50 }), DeadlineError);
  await assert.rejects(client.conversation("c").add(SAID, { signal: AbortSignal.timeout(50) }), {
    name: "TimeoutError",
  });
});

test("a watch goes on after a failure, and ends with the conversation", async () => {
  failures = [UNAVAILABLE, "the connection is lost"];
  const seen: number[] = [];
  await assert.rejects(async () => {
    for await (const capacity of client.conversation("c").watch()) seen.push(capacity.utterances);
  }, NotFoundError);
  assert.deepEqual([seen, requests.length], [[1, 2], 4]);
});
