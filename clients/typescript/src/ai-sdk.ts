/**
 * Message histories for the AI SDK, which gets them from its caller.
 *
 *     const history = new UtterdHistory("order-7", connect(), { budget: 8000 });
 *     await history.save({ role: "user", content: "Where is my order?" });
 *     const result = await generateText({ model, tools, stopWhen, ...(await history.run()) });
 *     await history.save(result);
 *
 * A message is stored in Anthropic's format, together with the AI SDK's own data, and is returned unchanged.
 */
import { isDeepStrictEqual } from "node:util";

import type { ModelMessage } from "ai";

import type { Client } from "./client.js";
import type { ContextOptions } from "./contexts.js";
import type { Conversation } from "./conversation.js";
import { orNone, ServerError } from "./errors.js";
import { fit } from "./ids.js";
import { budgetPolicy } from "./limits.js";
import type { CallOptions, Policy } from "./model.js";
import { originals } from "./originals.js";
import { shortened } from "./oversize.js";
import { namesOf, own, type Said, saidBy, saidByOthers } from "./parts.js";
import { restored } from "./restore.js";

/** Bytes of a message that every server accepts. */
const SMALL = 2 ** 20;

/** The recipient of a history, and its limits. */
export interface HistoryOptions {
  /** The conversation's recipient. */
  readonly user?: string;
  /** The most tokens of a context. A conversation that starts here gets limits that suit it, and keeps everything. */
  readonly budget?: number;
  /** Other limits for a conversation that starts here. */
  readonly policy?: Policy;
  /**
   * What happens to a message that is larger than the server accepts: by default `reject`, an `InvalidRequestError`;
   * with `cut`, its longest texts keep their head and tail, and the name of a file takes the file's place.
   */
  readonly oversize?: "reject" | "cut";
}

/** With what is left out, which a spread does not copy. */
export type Warned<T> = T & { readonly warnings: readonly string[] };

/** What goes to a model: spread it into the call. */
export type ModelContext = Warned<{
  /** Instructions and the summary; undefined if there are none. */
  system: string | undefined;
  messages: ModelMessage[];
}>;

/** What goes to a model in one step. */
export interface StepContext {
  /** Missing if the call's own stays. */
  system?: string;
  messages: ModelMessage[];
}

/** The result of `generateText` or `streamText`, or the event at its end: from version 7 on, and before. */
export type Generated =
  | { readonly responseMessages: Awaitable<readonly ModelMessage[]> }
  | { readonly response: Awaitable<{ readonly messages: readonly ModelMessage[] }> };

type Awaitable<T> = T | PromiseLike<T>;

/** What the AI SDK tells before each step. */
export interface Step {
  readonly steps: readonly { readonly response: { readonly messages: readonly ModelMessage[] } }[];
  /** The messages of all steps so far, from version 7 on; before, each step has them. */
  readonly responseMessages?: readonly ModelMessage[];
}

/** Gives a step of a run its context. */
export type PrepareStep = (step: Step) => Promise<StepContext | undefined>;

/**
 * The summary is in a user message, so that the call keeps its own instructions. The contexts begin with the same
 * messages, for the provider's prompt cache.
 */
const IN_RUNS = { summary: "user", stableSteps: true } as const;

/** The messages of a conversation on an utterd server, for one run at a time. */
export class UtterdHistory {
  /** The conversation itself. */
  readonly conversation: Conversation;
  private policy: Policy | undefined;
  /** What `prepareStep` has stored of a result that is not complete. */
  private kept: readonly ModelMessage[] = [];

  /** `sessionId`: the conversation's id, or a digest of it if it is too long or has control characters. */
  constructor(
    sessionId: string,
    private readonly memory: Client,
    private readonly options: HistoryOptions = {},
  ) {
    this.conversation = memory.conversation({ id: fit(sessionId), recipient: options.user });
    this.policy = options.policy ?? (options.budget === undefined ? undefined : budgetPolicy(options.budget));
  }

  /** Every stored message, or the newest `last`. */
  async load(options: CallOptions & { readonly last?: number } = {}): Promise<ModelMessage[]> {
    const stored = await orNone(this.conversation.messages<Said>({ ...options, format: "anthropic" }));
    const names = namesOf(stored ?? []);
    return (stored ?? []).flatMap((said) => own(said) ?? saidByOthers(said, names));
  }

  /**
   * Stores messages: one or several, or those of a result. What `prepareStep` has stored of a result is not stored
   * again.
   */
  async save(messages: ModelMessage | readonly ModelMessage[] | Generated, options: CallOptions = {}): Promise<void> {
    const all = await messagesOf(messages);
    await this.store(all.slice(this.countKept(all)), options);
    this.kept = [];
  }

  /**
   * What goes to the model within a token budget: a summary, and the newest messages in whole exchanges, as they were
   * saved. System messages at the head stay, and count towards the budget. Calls that the provider ran are only in
   * the newest turn, unless the budget has room for all of them.
   */
  async context(options: Omit<ContextOptions, "format"> = {}): Promise<ModelContext> {
    const { budget = this.options.budget } = options;
    // A budget is filled.
    const usual = { unanswered: "placeholder", stableSteps: budget === undefined ? undefined : false } as const;
    const wanted = { ...usual, ...options, budget, format: "anthropic", countAsStored: true } as const;
    const context = await orNone(this.conversation.context<Said>(wanted));
    if (context === undefined) return warned({ system: options.instructions, messages: [] }, []);
    const system = context.system.map(({ text }) => text).join("\n\n");
    const { timeout, signal, unanswered } = options;
    const stored = await originals<Said>(this.conversation, context, { timeout, signal, format: "anthropic" });
    const { messages, warnings } = restored(context, stored, unanswered === undefined);
    return warned({ system: system || undefined, messages }, [...context.warnings, ...warnings]);
  }

  /**
   * What a run of several steps needs: a context, and `prepareStep`, which trims the context of each further step.
   * Instructions can be among the options, or in the call.
   */
  async run(options: Omit<ContextOptions, "format"> = {}): Promise<Warned<StepContext & { prepareStep: PrepareStep }>> {
    const context = await this.context({ ...IN_RUNS, ...options });
    return warned({ ...stepContext(context), prepareStep: this.prepareStep(options) }, context.warnings);
  }

  /**
   * The part of `run` for an agent that is made before its messages: before each further step, stores what the steps
   * so far have added, and gives the model a context within the budget.
   */
  prepareStep(options: Omit<ContextOptions, "format"> = {}): PrepareStep {
    return async ({ steps, responseMessages }) => {
      const all = responseMessages ?? steps.at(-1)?.response.messages ?? [];
      if (all.length === 0) return undefined;
      await this.store(all.slice(this.countKept(all)), options);
      this.kept = [...all];
      return stepContext(await this.context({ ...IN_RUNS, ...options }));
    };
  }

  /** Removes all messages. */
  async clear(options: CallOptions = {}): Promise<void> {
    await this.conversation.clear(options);
  }

  /** How many of the messages are stored already. */
  private countKept(messages: readonly ModelMessage[]): number {
    const count = this.kept.length;
    return isDeepStrictEqual(messages.slice(0, count), this.kept) ? count : 0;
  }

  private async store(messages: readonly ModelMessage[], { timeout, signal }: CallOptions): Promise<void> {
    if (messages.length === 0) return;
    await this.create({ timeout, signal });
    try {
      const how = { timeout, signal, format: "anthropic", lenient: true } as const;
      await this.conversation.add(messages.map(saidBy), how);
    } catch (error) {
      const { oversize } = this.options;
      if (!(error instanceof ServerError) || oversize !== "cut") throw error;
      await this.store(cut(messages, error), { timeout, signal });
    }
  }

  private async create(options: CallOptions): Promise<void> {
    if (this.policy === undefined) return;
    const { id } = this.conversation;
    const { user: recipient } = this.options;
    await this.memory.create({ ...options, id, recipient, policy: this.policy, existOk: true });
    this.policy = undefined;
  }
}

function warned<T extends object>(it: T, warnings: readonly string[]): Warned<T> {
  return Object.defineProperty(it, "warnings", { value: warnings }) as Warned<T>;
}

/** Without `system`, the call's own stays. */
function stepContext({ system, messages }: ModelContext): StepContext {
  return system === undefined ? { messages } : { system, messages };
}

async function messagesOf(given: ModelMessage | readonly ModelMessage[] | Generated): Promise<readonly ModelMessage[]> {
  if ("responseMessages" in given) return given.responseMessages;
  if ("response" in given) return (await given.response).messages;
  return [given].flat();
}

/** What is not stored yet, with the message shortened that the server refused; throws the error if nothing helps. */
function cut(messages: readonly ModelMessage[], error: ServerError): readonly ModelMessage[] {
  const [index, excess] = refused(messages, error);
  const message = messages[index];
  const smaller = message && shortened(message, excess);
  if (smaller === undefined || sizeOf(smaller) >= sizeOf(message!)) throw error;
  return messages.with(index, smaller).slice(error.stored);
}

/** Which message is too large, and by how many bytes. */
function refused(messages: readonly ModelMessage[], error: ServerError): [number, number] {
  const { reason, fields, metadata, stored } = error;
  // Larger than a whole request: the server has not read it.
  if (reason === "MESSAGE_TOO_LARGE") return [stored, sizeOf(messages[stored]!) - SMALL];
  const [{ field = "" } = {}] = reason === "CONTENT_TOO_LARGE" ? fields : [];
  const excess = Number(metadata["bytes"]) - Number(metadata["limit_bytes"]);
  return [Number(/^messages\[(\d+)\]/.exec(field)?.[1] ?? -1), excess];
}

function sizeOf(message: ModelMessage): number {
  return Buffer.byteLength(JSON.stringify(saidBy(message)));
}
