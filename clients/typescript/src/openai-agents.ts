/**
 * A session for the OpenAI Agents SDK.
 *
 *     const session = new UtterdSession("order-7", connect(), { budget: 8000 });
 *     const result = await run(agent, "Where is my order?", { session });
 *
 * An item of the SDK is a message of the conversation, and is returned unchanged. Function calls and their results are
 * calls and results for the server too.
 */
import type { AgentInputItem, Session } from "@openai/agents";

import type { Client } from "./client.js";
import type { ContextOptions } from "./contexts.js";
import type { Conversation } from "./conversation.js";
import { orNone } from "./errors.js";
import { fit } from "./ids.js";
import { hasMedia, itemsOf, own, type Said, saidBy } from "./items.js";
import { budgetPolicy } from "./limits.js";
import type { Context, Original, Policy } from "./model.js";
import { originals } from "./originals.js";

/** The recipient of a session, and its limits. */
export interface SessionOptions {
  /** The conversation's recipient. */
  readonly user?: string;
  /** The most tokens of the history that goes to the model. Without a budget, all of it does. */
  readonly budget?: number;
  /** Limits for a conversation that starts here; by default everything stays stored, and the window fits the budget. */
  readonly policy?: Policy;
}

/** A session whose items are a conversation on an utterd server. */
export class UtterdSession implements Session {
  /** The conversation itself. */
  readonly conversation: Conversation;
  private policy: Policy | undefined;

  /** `sessionId`: the conversation's id, or a digest of it if it is too long or has control characters. */
  constructor(
    private readonly sessionId: string,
    private readonly memory: Client,
    private readonly options: SessionOptions = {},
  ) {
    this.conversation = memory.conversation({ id: fit(sessionId), recipient: options.user });
    this.policy = options.policy ?? budgetPolicy(options.budget);
  }

  async getSessionId(): Promise<string> {
    return this.sessionId;
  }

  /** The stored items, or the newest `limit` of them; with a budget and no limit, the context. */
  async getItems(limit?: number): Promise<AgentInputItem[]> {
    const { budget } = this.options;
    if (limit === undefined && budget !== undefined) return this.context();
    if (limit !== undefined && limit <= 0) return [];
    return itemsOf((await orNone(this.conversation.messages<Said>({ last: limit, format: "responses" }))) ?? []);
  }

  /**
   * The history within a token budget, as items: a summary, and the newest messages in whole exchanges, as they were
   * added. Calls of the newest exchange stay open; older ones that have no result get a placeholder.
   */
  async context(options: Omit<ContextOptions, "format"> = {}): Promise<AgentInputItem[]> {
    const usual = { budget: this.options.budget, unanswered: "placeholder" } as const;
    const wanted = { ...usual, ...options, format: "openai", countAsStored: true } as const;
    const context = await orNone(this.conversation.context<Said>(wanted));
    if (context === undefined) return [];
    const { timeout, signal, unanswered } = options;
    const stored = await originals<Said>(this.conversation, context, { timeout, signal, format: "responses" });
    return itemsOf(shown(context, stored, unanswered === undefined));
  }

  /** Stores items, all or none. */
  async addItems(items: AgentInputItem[]): Promise<void> {
    if (items.length === 0) return;
    await this.create();
    await this.conversation.add(items.map(saidBy), { format: "responses", lenient: true });
  }

  /** Removes the newest item and returns it; undefined if there is none. */
  async popItem(): Promise<AgentInputItem | undefined> {
    const popped = await this.conversation.pop<Said>({ format: "responses" });
    return popped === undefined ? undefined : itemsOf([popped])[0];
  }

  /** Removes all items. */
  async clearSession(): Promise<void> {
    await this.conversation.clear();
  }

  /** Replaces all items, in one commit. */
  async replaceHistoryWithCompaction(items: AgentInputItem[]): Promise<void> {
    await this.create();
    await this.conversation.replaceAfter(0, items.map(saidBy), { format: "responses", lenient: true });
  }

  private async create(): Promise<void> {
    if (this.policy === undefined) return;
    const { id } = this.conversation;
    await this.memory.create({ id, recipient: this.options.user, policy: this.policy, existOk: true });
    this.policy = undefined;
  }
}

/**
 * The messages of a context, with the stored items in place of those that show them unchanged, and in the order in which
 * they were said: a context has each result directly after its call. With `open`, the newest calls that have no result
 * get no placeholder.
 */
function shown(context: Context<Said>, stored: readonly Original<Said>[][], open: boolean): Said[] {
  const spoken = context.findLastIndex(({ role, content }) => role !== "tool" && content);
  let last = 0;
  const entries = context.flatMap((made, index) => {
    const sources = stored[index]!;
    if (open && index > spoken && made.role === "tool" && sources.length === 0) return [];
    if (sources.length > 0 && sources.every((it) => isShown(it, made, context.mediaLeftOut))) {
      last = sources.at(-1)!.sequence;
      return sources.map(({ sequence, message }) => ({ sequence, message }));
    }
    last = sources.at(-1)?.sequence ?? last;
    return [{ sequence: last, message: made }];
  });
  return entries.sort((one, other) => one.sequence - other.sequence).map(({ message }) => message);
}

function isShown({ whole, message }: Original<Said>, made: Said, mediaLeftOut: boolean): boolean {
  return (
    whole && own(message) !== undefined && !(mediaLeftOut && hasMedia(message) && typeof made.content === "string")
  );
}
