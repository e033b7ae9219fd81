// An agent with a tool: node with_ai_sdk.ts order-7 "Where is order 7?"; if killed: node with_ai_sdk.ts order-7.
import { readFileSync } from "node:fs";

import { openai } from "@ai-sdk/openai";
import { generateText, jsonSchema, tool } from "ai";
import { connect } from "utterd";
import { UtterdHistory } from "utterd/ai-sdk";

const description = "Tells where an order is.";
const properties = { id: { type: "integer" } } as const;
const inputSchema = jsonSchema<{ id: number }>({ type: "object", properties, required: ["id"] });
const tools = { lookup_order: tool({ description, inputSchema }) };

function lookupOrder({ id }: { id: number }): string {
  return JSON.stringify(JSON.parse(readFileSync("orders.json", "utf8"))[id]);
}

const [session = "", question] = process.argv.slice(2);
const history = new UtterdHistory(session, connect());
if (question) await history.save({ role: "user", content: question });
for (;;) {
  const recent = await history.load({ last: 20 });
  const results = recent.flatMap((it) => (it.role === "tool" ? it.content : []));
  const answered = results.map((it) => it.type === "tool-result" && it.toolCallId);
  const said = recent.flatMap((it) => (it.role === "assistant" && Array.isArray(it.content) ? it.content : []));
  for (const part of said) {
    if (part.type !== "tool-call" || answered.includes(part.toolCallId)) continue;
    const { toolCallId, toolName, input } = part;
    const value = lookupOrder(input as { id: number });
    const result = { type: "tool-result", toolCallId, toolName, output: { type: "text", value } } as const;
    await history.save({ role: "tool", content: [result] });
  }
  const context = await history.context({ budget: 8000, instructions: "You help customers of a shop." });
  const answer = await generateText({ model: openai.chat("gpt-4o-mini"), tools, ...context });
  await history.save(answer);
  if (answer.toolCalls.length > 0) continue;
  console.log(answer.text);
  break;
}
