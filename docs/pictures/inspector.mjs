// Takes the pictures of the inspector in docs/inspector.md, from what `utterd demo` serves:
//
//   UTTERD_BIN=target/debug/utterd node docs/pictures/inspector.mjs
//
// playwright-core must be in NODE_PATH, and Chromium installed.

import { spawn } from "node:child_process";
import path from "node:path";
import readline from "node:readline";
import { fileURLToPath } from "node:url";

import { launched } from "../../tests/cases/clients/inspector/browser.mjs";
import { expect } from "../../tests/cases/clients/inspector/expect.mjs";
import { act, dialog, field, panel, said } from "../../tests/cases/clients/inspector/pieces.mjs";

const DIRECTORY = path.dirname(fileURLToPath(import.meta.url));
const DESKTOP = { width: 1360, height: 800 };
const PHONE = { width: 390, height: 760 };

/** What is shown in each picture. */
const PICTURES = {
  async "inspector-context"(page) {
    await page.getByLabel("Token budget").fill("560");
    await expect(panel(page)).holds("left out: over the token budget");
    await said(page, 33).scrollIntoViewIfNeeded();
  },
  async "inspector-search"(page) {
    await page.getByRole("tab", { name: "Search" }).click();
    await page.getByLabel("Search for", { exact: true }).fill("nuts at breakfast");
    await panel(page).getByRole("link").filter({ hasText: "#17" }).click();
    await expect(said(page, 17)).shown();
    await page.mouse.move(0, 0);
  },
  async "inspector-forget"(page) {
    await page.getByRole("tab", { name: "Summary" }).click();
    await page.getByRole("button", { name: "Forget…" }).click();
    await field(page, "What").fill("about:hotel");
    await expect(dialog(page)).holds("Forgets");
  },
  async "inspector-phone"(page) {
    await said(page, 37).tap();
    await act(page, "Pin #37");
    await expect(said(page, 37)).holds("pinned");
  },
};

const browser = await launched();
const binary = process.env.UTTERD_BIN ?? "utterd";
const server = spawn(binary, ["demo", "--listen", "127.0.0.1:0", "--inspector", "127.0.0.1:0"], {
  stdio: ["ignore", "pipe", "inherit"],
});
try {
  const url = await address();
  for (const [name, show] of Object.entries(PICTURES)) await take(name, show, url);
} finally {
  await browser.close();
  server.kill();
}

/** Where the page is, once the server has announced it. */
async function address() {
  for await (const line of readline.createInterface(server.stdout)) {
    const [, url] = line.split("inspector: ");
    if (url) return url;
  }
  throw new Error(`${binary} demo does not serve`);
}

async function take(name, show, url) {
  const isPhone = name.endsWith("phone");
  const colorScheme = name.endsWith("forget") || name.endsWith("search") ? "dark" : "light";
  const viewport = isPhone ? PHONE : DESKTOP;
  const page = await browser.newPage({
    viewport,
    colorScheme,
    locale: "en-GB",
    hasTouch: isPhone,
    reducedMotion: "reduce",
  });
  await page.goto(`${url}#/trip`);
  await expect(said(page, 38)).shown();
  await show(page);
  await page.screenshot({ path: path.join(DIRECTORY, `${name}.png`) });
  await page.close();
}
