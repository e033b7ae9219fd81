// LangChain's client of motorhead for JavaScript, with only the address changed. The packages are those of NODE_PATH.

import assert from "node:assert/strict";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const { MotorheadMemory } = require("@langchain/community/memory/motorhead_memory");
const url = process.argv[2];

async function remembered() {
  const memory = new MotorheadMemory({ sessionId: "ben", url });
  await memory.init();
  return memory;
}

if (url !== "--probe") {
  const memory = await remembered();
  await memory.saveContext({ input: "Where is the salt cathedral?" }, { output: "In Zipaquirá." });
  const { history } = await (await remembered()).loadMemoryVariables({});
  assert.equal(history, "Human: Where is the salt cathedral?\nAI: In Zipaquirá.");
}
