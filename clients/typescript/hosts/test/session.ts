/** A session of a coding agent: what its user says, what the model does, and what must not be lost. */
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { type Answer, type Block, blocksOf } from "./model.ts";

/** Each question makes four messages: the question, a call, its result, and the answer. */
export const QUESTIONS = 75;
/** What the user tells at the start, and the last request must say. */
export const RULES = [
  "Never edit anything under generated/.",
  "Always run `make check` before you say that something is done.",
  "Use tabs, not spaces.",
];
const FILLER = "The service reads its configuration at the start, and answers with what it has read. ";

/** What the user says, in order. */
export const questions: readonly string[] = Array.from({ length: QUESTIONS }, (_, at) => {
  const asked = `Please look at part ${at}, and tell me in which order its modules are started.`;
  return at === 0 ? `We move the billing service to the new API. ${RULES.join(" ")} ${asked}` : asked;
});

/** Directories of a session, which are removed after it. */
export class Directories implements Disposable {
  private readonly root = mkdtempSync(join(tmpdir(), "utterd-hosts-"));
  /** Where the agent works. */
  readonly work = this.directory("work");
  /** A file to read. */
  readonly file = join(this.work, "modules.md");

  constructor() {
    writeFileSync(this.file, `# Modules\n\n${FILLER.repeat(12)}\n`);
  }

  directory(name: string): string {
    const path = join(this.root, name);
    mkdirSync(path);
    return path;
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** A model that reads a file for each question, and then answers. */
export function reader(file: string): Answer {
  return ({ messages, tools = [] }) => {
    // An agent may say more after the result.
    const last = messages.findLast(({ role }) => role === "assistant");
    const answered = last !== undefined && blocksOf(last).some(({ type }) => type === "tool_use");
    const tool = tools.find(({ name }) => name.toLowerCase() === "read");
    if (answered || tool === undefined)
      return [{ type: "text", text: `In the order in which the file names them. ${FILLER}` }];
    const path = Object.keys(tool.input_schema.properties).find((name) => name.endsWith("path")) ?? "path";
    const call: Block = { type: "tool_use", id: `toolu_${randomUUID()}`, name: tool.name, input: { [path]: file } };
    return [{ type: "text", text: "I read the file." }, call];
  };
}
