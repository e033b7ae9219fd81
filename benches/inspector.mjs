// Measures how the inspector scrolls through a conversation of 10,000 utterances, compared with an empty page:
//
//   UTTERD_BIN=target/release/utterd node benches/inspector.mjs
//
// playwright-core must be in NODE_PATH, and Chromium installed.

import { spawn } from "node:child_process";
import readline from "node:readline";

import { Server, launched } from "../tests/cases/clients/inspector/browser.mjs";
import { said } from "../tests/cases/clients/inspector/pieces.mjs";

const UTTERANCES = 10_000;
/** How long to scroll, in milliseconds, and how far with each frame, in pixels. */
const [LONG, STEP] = [10_000, 120];

const browser = await launched();
const binary = process.env.UTTERD_BIN ?? "utterd";
const serving = spawn(
  binary,
  ["serve", "--listen", "127.0.0.1:0", "--inspector", "127.0.0.1:0", "--announce", "json"],
  {
    stdio: ["ignore", "pipe", "ignore"],
  },
);
try {
  await measure(await address());
} finally {
  await browser.close();
  serving.kill();
}

async function address() {
  for await (const line of readline.createInterface(serving.stdout)) return JSON.parse(line).inspector;
  throw new Error(`${binary} does not serve`);
}

async function measure(url) {
  const server = new Server(url);
  const policy = { preset: "POLICY_PRESET_SESSION" };
  await server.call("ConversationService/CreateConversation", {
    conversationId: "long",
    recipientId: "r-long",
    policy,
  });
  await server.say("long", UTTERANCES);
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto("about:blank");
  const empty = await page.evaluate(scrolled, [LONG, 0]);
  const opened = performance.now();
  await page.goto(`${url}#/long`);
  await said(page, UTTERANCES).waitFor();
  const took = performance.now() - opened;
  await page.waitForTimeout(1_000);
  const full = await page.evaluate(scrolled, [LONG, STEP]);
  const rate = ({ frames, milliseconds }) => (frames * 1_000) / milliseconds;
  console.log(`${UTTERANCES.toLocaleString("en")} utterances, ${STEP} pixels with each frame`);
  console.log(
    `frames a second: ${rate(full).toFixed(1)}, an empty page ${rate(empty).toFixed(1)}: ${(rate(full) / rate(empty)).toFixed(2)} of it`,
  );
  console.log(`the longest of 100 frames: ${full.p99.toFixed(1)} ms, an empty page ${empty.p99.toFixed(1)} ms`);
  console.log(`frames in which the view was not read yet: ${full.blank} of ${full.frames}`);
  console.log(`utterances on the page at most: ${full.articles}`);
  console.log(`from the address to the newest utterance: ${took.toFixed(0)} ms`);
}

/** Scrolls up for a while; runs in the page. */
function scrolled([long, step]) {
  const timeline = document.querySelector(".timeline") ?? document.documentElement;
  return new Promise((done) => {
    const times = [];
    let [blank, articles] = [0, 0];
    const start = performance.now();
    let last = start;
    requestAnimationFrame(function next(now) {
      times.push(now - last);
      last = now;
      timeline.scrollTop -= step;
      if (step > 0) {
        const { left, top, width, height } = timeline.getBoundingClientRect();
        const block = document.elementFromPoint(left + width / 2, top + height / 2)?.closest(".block");
        if (block && !block.querySelector("article")) blank += 1;
        articles = Math.max(articles, document.querySelectorAll("article").length);
      }
      if (now - start < long) return requestAnimationFrame(next);
      times.sort((a, b) => a - b);
      done({
        frames: times.length,
        milliseconds: now - start,
        blank,
        articles,
        p99: times[Math.floor(times.length * 0.99)],
      });
    });
  });
}
