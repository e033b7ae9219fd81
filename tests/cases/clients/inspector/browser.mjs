// A real browser, and calls to the server that the page is of. The packages are those of NODE_PATH.

import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/** What a browser without a network and without a user namespace needs. */
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"];
const PROGRAMS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Starts the browser; the caller closes it. */
export async function launched() {
  const { chromium } = require("playwright-core");
  const fs = await import("node:fs");
  const executablePath = process.env.CHROMIUM ?? PROGRAMS.find((it) => fs.existsSync(it));
  if (!executablePath) throw new Error("there is no Chromium; CHROMIUM names its program");
  return chromium.launch({ executablePath, args: FLAGS });
}

/** The text of axe-core, which runs in the page. */
export const axe = () => require("axe-core").source;

/** The server, as the checks call it: over the interface that the page uses. */
export class Server {
  /** @param {string} url of the page */
  constructor(url, token = "") {
    this.url = url;
    this.token = token;
  }

  /** @param {string} method @param {object} request */
  async call(method, request = {}) {
    const authorization = this.token ? { authorization: `Bearer ${this.token}` } : {};
    const response = await fetch(new URL(`/utterd.v1.${method}`, this.url), {
      method: "POST",
      headers: { "content-type": "application/json", ...authorization },
      body: JSON.stringify(request),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(`${method}: ${answer.message}`);
    return answer;
  }

  /** @param {string} conversationId @param {object[]} utterances @param {object} [more] */
  memorize(conversationId, utterances, more = {}) {
    return this.call("MemoryService/Memorize", {
      conversationId,
      recipientId: `r-${conversationId}`,
      utterances,
      ...more,
    });
  }

  /** Says `count` sentences, `user` and `assistant` in turn. @param {string} conversationId */
  async say(conversationId, count, from = 1) {
    const said = Array.from({ length: count }, (_, index) => sentence(from + index));
    for (let start = 0; start < said.length; start += 1000) {
      await this.memorize(conversationId, said.slice(start, start + 1000));
    }
  }
}

/** @param {number} number */
export const sentence = (number) => ({
  role: number % 2 === 1 ? "ROLE_USER" : "ROLE_ASSISTANT",
  content: `Sentence ${number} is about the ${["harbour", "lighthouse", "ferry", "market"][number % 4]}.`,
});

/** An assistant's call of a tool, and its result. */
export const exchange = (id, name, argumentsJson, content) => [
  { role: "ROLE_ASSISTANT", toolCalls: [{ id, name, argumentsJson }] },
  { role: "ROLE_TOOL", toolCallId: id, content },
];
