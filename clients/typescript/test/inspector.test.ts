/** The interface of the inspector's page, as a client of the Connect protocol sees it. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { test } from "node:test";

import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";

import { ConversationService } from "#proto/utterd/v1/conversation_service_pb.js";
import { MemoryService } from "#proto/utterd/v1/memory_service_pb.js";
import { Role } from "#proto/utterd/v1/utterance_pb.js";

test("the inspector is called by the Connect protocol, in JSON", async () => {
  const flags = ["serve", "--listen", "127.0.0.1:0", "--inspector", "127.0.0.1:0", "--announce", "json"];
  const server = spawn(process.env["UTTERD_BIN"] || "utterd", flags, { stdio: ["ignore", "pipe", "ignore"] });
  try {
    const [line] = (await once(createInterface(server.stdout), "line")) as [string];
    const { inspector } = JSON.parse(line) as { inspector: string };
    const transport = createConnectTransport({ baseUrl: inspector, httpVersion: "1.1", useBinaryFormat: false });
    const memory = createClient(MemoryService, transport);
    const conversationId = "c";
    const said = await memory.memorize({ conversationId, utterances: [{ role: Role.USER, content: "hi" }] });
    assert.equal(said.memorized[0]?.sequence, 1n);

    for await (const { capacity } of memory.watchCapacity({ conversationId })) {
      assert.equal(capacity?.utteranceCount, 1);
      break;
    }

    const content = new TextEncoder().encode('[{"role":"user","content":"hello"}]');
    async function* parts() {
      yield { message: { case: "header" as const, value: { recipientId: "ben" } } };
      yield { message: { case: "chunk" as const, value: content } };
    }
    const imported = await createClient(ConversationService, transport).importConversation(parts());
    assert.equal(imported.conversations[0]?.utteranceCount, 1);

    await assert.rejects(memory.getCapacityInfo({ conversationId: "none" }), (error) => {
      return (
        error instanceof ConnectError && error.code === Code.NotFound && /there is no conversation/.test(error.message)
      );
    });
    const late = memory.summarize({ conversationId }, { timeoutMs: 1 });
    await late.catch((error) => assert.equal((error as ConnectError).code, Code.DeadlineExceeded));
  } finally {
    server.kill();
  }
});
