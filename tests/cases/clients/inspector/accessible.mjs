// The page without a mouse, for a screen reader, in both colours and on a phone.

import assert from "node:assert/strict";

import { axe, exchange, sentence } from "./browser.mjs";
import { expect, until } from "./expect.mjs";
import { choose, dialog, field, panel, said } from "./pieces.mjs";

const TABS = ["context", "summary", "search", "forks", "events", "details"];

/** A conversation with something of everything. */
async function varied(server, id) {
  await server.memorize(id, [
    { role: "ROLE_SYSTEM", content: "Be brief." },
    sentence(1),
    ...exchange("c", "look_up", "{}", "{}"),
  ]);
  await server.say(id, 24, 5);
  await server.call("MemoryService/Forget", { conversationId: id, instructions: "sequence:20" });
  const { utterances } = await server.call("ConversationService/ListUtterances", { conversationId: id, last: 2 });
  const { utteranceId } = utterances[0];
  await server.call("ConversationService/UpdateUtterance", {
    conversationId: id,
    utteranceId,
    pinned: true,
    updateMask: "pinned",
  });
}

/** What axe finds wrong with what is shown. */
async function faults(page) {
  return page.evaluate(async () => {
    const { violations } = await globalThis.axe.run(document, {
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    });
    return violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.target} ${node.failureSummary}`).join("; ")}`,
    );
  });
}

/** The name of what the keyboard is at. */
const at = (page) =>
  page.evaluate(() => {
    const it = document.activeElement;
    return (
      it.getAttribute("aria-label") ??
      (it.getAttribute("aria-labelledby") &&
        document.getElementById(it.getAttribute("aria-labelledby"))?.textContent) ??
      it.textContent
    );
  });

/** Whether it is in the view of a person, and nothing covers its middle. */
const isInView = (locator) =>
  locator.evaluate((it) => {
    const { left, top, right, bottom } = it.getBoundingClientRect();
    const shown = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight && it.contains(shown);
  });

/** Presses Tab until the keyboard is at what has this name. */
async function tabTo(page, name, key = "Tab") {
  for (let step = 0; step < 80; step += 1) {
    await page.keyboard.press(key);
    if (name.test((await at(page)) ?? "")) return;
  }
  assert.fail(`the keyboard does not get to ${name}; it is at ${await at(page)}`);
}

export const accessible = {
  async every_view_for_a_screen_reader({ page, open, server }) {
    await varied(server, "axe");
    // Evaluated by the browser's debugger, which the policy of the page does not bind.
    for (const colorScheme of ["light", "dark"]) {
      for (const width of [1440, 900, 390]) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        await page.setViewportSize({ width, height: 844 });
        const isPhone = width < 700;
        await open("axe", isPhone ? "messages" : "context");
        await page.reload();
        await page.evaluate(axe());
        await expect(said(page, 28)).shown();
        for (const tab of isPhone ? ["messages", ...TABS] : TABS) {
          await page.locator(`#tab-${tab}`).click();
          await expect(tab === "messages" ? said(page, 28) : panel(page)).shown();
          assert.deepEqual(await faults(page), [], `${tab}, ${colorScheme}, ${width}`);
        }
        await page.getByRole("button", { name: "Forget…" }).click();
        await field(page, "What").fill("last:2");
        await expect(dialog(page)).holds("Forgets");
        assert.deepEqual(await faults(page), [], `forgetting, ${colorScheme}, ${width}`);
        await page.keyboard.press("Escape");
        await choose(page, "Prepare a history…");
        await expect(dialog(page)).holds("messages,");
        assert.deepEqual(await faults(page), [], `preparing, ${colorScheme}, ${width}`);
        await page.keyboard.press("Escape");
        await page.goto(`${page.url().split("#")[0]}#/`);
        await page.getByLabel("Search titles and texts").fill("ferry");
        await expect(page.getByRole("navigation", { name: "Conversations" })).holds(/\d texts\./);
        assert.deepEqual(await faults(page), [], `searching, ${colorScheme}, ${width}`);
      }
    }
  },

  /** The page has its own words: no names of calls, fields or values of the protocol. */
  async the_words_of_the_interface({ page, open, server }) {
    await varied(server, "words");
    await open("words");
    await expect(said(page, 28)).shown();
    const told = async () => {
      const texts = await page.evaluate(() => {
        const named = [...document.querySelectorAll("*")].flatMap((it) =>
          ["aria-label", "title", "placeholder"].map((name) => it.getAttribute(name) ?? ""),
        );
        return [document.body.innerText, ...named].join("\n");
      });
      const ours = texts.replaceAll(/look_up|o200k_base|r-words/g, "");
      assert.doesNotMatch(ours, /\w_\w|memoriz|remember|erase|utterance_|context:[A-Z]/i);
      assert.doesNotMatch(ours, /[a-z][A-Z]\w*Context|BuildContext|PrepareHistory|ReadShared|UNSPECIFIED/);
    };
    for (const tab of TABS) {
      await page.locator(`#tab-${tab}`).click();
      await expect(panel(page)).shown();
      if (tab === "events") {
        await page.getByRole("checkbox", { name: "reads too" }).check();
        await server.say("words", 1, 29);
        await server.call("MemoryService/Remember", { conversationId: "words", prompt: "ferry" });
        await server.call("ContextService/BuildContext", { conversationId: "words" });
        await expect(panel(page)).holds("add messages", "search", "build context");
      }
      await told();
    }
    await page.getByRole("tab", { name: "Context" }).click();
    await page.getByText("More", { exact: true }).click();
    await page.getByLabel("Token budget").fill("3");
    await expect(panel(page)).holds("Token budget: is 3; accepted: ");
    await told();
    await page.getByLabel("Token budget").fill("75");
    await expect(panel(page)).holds("over the token budget");
    await told();
    for (const label of ["Compact…", "Fork…", "Prepare a history…", "Export…", "End…", "Delete the recipient…"]) {
      await page.getByRole("button", { name: "More actions" }).click();
      await page.locator("#menu").getByRole("button", { name: label }).click();
      await expect(dialog(page)).shown();
      await told();
      await page.keyboard.press("Escape");
      await expect(dialog(page)).gone();
    }
  },

  async everything_by_the_keyboard({ page, url, server }) {
    await server.say("keys", 30);
    await server.say("newest", 2);
    await page.goto(url);
    await expect(page.getByRole("heading", { name: "newest" })).shown();
    await expect(page.getByRole("link", { name: /keys/ })).shown();
    await tabTo(page, /^keys/);
    await page.keyboard.press("Enter");
    await expect(said(page, 30)).shown();
    await tabTo(page, /Skip to the conversation/, "Shift+Tab");
    await page.keyboard.press("Enter");
    assert.match(await at(page), /keys/);
    await tabTo(page, /#30/);
    await page.keyboard.press("k");
    assert.match(await at(page), /#29/);
    await page.keyboard.press("PageDown");
    assert.match(await at(page), /#30/);
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Tab");
    assert.equal(await at(page), "Pin #29");
    await page.keyboard.press("Enter");
    await expect(said(page, 29)).holds("pinned");
    await until(
      () => at(page),
      (name) => name === "Unpin #29",
      "the keyboard stays at its button",
    );
    await tabTo(page, /^Context$/);
    await page.keyboard.press("ArrowRight");
    assert.equal(await at(page), "Summary");
    await page.keyboard.press("End");
    assert.equal(await at(page), "Details");
    await expect(panel(page)).holds("Limits");
    await tabTo(page, /Forget…/, "Shift+Tab");
    await page.keyboard.press("Enter");
    await page.keyboard.type("last:1");
    await expect(dialog(page)).holds("Forgets 1 utterance");
    await page.keyboard.press("Escape");
    await expect(dialog(page)).gone();
    assert.match(await at(page), /Forget…/);
    await page.keyboard.press("Enter");
    await page.keyboard.type("last:1");
    await page.keyboard.press("Enter");
    await expect(said(page, 30)).holds("forgotten");
  },

  async a_phone({ page, url, server }) {
    await varied(server, "phone");
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(url);
    const list = page.getByRole("navigation", { name: "Conversations" });
    await expect(said(page, 28)).shown();
    assert.equal(await list.isVisible(), false);
    assert.equal(await page.getByRole("tab").count(), 7);
    for (const name of TABS) {
      await page.getByRole("tab", { name: new RegExp(name, "i") }).click();
      await expect(panel(page)).shown();
      const [wide, view] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(wide <= view, `${name} is ${wide} wide`);
      for (const tab of await page.getByRole("tab").all()) assert.ok(await isInView(tab), `${tab} with ${name}`);
    }
    // A link shows the panel that it names, or the place.
    for (const name of TABS) {
      await page.goto(`${url}#/`);
      await expect(list).shown();
      await page.goto(`${url}#/phone?tab=${name}`);
      await expect(page.locator(`#panel-${name}`)).shown();
      assert.ok(await isInView(page.locator(`#panel-${name}`)), name);
      assert.equal(await said(page, 28).isVisible(), false);
    }
    await page.goto(`${url}#/phone?tab=summary`);
    await panel(page).getByRole("button", { name: /^#/ }).first().click();
    await expect(page.getByRole("tab", { name: "Messages", selected: true })).shown();
    const sequence = await until(
      () => page.evaluate(() => Number(document.activeElement.dataset.sequence)),
      (sequence) => sequence > 0,
      "the utterance is gone to",
    );
    assert.ok(await isInView(said(page, sequence)));
    await page.getByRole("link", { name: "All conversations" }).click();
    await list.getByRole("link", { name: /phone/ }).click();
    await expect(said(page, 28)).shown();
    await page.goBack();
    await expect(list).shown();
    await page.setViewportSize({ width: 1440, height: 844 });
    await page.goto(`${url}#/phone?tab=messages`);
    await expect(page.locator("#panel-context")).shown();
    assert.equal(await page.getByRole("tab", { name: "Messages" }).isVisible(), false);
  },

  async light_and_dark({ page, url }) {
    const colour = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const brightness = async () =>
      (await colour())
        .match(/\d+/g)
        .slice(0, 3)
        .reduce((sum, it) => sum + Number(it), 0);
    await page.emulateMedia({ colorScheme: "dark" });
    await page.goto(url);
    await expect(page.getByRole("navigation")).shown();
    assert.ok((await brightness()) < 150, await colour());
    await page.getByRole("button", { name: /^Switch between light, dark/ }).click();
    assert.ok((await brightness()) > 600, await colour());
    await page.reload();
    await expect(page.getByRole("navigation")).shown();
    assert.ok((await brightness()) > 600, "the choice is kept");
  },
};
