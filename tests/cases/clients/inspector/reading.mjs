// Reading conversations.

import assert from "node:assert/strict";

import { exchange, sentence } from "./browser.mjs";
import { expect, until } from "./expect.mjs";
import { panel, said, strip } from "./pieces.mjs";

/** What a page must never run. */
const HOSTILE = `<img src=x onerror="document.title='run'"><script>document.title='run'</script></p></article>`;

export const read = {
  async the_newest_conversation_first({ page, url, server }) {
    await page.goto(url);
    await expect(page.getByText("There is no conversation to show.")).shown();
    await server.say("first", 2);
    await expect(page.getByRole("heading", { name: "first" })).shown();
    await server.say("second", 2);
    await server.say("third", 2);
    await server.say("second", 1);
    await page.goto("about:blank");
    await page.goto(url);
    await expect(page.getByRole("heading", { name: "second" })).shown();
    await expect(said(page, 3)).shown();
    assert.equal(page.url(), `${url}#/second`, "the address can be kept");
    await page.goBack();
    assert.equal(page.url(), "about:blank", "one step goes back");
  },

  async titles_and_texts_in_one_search({ page, url, server }) {
    await server.memorize("a", [{ role: "ROLE_USER", content: "Do ferries carry bicycles?" }]);
    await server.memorize("b", [sentence(1)]);
    await server.memorize("c", [{ role: "ROLE_USER", content: "My bicycle was stolen." }]);
    await server.call("ConversationService/EndConversation", { conversationId: "c" });
    const titled = { conversationId: "b", title: "Bicycle repairs", updateMask: "title" };
    await server.call("ConversationService/UpdateConversation", titled);
    await page.goto(url);
    const list = page.getByRole("navigation", { name: "Conversations" });
    const search = page.getByLabel("Search titles and texts");
    await search.fill("bicycle");
    await expect(list).holds(
      "2 titles, 2 texts.",
      "In titles Bicycle repairs",
      "Bicycle was stolen ended · r-c",
      "In texts",
      "Do ferries carry bicycles?",
    );
    assert.deepEqual((await list.locator("mark").allInnerTexts()).sort(), ["bicycle", "bicycles"]);
    await list.getByRole("link").filter({ hasText: "ferries carry" }).click();
    await expect(page.getByRole("heading", { level: 1, name: "a" })).shown();
    await expect(said(page, 1)).holds("Do ferries carry");
    await page.getByLabel("Status").selectOption("ended");
    await expect(list).holds("1 title, 1 text.", "My bicycle was stolen.");
    await page.getByLabel("Status").selectOption("any status");
    await page.getByLabel("Recipient").fill("r-a");
    await expect(list).holds("0 titles, 1 text.", "ferries carry");
    await search.fill("submarine");
    await expect(list).holds("No title and no text matches.");
    await search.fill("");
    await page.getByLabel("Recipient").fill("");
    await expect(list.getByRole("link")).count(3);
  },

  /** A day is a heading; a card has the time alone, and says nothing that is so for every card. */
  async little_on_each_card({ page, open, server }) {
    await server.call("ConversationService/CreateConversation", {
      conversationId: "days",
      recipientId: "r-days",
      policy: { preset: "POLICY_PRESET_SESSION" },
    });
    const time = (at) => new Date(2026, 2, 1 + Math.floor(at / 30), 9, at % 30).toISOString();
    const uttered = Array.from({ length: 90 }, (_, at) => ({ ...sentence(at + 1), createTime: time(at) }));
    await server.memorize("days", uttered);
    await open("days");
    await expect(said(page, 90)).has("data-context", "in");
    const days = new Set();
    for (let sequence = 90; sequence > 0; sequence -= 10) {
      await said(page, sequence).scrollIntoViewIfNeeded();
      const shown = await page.locator(".day").allInnerTexts();
      assert.equal(new Set(shown).size, shown.length, `a day is told once: ${shown}`);
      shown.forEach((day) => days.add(day));
      const cards = (await page.locator("article").allInnerTexts()).join("\n");
      assert.doesNotMatch(cards, /2026|March|in the context|left out/);
    }
    const wanted = ["Monday, March 2, 2026", "Sunday, March 1, 2026", "Tuesday, March 3, 2026"];
    assert.deepEqual([...days].sort(), wanted);
    await said(page, 31).scrollIntoViewIfNeeded();
    assert.match(await said(page, 31).innerText(), /turn 16 · \d+ tokens\s+9:00/);
    assert.doesNotMatch(await said(page, 32).innerText(), /turn/);
  },

  async a_conversation({ page, url, server }) {
    await server.memorize("read", [{ role: "ROLE_SYSTEM", content: "Be brief." }, sentence(1)], {});
    await server.memorize("read", exchange("c1", "look_up", '{"place":"harbour"}', '{"depth":12}'));
    await server.say("read", 22, 5);
    await page.goto(url);
    await page.getByRole("navigation", { name: "Conversations" }).getByRole("link", { name: /read/ }).click();
    await expect(said(page, 26)).holds("assistant", "Sentence 26");
    const { capacity } = await server.call("MemoryService/GetCapacityInfo", { conversationId: "read" });
    const label = await strip(page).getAttribute("aria-label");
    assert.equal(label, `Window: ${capacity.tokenCount} of 8,000 tokens, ${capacity.utteranceCount} utterances`);
    await expect(page.getByText(/↑ archive: \d+ utterances · window: \d+ utterances of at most 20/)).shown();
    await said(page, 26).focus();
    await until(
      async () => (await page.keyboard.press("PageUp"), page.evaluate(() => document.activeElement.dataset.sequence)),
      (sequence) => sequence === "1",
      "PageUp goes to the first utterance",
    );
    await expect(said(page, 3)).holds("look_up", '({"place":"harbour"})');
    await expect(said(page, 4)).holds("result of look_up", '"depth": 12');
    assert.equal(await said(page, 1).getAttribute("data-in"), "window");
    assert.equal(await said(page, 2).getAttribute("data-in"), "archive");
  },

  async what_was_said_is_only_text({ page, open, server }) {
    await server.memorize("hostile", [
      { role: "ROLE_USER", name: HOSTILE, content: HOSTILE, metadata: { [HOSTILE]: HOSTILE } },
    ]);
    await server.memorize("hostile", exchange("c", HOSTILE, HOSTILE, HOSTILE));
    await server.call("ConversationService/UpdateConversation", {
      conversationId: "hostile",
      title: HOSTILE,
      updateMask: "title",
    });
    for (const tab of ["context", "summary", "search", "forks", "events", "details"]) {
      await open("hostile", tab);
      await expect(said(page, 1)).holds("<img src=x", "<script>");
      assert.equal(await page.locator("img[src=x], article script").count(), 0);
    }
    await page.getByLabel("Search titles and texts").fill("hostile");
    await expect(page.getByRole("navigation").getByRole("link")).holds("<img src=x");
    assert.ok((await page.title()).startsWith("<img"), "the title is as it was given");
  },

  async changes_as_they_happen({ page, open, server }) {
    await server.say("live", 19);
    await open("live", "events");
    await expect(page.getByRole("status").filter({ hasText: "live" })).shown();
    await server.memorize("live", [sentence(20), sentence(21)]);
    await expect(said(page, 21)).holds("Sentence 21");
    await expect(said(page, 5)).has("data-in", "archive");
    await expect(strip(page)).has(
      "aria-label",
      `Window: ${await tokens(server, "live")} of 8,000 tokens, 16 utterances`,
    );
    await expect(panel(page)).holds("add messages", "added #20 to #21", "left the window: #1 to #5");
    await expect(page.getByRole("navigation").getByRole("link", { name: /live/ })).holds("21 utterances");
    await server.call("ConversationService/DeleteConversation", { conversationId: "live" });
    await expect(page.getByText("This conversation was deleted.")).shown();
  },

  async a_change_while_it_is_read({ page, open, server }) {
    await server.say("early", 1);
    let goOn = () => {};
    const held = new Promise((go) => (goOn = go));
    await page.route("**/utterd.v1.MemoryService/GetCapacityInfo", async (route) => {
      const response = await route.fetch();
      await held;
      await route.fulfill({ response });
    });
    await open("early");
    const entry = page.getByRole("navigation").getByRole("link", { name: /early/ });
    await expect(entry).holds("1 utterance");
    await server.say("early", 2, 2);
    await expect(entry).holds("3 utterances");
    goOn();
    await expect(strip(page)).has(
      "aria-label",
      `Window: ${await tokens(server, "early")} of 8,000 tokens, 3 utterances`,
    );
  },

  async a_context_at_any_budget({ page, open, server }) {
    await server.say("budget", 30);
    await open("budget");
    const built = await server.call("ContextService/BuildContext", { conversationId: "budget" });
    await expect(panel(page)).holds(
      `${built.tokenCount.toLocaleString("en")} of 9,064 tokens`,
      "left out: no longer in the window",
    );
    await expect(said(page, 30)).has("data-context", "in");
    await page.getByLabel("Token budget").fill("120");
    await expect(panel(page)).holds("of 120 tokens", "left out: over the token budget");
    await expect(said(page, 15)).holds("left out: over the token budget");
    await expect(said(page, 15)).has("data-context", "out");
    await page.getByLabel("Budget", { exact: true }).press("End");
    await expect(panel(page)).lacks("left out: over the token budget");
    await page.getByLabel("Token budget").fill("3");
    await expect(panel(page)).holds("Token budget: is 3; accepted: ");
    await page.getByLabel("Token budget").fill("");
    await page.getByLabel("Format").selectOption("text");
    await expect(panel(page)).holds("## Current Conversation");
    await page.getByLabel("Format").selectOption("Anthropic messages");
    await page.getByRole("checkbox", { name: "as sent to the model" }).check();
    await expect(panel(page)).holds('"messages"', '"system"');
    await page.getByLabel("Format").selectOption("OpenAI chat");
    await page.getByRole("checkbox", { name: "as sent to the model" }).uncheck();
    await page.getByText("More", { exact: true }).click();
    await page.getByLabel("Recall utterances about").fill("sentence 3");
    await expect(panel(page)).holds("Sentence 3 ");
    await page.getByRole("tab", { name: "Summary" }).click();
    await expect(said(page, 30)).has("data-context", null);
  },

  async segments_and_what_they_cover({ page, open, server }) {
    await server.say("covered", 60);
    await open("covered", "summary");
    const { segments } = await server.call("ConversationService/GetSummary", { conversationId: "covered" });
    await expect(panel(page).getByRole("heading", { name: /^Segment/ })).count(segments.length);
    const { first } = segments[0].covers[0];
    await panel(page)
      .getByRole("button", { name: new RegExp(`^#${first}`) })
      .first()
      .click();
    await expect(said(page, first)).holds(`S${segments[0].segmentNumber}`);
    assert.equal(await page.evaluate(() => document.activeElement.dataset.sequence), first);
    await panel(page)
      .getByRole("heading", { name: `Segment ${segments[0].segmentNumber}` })
      .hover();
    await until(
      () => said(page, first).getAttribute("class"),
      (it) => it.includes("lit"),
      "what it covers is marked",
    );
    await panel(page).getByRole("button", { name: "Summarise", exact: true }).click();
    await expect(panel(page)).holds(/\d+ tokens, from \d+/);
  },

  async recall_with_highlighted_matches({ page, open, server }) {
    await server.say("recall", 40);
    await server.memorize("recall", [{ role: "ROLE_USER", content: "🚢 Do ferries carry bicycles? — 渡し船" }]);
    await server.call("ConversationService/EndConversation", { conversationId: "recall" });
    await server.memorize("recall-2", [{ role: "ROLE_USER", content: "Bicycles again." }], { recipientId: "r-recall" });
    await open("recall", "search");
    await page.getByLabel("Search for", { exact: true }).fill("bicycle ferry");
    const best = panel(page).getByRole("link").first();
    await expect(best).holds("#41", "🚢 Do ferries");
    assert.deepEqual(await best.locator("mark").allInnerTexts(), ["ferries", "bicycles"]);
    await best.click();
    await until(
      () => page.evaluate(() => document.activeElement.dataset.sequence),
      (it) => it === "41",
      "it is gone to",
    );
    await page.getByLabel("In", { exact: true }).selectOption("all of this recipient's conversations");
    await panel(page).getByRole("link").filter({ hasText: "Bicycles again." }).click();
    await expect(said(page, 1)).holds("Bicycles again.");
  },

  async forks_as_a_tree({ page, open, server }) {
    await server.say("trunk", 10);
    const fork = (conversationId, newConversationId, atSequence) =>
      server.call("ConversationService/ForkConversation", {
        conversationId,
        newConversationId,
        atSequence,
        title: newConversationId,
      });
    await fork("trunk", "branch-a", 6);
    await fork("trunk", "branch-b", 8);
    await fork("branch-a", "twig", 4);
    await open("branch-a", "forks");
    await expect(panel(page)).holds("trunk", "branch-a", "shares #1 to #6", "branch-b", "shares #1 to #8", "twig");
    assert.equal(await panel(page).locator("[aria-current]").innerText(), "branch-a");
    await panel(page).getByRole("link", { name: "twig" }).click();
    await until(
      () => panel(page).locator("[aria-current]").innerText(),
      (text) => text === "twig",
      "it is shown",
    );
    await server.call("ConversationService/DeleteConversation", { conversationId: "trunk" });
    await open("branch-a", "forks");
    await expect(panel(page)).holds("trunk (removed)", "twig");
  },

  /** Whatever its length, only a part of a conversation is on the page, and every place in it can be gone to. */
  async ten_thousand_utterances({ page, open, server }) {
    await server.call("ConversationService/CreateConversation", {
      conversationId: "long",
      recipientId: "r-long",
      policy: { preset: "POLICY_PRESET_SESSION" },
    });
    await server.say("long", 10_000);
    await open("long");
    await expect(said(page, 10_000)).shown();
    await expect(panel(page).getByRole("button", { name: "Show 100 earlier messages" })).shown();
    const older = strip(page).getByText("9,900 older utterances");
    await expect(older).shown();
    const widths = await page.locator(".cell").evaluateAll((all) => all.map((it) => it.getBoundingClientRect().width));
    assert.equal(widths.length, 100);
    assert.ok(Math.min(...widths) > 3, `the narrowest of the newest is ${Math.min(...widths)} wide`);
    await older.click();
    const gone = await until(
      () => page.evaluate(() => Number(document.activeElement.dataset.sequence)),
      (sequence) => sequence > 0,
      "an older utterance is gone to",
    );
    assert.ok(gone > 4_000 && gone < 6_000, `${gone} is near the middle`);
    await page.getByRole("tab", { name: "Search" }).click();
    const articles = () => page.locator("article").count();
    const timeline = page.locator(".timeline");
    for (const share of [0.9, 0.5, 0.1, 0]) {
      await timeline.evaluate((it, share) => (it.scrollTop = it.scrollHeight * share), share);
      await until(
        () => inView(page),
        (sequence) => sequence > 0,
        "what is scrolled to is shown",
      );
      assert.ok((await articles()) < 300, `${await articles()} utterances are on the page`);
    }
    await expect(said(page, 1)).shown();
    // What is above the view changes its height when it is read, and what is in the view stays.
    await page.getByLabel("Search for", { exact: true }).fill("sentence 5003");
    await panel(page).getByRole("link").filter({ hasText: "Sentence 5003 " }).click();
    await expect(said(page, 5003)).shown();
    const top = () => said(page, 5003).evaluate((it) => Math.round(it.getBoundingClientRect().top));
    await until(
      () => page.locator(".block:has(article)").count(),
      (blocks) => blocks >= 2,
      "its surroundings are read",
    );
    const before = await top();
    await timeline.evaluate((it) => (it.scrollTop -= 400));
    await until(top, (now) => Math.abs(now - before - 400) < 5, "it moves as far as the view");
    assert.ok((await articles()) < 300, `${await articles()} utterances are on the page`);
  },
};

/** The sequence of the utterance in the middle of the view, or just below a gap there; 0 if none is there. */
const inView = (page) =>
  page.locator(".timeline").evaluate((it) => {
    const { left, top, width, height } = it.getBoundingClientRect();
    const at = (below) => document.elementFromPoint(left + width / 2, top + height / 2 + below)?.closest("article");
    return Number((at(0) ?? at(12))?.dataset.sequence ?? 0);
  });

const tokens = async (server, conversationId) =>
  (await server.call("MemoryService/GetCapacityInfo", { conversationId })).capacity.tokenCount;
