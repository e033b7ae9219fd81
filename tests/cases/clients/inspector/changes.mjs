// Changing conversations.

import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

import { exchange, sentence } from "./browser.mjs";
import { expect, until } from "./expect.mjs";
import { act, choose, dialog, field, panel, said, send } from "./pieces.mjs";

export const changed = {
  async forgetting_with_a_preview({ page, open, server }) {
    await server.memorize("forget", [sentence(1), ...exchange("c", "look_up", "{}", "12 metres"), sentence(4)]);
    await open("forget");
    await page.getByRole("button", { name: "Forget…" }).click();
    await field(page, "What").fill("speaker:tool");
    await expect(dialog(page)).holds("Forgets 2 utterances", "#2 assistant", "#3 tool");
    await until(
      () => page.locator("article.lit").count(),
      (count) => count === 2,
      "they are marked",
    );
    assert.equal(
      (await server.call("MemoryService/GetCapacityInfo", { conversationId: "forget" })).capacity.softDeletedCount,
      0,
    );
    await field(page, "What").fill("everything about cheese and such");
    await expect(dialog(page)).holds("valid forms");
    await field(page, "What").fill("sequence:3");
    await expect(dialog(page)).holds("Forgets 2 utterances");
    await send(page, "Forget");
    await expect(said(page, 3)).holds("forgotten");
    await act(page, "Restore #2");
    await expect(said(page, 3)).lacks("forgotten");
    await act(page, "Forget #1");
    await field(page, "How").selectOption("for good, everywhere");
    await expect(dialog(page)).holds("Forgets 1 utterance");
    await send(page, "Forget");
    await expect(said(page, 1)).gone();
  },

  async an_utterance({ page, open, server }) {
    await server.say("one", 3);
    await open("one");
    await act(page, "Pin #2");
    await expect(said(page, 2)).holds("pinned");
    await act(page, "Unpin #2");
    await expect(said(page, 2)).lacks("pinned");
    await act(page, "Edit #2");
    await field(page, "Text").fill("The ferry leaves at nine.");
    await send(page, "Save");
    await expect(said(page, 2)).holds("The ferry leaves at nine.", "edited", "Before the edit");
    await act(page, "Fork after #2");
    await field(page, "Title").fill("Another way");
    await send(page, "Fork");
    await expect(page.getByRole("heading", { name: "Another way" })).shown();
    await expect(panel(page)).holds("one", "shares #1 to #2");
    await page.getByLabel("Role", { exact: true }).selectOption("assistant");
    await page.getByLabel("Message", { exact: true }).fill("At ten.");
    await page.keyboard.press("Control+Enter");
    await expect(said(page, 3)).holds("assistant", "At ten.");
  },

  async a_tool_call_and_its_result({ page, open, server }) {
    await server.say("tools", 1);
    await open("tools");
    const role = page.getByLabel("Role", { exact: true });
    await role.selectOption("tool result");
    await expect(page.getByLabel("Answers")).holds("no open call");
    assert.equal(await page.getByRole("button", { name: "Add", exact: true }).isDisabled(), true);
    await role.selectOption("tool call");
    await page.getByLabel("Tool", { exact: true }).fill("look_up");
    await page.getByLabel("Arguments as JSON").fill('{"place":"harbour"}');
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await expect(said(page, 2)).holds("assistant", "look_up", '({"place":"harbour"})');
    await role.selectOption("tool result");
    await expect(page.getByLabel("Answers")).holds("look_up");
    await page.getByLabel("Result", { exact: true }).fill("12 metres");
    await page.keyboard.press("Control+Enter");
    await expect(said(page, 3)).holds("result of look_up", "12 metres");
    await expect(page.getByLabel("Answers")).holds("no open call");
  },

  async state({ page, open, server }) {
    await server.say("kept", 1);
    await open("kept", "details");
    const section = (name) =>
      panel(page)
        .locator("section")
        .filter({ has: page.getByRole("heading", { name, exact: true }) });
    const [own, recipients] = [section("State"), section("State of r-kept")];
    await own.getByRole("button", { name: "Add a value" }).click();
    await field(page, "Name").fill("step");
    await field(page, "Value").fill('{"at": 3');
    await dialog(page).getByRole("button", { name: "Save" }).click();
    await expect(dialog(page)).holds("Value: is not JSON");
    await field(page, "Value").fill('{"at": 3}');
    await send(page, "Save");
    await expect(own).holds("step", '"at": 3');
    await own.getByRole("button", { name: "Edit step" }).click();
    await field(page, "Value").fill("4");
    const change = { set: [{ name: "step", json: "5" }] };
    await server.call("ConversationService/UpdateState", { conversationId: "kept", change });
    await dialog(page).getByRole("button", { name: "Save" }).click();
    await expect(dialog(page).getByRole("alert")).holds("step");
    await page.keyboard.press("Escape");
    await expect(own).holds("step 5");
    await own.getByRole("button", { name: "Delete step" }).click();
    await send(page, "Delete");
    await expect(own).lacks("step");
    await recipients.getByRole("button", { name: "Add a value" }).click();
    await field(page, "Name").fill("diet");
    await field(page, "Value").fill('"vegetarian"');
    await send(page, "Save");
    await expect(recipients).holds("diet", "vegetarian");
    const { values } = await server.call("ConversationService/GetState", {
      recipientId: "r-kept",
      scope: "STATE_SCOPE_RECIPIENT",
    });
    assert.deepEqual([values[0].name, values[0].json], ["diet", '"vegetarian"']);
  },

  async every_part_of_the_policy({ page, open, server }) {
    await server.say("policy", 1);
    await open("policy", "details");
    const policy = async () =>
      (await server.call("ConversationService/GetConversation", { conversationId: "policy" })).conversation.policy;
    await panel(page).getByRole("button", { name: "Change limits" }).click();
    await field(page, "Maximum tokens").fill("500");
    await field(page, "Summaries").selectOption("none");
    await field(page, "Utterances larger than the window").selectOption("refused");
    await field(page, "Delete if unchanged (days)").fill("30");
    await field(page, "Tokens an eviction keeps").fill("900");
    await dialog(page).getByRole("button", { name: "Change" }).click();
    await expect(dialog(page).getByRole("alert")).holds(/^Tokens an eviction keeps: is 900; accepted: /);
    await field(page, "Tokens an eviction keeps").fill("400");
    await send(page, "Change");
    await expect(panel(page)).holds("Maximum tokens 500", "Summaries none", "refused", "Delete if unchanged (days) 30");
    const { maxTokens, keepTokens, summarizationEnabled, oversize, expireAfter } = await policy();
    assert.deepEqual([maxTokens, keepTokens, oversize], [500, 400, "OVERSIZE_REJECT"]);
    assert.deepEqual([summarizationEnabled, expireAfter], [false, `${30 * 86_400}s`]);
    await panel(page).getByRole("button", { name: "Change limits" }).click();
    await field(page, "Summaries").selectOption("extracted");
    await field(page, "Delete if unchanged (days)").fill("");
    await send(page, "Change");
    await expect(panel(page)).holds("Summaries extracted");
    await expect(panel(page)).lacks("(days)");
    assert.equal((await policy()).llmSummaries, false);
  },

  async a_prepared_history({ page, open, server }) {
    await server.say("history", 3);
    await open("history");
    await choose(page, "Prepare a history…");
    await expect(dialog(page)).holds("3 messages", "Sentence 3 is about the market.");
    const messages = field(page, "Messages, as a JSON array");
    assert.equal(JSON.parse(await messages.inputValue()).length, 3);
    await messages.fill('[{"role":"user","content":"Hi"},{"role":"tool","tool_call_id":"x","content":"lost"}]');
    await field(page, "New user message").fill("Where is the ferry?");
    await expect(dialog(page)).holds("1 message", "Where is the ferry?", "1 message or part left out");
    await dialog(page).getByText("1 message or part left out").click();
    await expect(dialog(page)).holds('message 2 answers the call "x", which is not open');
    await field(page, "Token budget").fill("1");
    await expect(dialog(page)).holds("Token budget");
    await messages.fill("[{");
    await expect(dialog(page)).holds("Messages: ");
    assert.equal(
      (await server.call("MemoryService/GetCapacityInfo", { conversationId: "history" })).capacity.utteranceCount,
      3,
    );
  },

  async a_conversation_s_life({ page, url, server }) {
    await page.goto(url);
    await page.getByRole("button", { name: "New conversation", exact: true }).click();
    await field(page, "Id").fill("life");
    await field(page, "Recipient").fill("ana");
    await field(page, "Limits").selectOption("session: no limits");
    await send(page, "Create");
    await expect(page.getByRole("heading", { name: "life" })).shown();
    await server.call("MemoryService/Memorize", {
      conversationId: "life",
      utterances: Array.from({ length: 60 }, (_, at) => sentence(at + 1)),
    });
    await expect(page.getByText("The window has 60 utterances.")).shown();
    await page.getByRole("button", { name: "Compact…" }).first().click();
    await expect(dialog(page)).holds(/45 utterances would leave the window: \d+ → \d+ tokens/);
    await send(page, "Compact");
    await expect(said(page, 45)).has("data-in", "archive");
    await page.getByRole("tab", { name: "Details" }).click();
    await panel(page).getByRole("button", { name: "Undo" }).click();
    await expect(panel(page)).holds("undone");
    await panel(page).getByRole("button", { name: "Change limits" }).click();
    await field(page, "Maximum utterances").fill("20");
    await send(page, "Change");
    await expect(page.getByText("44 utterances left the window")).shown();
    await choose(page, "Change the title…");
    await field(page, "Title").fill("A harbour");
    await send(page, "Save");
    await expect(page.getByRole("heading", { name: "A harbour" })).shown();
    await choose(page, "End…");
    await field(page, "Reason").fill("task finished");
    await send(page, "End");
    await expect(panel(page)).holds("task finished");
    assert.equal(await page.getByLabel("Message", { exact: true }).isVisible(), false);
    await choose(page, "Delete…");
    await send(page, "Delete");
    await expect(page.getByText("This conversation was deleted.")).shown();
    await server.call("MemoryService/Memorize", {
      recipientId: "ana",
      conversationId: "life-2",
      utterances: [sentence(1)],
    });
    await page.goto(`${url}#/life-2`);
    await choose(page, "Delete the recipient…");
    await field(page, "Type the recipient's name to confirm").fill("anna");
    await dialog(page).getByRole("button", { name: "Delete everything" }).click();
    await expect(dialog(page)).holds("Type ana to confirm.");
    await field(page, "Type the recipient's name to confirm").fill("ana");
    await send(page, "Delete everything");
    await expect(page.getByText("This conversation was deleted.")).shown();
  },

  async exports_and_imports({ page, open, server }) {
    await server.say("there", 1_500);
    await open("there");
    await choose(page, "Export…");
    const [download] = await Promise.all([page.waitForEvent("download"), send(page, "Export")]);
    const directory = fs.mkdtempSync(path.join(os.tmpdir(), "utterd-"));
    try {
      const file = path.join(directory, "history.json");
      await download.saveAs(file);
      const messages = JSON.parse(fs.readFileSync(file, "utf8"));
      assert.equal(messages.length, 1_500);
      assert.equal(messages[1_499].content, sentence(1_500).content);
      await page.getByRole("button", { name: "Import conversations" }).click();
      await field(page, "File").setInputFiles(file);
      await field(page, "Recipient").fill("bob");
      await send(page, "Import");
      await expect(page.getByText("Imported 1,500 utterances in 1 conversation")).shown();
      await expect(said(page, 1_500)).holds("Sentence 1500");
      await expect(page.locator("p.about")).holds("bob");
      fs.writeFileSync(file, "{]");
      await page.getByRole("button", { name: "Import conversations" }).click();
      await field(page, "File").setInputFiles(file);
      await dialog(page).getByRole("button", { name: "Import" }).click();
      await expect(dialog(page).getByRole("alert")).holds("is not JSON");
    } finally {
      fs.rmSync(directory, { recursive: true });
    }
  },

  async shares({ page, open, server }) {
    await server.say("shared", 2);
    await open("shared", "details");
    await panel(page).getByRole("button", { name: "Share" }).click();
    await dialog(page).getByRole("button", { name: "Share", exact: true }).click();
    await expect(page.getByText("Copy the token now")).shown();
    const token = await field(page, "Token").inputValue();
    const { utterances } = await server.call("ConversationService/ReadShared", { token });
    assert.equal(utterances.length, 2);
    await page.keyboard.press("Escape");
    await panel(page).getByRole("button", { name: "Revoke" }).click();
    await expect(panel(page).getByRole("button", { name: "Revoke" })).gone();
    await assert.rejects(server.call("ConversationService/ReadShared", { token }), /token/);
  },
};
