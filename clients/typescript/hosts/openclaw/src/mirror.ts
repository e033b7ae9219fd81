/** Sessions of OpenClaw in utterd: which conversation is one, what is stored of it, and what the model gets. */
import { type Client, type Context, type Conversation, ExistsError, type Policy, PreconditionError } from "utterd";
import { budgetPolicy, fit } from "utterd/adapters";
import type { ChatMessage } from "utterd/pi-messages";

import { type HostMessage, made, type Named, shortened, tokensBesideText } from "./messages.ts";

/** How OpenClaw names a session. */
export interface Address {
  readonly sessionId: string;
  readonly sessionKey?: string | undefined;
}

export interface Session {
  readonly conversation: Conversation;
  /** The ids of its stored messages. */
  readonly stored: Set<string>;
  /** The most tokens of its window; 0 for no limit. */
  window: number;
}

export interface Compaction {
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly summary: string;
}

/** How a message is shown that did not change. */
const UNCHANGED = ["whole", "instruction", "pinned"];
/** The most sessions whose ids are kept. */
const SESSIONS = 64;
/** A focus area has at most 256 bytes. */
const FOCUS_CHARACTERS = 60;

export class Mirror {
  private readonly sessions = new Map<string, Session>();
  private readonly memory: Client;
  private readonly summaryTokens: number;

  constructor(memory: Client, summaryTokens: number) {
    this.memory = memory;
    this.summaryTokens = summaryTokens;
  }

  /** The conversation with a session's messages. */
  async session(address: Address): Promise<Session> {
    const known = this.sessions.get(address.sessionId);
    return known ?? this.keep(address, await this.find(address));
  }

  /**
   * The conversation that these messages go on. OpenClaw keeps the id of a session that is reset; what was said before
   * then is neither among the messages nor in a summary of OpenClaw's, and stays in a conversation of its own.
   */
  async continued(address: Address, messages: readonly Named[]): Promise<Session> {
    const session = await this.session(address);
    const goesOn = ({ id, message }: Named) => message.role === "compactionSummary" || session.stored.has(id);
    if (session.stored.size === 0 || messages.some(goesOn)) return session;
    return this.keep(address, await this.start(address, `${session.conversation.id}+`));
  }

  /** Stores the messages that are not stored yet, all or none. Returns whether there were any. */
  async store(address: Address, session: Session, messages: readonly Named[], requestId?: string): Promise<boolean> {
    const fresh = messages.filter(({ id }) => !session.stored.has(id));
    if (fresh.length === 0) return false;
    const ids = fresh.map(({ id }) => id);
    try {
      const how = { ids, requestId, format: "openai", lenient: true } as const;
      const { replayed } = await session.conversation.add(
        fresh.map(({ chat }) => chat),
        how,
      );
      ids.forEach((id) => session.stored.add(id));
      return !replayed;
    } catch (error) {
      // Another process has stored some of them.
      this.sessions.delete(address.sessionId);
      if (!(error instanceof ExistsError)) throw error;
      const again = await this.session(address);
      if (!ids.some((id) => again.stored.has(id))) throw error;
      return this.store(address, again, messages, requestId);
    }
  }

  /** The messages for the model, and how many tokens they have: a summary, and those that it does not cover. */
  async fitted(session: Session, messages: readonly Named[], budget: number): Promise<[HostMessage[], number]> {
    const context = await this.context(session, budget);
    const shown = shownOf(context, session, messages);
    const beside = Math.ceil(shown.reduce((sum, message) => sum + tokensBesideText(message), 0));
    if (context.tokens + beside <= budget) return [shown, context.tokens + beside];
    const fewer = await this.context(session, Math.max(budget - beside, Math.ceil(budget / 4)));
    return [shownOf(fewer, session, messages), fewer.tokens + beside];
  }

  /**
   * Folds older messages into the summary. With `force`, also if there are few: then half of what there is.
   * `PreconditionError` if there is nothing to fold.
   */
  async compact({ conversation, window }: Session, focus: string | undefined, force: boolean): Promise<Compaction> {
    try {
      return await conversation.compact({ focus: focus ? [focus.slice(0, FOCUS_CHARACTERS)] : [] });
    } catch (error) {
      if (!force || !(error instanceof PreconditionError)) throw error;
      const before = await conversation.capacity();
      await conversation.update({ policy: this.policy(Math.ceil(before.tokens / 2)) });
      await conversation.update({ policy: this.policy(window) });
      const after = await conversation.capacity();
      if (after.utterances === before.utterances) throw error;
      const { text: summary } = await conversation.summary();
      return { tokensBefore: before.totalTokens, tokensAfter: after.totalTokens, summary };
    }
  }

  /** What the server would send. What it leaves out is in its summary. */
  private async context(session: Session, budget: number): Promise<Context<ChatMessage>> {
    const build = () => session.conversation.context<ChatMessage>({ budget, summary: "user", archive: false });
    const { maxTokens = 0 } = budgetPolicy(budget);
    if (session.window === 0 || maxTokens > (session.window * 4) / 3) await this.resize(session, maxTokens);
    const context = await build();
    if (context.uncovered === 0 || maxTokens >= session.window) return context;
    await this.resize(session, maxTokens);
    return build();
  }

  private async resize(session: Session, window: number): Promise<void> {
    await session.conversation.update({ policy: this.policy(window) });
    session.window = window;
  }

  /** Everything stays stored. The summary has at most a sixth of the window. */
  private policy(window: number): Policy {
    const summaryTokenLimit = window === 0 ? this.summaryTokens : Math.min(this.summaryTokens, Math.ceil(window / 6));
    return { ...budgetPolicy(0), maxTokens: window, summaryTokenLimit };
  }

  private keep({ sessionId }: Address, session: Session): Session {
    this.sessions.delete(sessionId);
    this.sessions.set(sessionId, session);
    const [oldest = sessionId] = this.sessions.keys();
    if (this.sessions.size > SESSIONS) this.sessions.delete(oldest);
    return session;
  }

  /** The newest conversation of a session, or a new one. */
  private async find(address: Address): Promise<Session> {
    const [recipient, prefix] = [recipientOf(address), fit(address.sessionId)];
    const [record] = await this.memory.conversations({ recipient, prefix, limit: 1 });
    if (record === undefined) return this.start(address, prefix);
    const conversation = this.memory.conversation({ id: record.conversationId, recipient });
    const { messages } = await conversation.stored();
    const stored = new Set(messages.map(({ utteranceId }) => utteranceId));
    return { conversation, stored, window: record.policy.maxTokens ?? 0 };
  }

  private async start(address: Address, id: string): Promise<Session> {
    const recipient = recipientOf(address);
    const conversation = await this.memory.create({ id, recipient, policy: this.policy(0), existOk: true });
    return { conversation, stored: new Set(), window: 0 };
  }
}

const recipientOf = ({ sessionId, sessionKey = sessionId }: Address): string => fit(sessionKey);

/**
 * The messages of a context, as OpenClaw has them where it has them, and in its order. Of a long session, OpenClaw reads the
 * newest messages only; older ones come from the context. What OpenClaw leaves out later on stays out, and what is not
 * stored stays in. Any other message that the context does not show is in its summary.
 */
function shownOf(context: Context<ChatMessage>, { stored }: Session, messages: readonly Named[]): HostMessage[] {
  const places = new Map(context.rendered.map((it) => [it.utteranceId, it]));
  const read = messages.flatMap(({ id }) => places.get(id)?.message ?? []);
  // If OpenClaw has none of them any more, only the summary is left.
  const end = read.length > 0 ? Math.min(...read) : (context.rendered[0]?.message ?? context.length);
  const tools = new Map(context.flatMap((it) => it.tool_calls ?? []).map((call) => [call.id, call.function.name]));
  const shown = messages.flatMap(({ id, message }) => {
    const place = places.get(id);
    if (place === undefined) return stored.has(id) ? [] : [message];
    return [UNCHANGED.includes(place.as) ? message : shortened(message, context[place.message!]!.content)];
  });
  const idOf = (index: number) => context.rendered.find((it) => it.message! >= index)?.utteranceId ?? "";
  return [...context.slice(0, end).map((it, index) => made(it, idOf(index), tools)), ...shown];
}
