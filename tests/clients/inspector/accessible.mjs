// The page without a mouse, for a screen reader, in both colours and on a phone.

import assert from "node:assert/strict";

import { axe, exchange, sentence } from "./browser.mjs";
import { expect, until } from "./expect.mjs";
import { dialog, field, panel, said } from "./pieces.mjs";

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
        await open("axe");
        await page.reload();
        await page.evaluate(axe());
        await expect(said(page, 28)).shown();
        for (const tab of TABS) {
          await page.locator(`#tab-${tab}`).click();
          await expect(panel(page)).shown();
          assert.deepEqual(await faults(page), [], `${tab}, ${colorScheme}, ${width}`);
        }
        await page.getByRole("button", { name: "Forget…" }).click();
        await field(page, "What").fill("last:2");
        await expect(dialog(page)).holds("Forgets");
        assert.deepEqual(await faults(page), [], `forgetting, ${colorScheme}, ${width}`);
        await page.keyboard.press("Escape");
      }
    }
  },

  async everything_by_the_keyboard({ page, url, server }) {
    await server.say("keys", 30);
    await page.goto(url);
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
    await page.getByRole("link", { name: /phone/ }).click();
    await expect(said(page, 28)).shown();
    assert.equal(await page.getByRole("navigation", { name: "Conversations" }).isVisible(), false);
    for (const name of TABS) {
      await page.getByRole("tab", { name: new RegExp(name, "i") }).click();
      await expect(panel(page)).shown();
      const [wide, view] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(wide <= view, `${name} is ${wide} wide`);
    }
    await page.getByRole("link", { name: "All conversations" }).click();
    await expect(page.getByRole("navigation", { name: "Conversations" })).shown();
    await page.goBack();
    await expect(said(page, 28)).shown();
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
    await page.getByRole("button", { name: /^Change between light, dark/ }).click();
    assert.ok((await brightness()) > 600, await colour());
    await page.reload();
    await expect(page.getByRole("navigation")).shown();
    assert.ok((await brightness()) > 600, "the choice is kept");
  },
};
