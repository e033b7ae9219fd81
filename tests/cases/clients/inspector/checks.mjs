// Checks of the inspector in a real browser: `node checks.mjs CHECK URL [TOKEN…]`, or `--probe` for what they need.

import assert from "node:assert/strict";

import { Server, launched } from "./browser.mjs";
import { accessible } from "./accessible.mjs";
import { changed } from "./changes.mjs";
import { read } from "./reading.mjs";
import { signedIn } from "./signing_in.mjs";

const CHECKS = { ...read, ...changed, ...accessible, ...signedIn };
/** How long the page may take to show something, in milliseconds: a machine may be busy. */
const PATIENCE = 30_000;

const [name, url, ...more] = process.argv.slice(2);
const browser = await launched();
try {
  if (name !== "--probe") await check(CHECKS[name]);
} finally {
  await browser.close();
}

/** @param {(world: object) => Promise<void>} run */
async function check(run) {
  assert.ok(run, `there is no check ${name}; there are ${Object.keys(CHECKS).join(", ")}`);
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    locale: "en-US",
    acceptDownloads: true,
  });
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(error.stack));
  // The browser reports each call that is refused; what the page makes of it is checked.
  const isReport = (text) => /the server responded with a status of 4\d\d/.test(text);
  page.on("console", (it) => it.type() === "error" && !isReport(it.text()) && wrong.push(it.text()));
  const open = (conversation, tab = "context") => page.goto(`${url}#/${encodeURIComponent(conversation)}?tab=${tab}`);
  await run({ page, context, url, open, server: new Server(url, more[0]), tokens: more });
  assert.deepEqual(wrong, [], "the page reports no errors");
}
