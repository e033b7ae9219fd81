/** A conversation of a server, and all operations on one. */
import { ListOrder } from "./_proto/utterd/v1/conversation_service_pb.js";
import { ForgetMode, SummarizeScope } from "./_proto/utterd/v1/memory_service_pb.js";
import { attempt, type Calls, changing } from "./calls.js";
import { type ContextOptions, contextOf, contextRequest, SCOPES } from "./contexts.js";
import { errorOf, orNone } from "./errors.js";
import { collect } from "./lists.js";
import { memorize } from "./memorize.js";
import type {
  Added,
  CallOptions,
  Capacity,
  ChangeOptions,
  Compacted,
  Context,
  ConversationRecord,
  Forgotten,
  Format,
  Match,
  Messages,
  Policy,
  Restored,
  StateChange,
  StateValue,
  Stored,
  StoredMessage,
  Summary,
  Utterance,
} from "./model.js";
import type {
  AddOptions,
  CompactOptions,
  EndOptions,
  ConversationAddress,
  ForgetOptions,
  ForkOptions,
  ListOptions,
  RememberOptions,
  SummarizeOptions,
} from "./options.js";
import * as read from "./read.js";
import { filterOf, rolesOf, selectorOf } from "./selections.js";
import { changeState, readState } from "./state.js";

/** The largest possible sequence. */
const LAST = 2n ** 63n - 1n;
const PARTS = {
  all: SummarizeScope.ALL,
  recent: SummarizeScope.RECENT,
  evicted: SummarizeScope.EVICTED,
  turns: SummarizeScope.TURNS,
} as const;

/** A conversation of a server. It holds only an address; several objects can refer to the same conversation. */
export class Conversation {
  /** Its id; undefined for a recipient's active one. */
  readonly id: string | undefined;
  /** Its recipient, if one was given. */
  readonly recipient: string | undefined;
  private readonly at: { readonly conversationId?: string; readonly recipientId?: string };

  /** @internal */
  constructor(
    private readonly calls: Calls,
    { id, recipient }: ConversationAddress,
  ) {
    this.id = id || undefined;
    this.recipient = recipient || undefined;
    this.at = { conversationId: this.id, recipientId: this.recipient };
  }

  /**
   * Stores one message or several; starts the conversation if necessary. A message is an object in the format of
   * OpenAI's chat, OpenAI's Responses or Anthropic; unknown fields are kept and returned.
   *
   * What fits into one call, 1,000 utterances and 4 million characters, is stored whole or not at all. More goes in
   * several calls, one after the other, and changes of state with the first. If a later call fails, repeat the whole
   * with the error's `requestId`: what is stored already is not stored twice.
   */
  async add(messages: Messages, options: AddOptions = {}): Promise<Added> {
    return memorize(this.calls, this.change(options), messages, undefined, options);
  }

  /**
   * Removes everything after a sequence, 0 for everything stored, and stores messages instead, in one commit. The
   * removal is final, and includes the summary.
   */
  async replaceAfter(
    sequence: number,
    messages: Messages = [],
    options: Omit<AddOptions, "upsert"> = {},
  ): Promise<Added> {
    return memorize(this.calls, this.change(options), messages, sequence, options);
  }

  /** The stored messages, in the window and the archive, as they were given. */
  async messages<M = any>(options: ListOptions = {}): Promise<M[]> {
    return (await this.stored<M>(options)).messages.map((it) => it.message);
  }

  /** The stored messages with facts about each, and the revision at which they were read. */
  async stored<M = any>(options: ListOptions = {}): Promise<Stored<M>> {
    const request = {
      ...this.at,
      format: read.chosen("format", options.format, read.FORMATS),
      last: options.last,
      afterSequence: read.wide("after", options.after),
      beforeSequence: read.wide("before", options.before),
      utteranceIds: [...(options.ids ?? [])],
      roles: rolesOf(options.roles),
      order: options.newestFirst ? ListOrder.NEWEST_FIRST : ListOrder.OLDEST_FIRST,
      skip: options.offset,
    };
    // From the first page: pinning this revision reveals a change between two pages.
    let first: { conversationId: string; revision: bigint } | undefined;
    const messages = await collect(
      options.limit ?? Infinity,
      (place) => this.calls.make(this.calls.conversations.listMessages, { ...request, ...place }, options),
      (page) => {
        first ??= page;
        return page.messages.map(read.message) as StoredMessage<M>[];
      },
    );
    return { conversationId: first?.conversationId ?? "", revision: Number(first?.revision ?? 0), messages };
  }

  /**
   * Removes the newest message for good, and returns it; undefined if nothing is stored. This is a single call, so that
   * no two callers get the same message. If the connection is lost during the call, and a retry finds that it had taken
   * effect, this throws `UnavailableError`: the message is lost, because outcomes keep no text.
   */
  async pop<M = any>(options: CallOptions & { readonly format?: Format } = {}): Promise<M | undefined> {
    const { format, ...call } = options;
    const wanted = { ...call, format, newest: 1, hard: true, exact: true, returnMessages: true, requestId: attempt() };
    const it = await orNone(this.forget(wanted));
    if (it?.replayed && it.forgotten.length > 0) {
      const failure = { code: "UNAVAILABLE", reason: "", fields: [], metadata: {}, retryAfter: undefined, stored: 0 };
      const text = "the newest message was removed, but the connection was lost before it was received";
      throw errorOf(text, { ...failure, requestId: wanted.requestId });
    }
    return it?.messages.at(-1)?.message as M | undefined;
  }

  /**
   * Removes everything that was said, for good, from the summary too. The conversation stays, with its title, labels
   * and limits. If it does not exist, this does nothing.
   */
  async clear(options: ChangeOptions = {}): Promise<void> {
    const request = {
      ...this.change(options),
      // The word `all` would keep the instructions at the head.
      selector: { sequences: [{ first: 1n, last: LAST }] },
      mode: ForgetMode.HARD,
      exact: true,
    };
    await orNone(this.calls.make(this.calls.memory.forget, request, options));
  }

  /**
   * Builds what goes to the model, in at most `budget` tokens: instructions, summary, pinned and recent messages.
   * Never contains a tool result without its call, or a call without its results.
   */
  async context<M = any>(options: ContextOptions = {}): Promise<Context<M>> {
    const request = { ...this.at, ...contextRequest(options) };
    return contextOf<M>(await this.calls.make(this.calls.contexts.buildContext, request, options));
  }

  /** Finds utterances by a prompt, the best first; without a prompt, the newest that pass the filters. */
  async remember(prompt = "", options: RememberOptions = {}): Promise<Match[]> {
    const request = {
      ...this.at,
      prompt,
      filter: filterOf(options),
      scope: read.chosen("scope", options.scope, SCOPES),
      neighbors: options.neighbors,
      minRelevance: options.minRelevance,
    };
    return collect(
      options.limit ?? 10,
      (place) => this.calls.make(this.calls.memory.remember, { ...request, ...place }, options),
      (page) =>
        page.matches.map((it) => ({
          utterance: read.utterance(it.utterance!),
          conversationId: it.conversationId,
          score: it.score ?? 0,
          relevance: it.relevance ?? 0,
          terms: it.matchedTerms,
          neighbors: it.neighbors.map(read.utterance),
        })),
    );
  }

  /** Forgets what instructions such as `last:3` or "what I said yesterday" select, or what is named. */
  async forget(what: string | ForgetOptions, options: ForgetOptions = {}): Promise<Forgotten> {
    const how = typeof what === "string" ? options : what;
    const request = {
      ...this.change(how),
      instructions: typeof what === "string" ? what : "",
      selector: selectorOf(how),
      mode: how.hard ? ForgetMode.HARD : ForgetMode.SOFT,
      exact: how.exact,
      dryRun: how.dryRun,
      returnMessages: how.returnMessages,
      format: read.chosen("format", how.format, read.FORMATS),
    };
    const it = await this.calls.make(this.calls.memory.forget, request, how);
    return {
      conversationId: it.conversationId,
      revision: Number(it.revision),
      forgotten: read.references(it.forgotten),
      messages: it.messages.map(read.message),
      capacity: read.capacity(it.capacity),
      understoodAs: it.understoodAs,
      replayed: it.replayed,
      warnings: read.warnings(it.warnings),
    };
  }

  /** Brings back softly forgotten utterances: 1 to 1,000 by their ids, each with its exchange. */
  async restore(ids: readonly string[], options: ChangeOptions = {}): Promise<Restored> {
    const request = { ...this.change(options), utteranceIds: [...ids] };
    const it = await this.calls.make(this.calls.memory.restore, request, options);
    return {
      conversationId: it.conversationId,
      revision: Number(it.revision),
      restored: read.references(it.restored),
      evicted: read.references(it.evicted),
      capacity: read.capacity(it.capacity),
      replayed: it.replayed,
    };
  }

  /** Summarises the conversation, or a part of it. Stores nothing. */
  async summarize(options: SummarizeOptions = {}): Promise<Summary> {
    const request = {
      ...this.at,
      scope: read.chosen("part", options.part ?? "all", PARTS),
      recentCount: options.recent,
      firstTurn: options.turns?.first,
      lastTurn: options.turns?.last,
      tokenLimit: options.tokens,
      focusAreas: [...(options.focus ?? [])],
      waitForLlm: options.waitForModel,
    };
    const it = await this.calls.make(this.calls.memory.summarize, request, options);
    const warnings = [...read.warnings(it.warnings), it.llmError].filter(Boolean);
    return { ...read.summary(it), model: it.model, warnings };
  }

  /** The stored summary of what left the window. */
  async summary(options: CallOptions = {}): Promise<Summary> {
    const it = await this.calls.make(this.calls.conversations.getSummary, this.at, options);
    const models = new Set(it.segments.map(({ model }) => model).filter(Boolean));
    return { ...read.summary(it), model: [...models].sort().join(", "), warnings: [] };
  }

  /** How full the window is. */
  async capacity(options: CallOptions = {}): Promise<Capacity> {
    return read.capacity((await this.calls.make(this.calls.memory.getCapacityInfo, this.at, options)).capacity);
  }

  /** How full the window is: now, and after each change, until the caller leaves the loop or the signal ends it. */
  async *watch(options: { readonly signal?: AbortSignal } = {}): AsyncGenerator<Capacity, void> {
    for await (const response of this.calls.stream(this.calls.memory.watchCapacity, this.at, options.signal)) {
      yield read.capacity(response.capacity);
    }
  }

  /** Changes an utterance's content, pin or metadata, in place; anything not given stays. */
  async edit(
    utteranceId: string,
    what: {
      readonly content?: string;
      readonly pinned?: boolean;
      readonly metadata?: Readonly<Record<string, string>>;
    },
    options: ChangeOptions = {},
  ): Promise<Utterance> {
    const { content, pinned, metadata } = what;
    const paths = given({ content, pinned, metadata });
    const request = { ...this.change(options), utteranceId, content, pinned, metadata, updateMask: { paths } };
    const it = await this.calls.make(this.calls.conversations.updateUtterance, request, options);
    return read.utterance(it.utterance!);
  }

  /**
   * Folds all but the last `keepRecent` utterances of the window into the summary, or the `count` oldest.
   * `PreconditionError` if the window has fewer than 30, or would not become smaller.
   */
  async compact(options: CompactOptions = {}): Promise<Compacted> {
    const request = {
      ...this.change(options),
      keepRecent: options.keepRecent,
      count: options.count,
      noSummary: options.summarize === false,
      focusAreas: [...(options.focus ?? [])],
      preview: options.preview,
      waitForLlm: options.waitForModel,
    };
    const it = await this.calls.make(this.calls.compactions.compactConversation, request, options);
    return { ...read.compacted(it), summary: it.summary };
  }

  /** Undoes the last compaction that is not undone yet: its utterances return to the window. */
  async undoCompaction(options: ChangeOptions = {}): Promise<Compacted> {
    const request = this.change(options);
    return read.compacted(await this.calls.make(this.calls.compactions.undoCompaction, request, options));
  }

  /**
   * The conversation's values, by name: those with these names, or all, read at one moment. A name that does not exist
   * is left out.
   */
  async state<V = any>(
    names: string | readonly string[] = [],
    options: CallOptions = {},
  ): Promise<Record<string, StateValue<V>>> {
    return readState(this.calls, this.at, names, options);
  }

  /**
   * Sets and deletes values of the conversation, all or none. It must exist; `add` with a `state` starts one. Returns
   * its revision after the change, which is the version of each value that was set.
   */
  async updateState(change: StateChange, options: ChangeOptions = {}): Promise<number> {
    return changeState(this.calls, this.at, change, options);
  }

  /** What the server records about the conversation; `NotFoundError` if there is none. */
  async record(options: CallOptions = {}): Promise<ConversationRecord> {
    const it = await this.calls.make(this.calls.conversations.getConversation, this.at, options);
    return read.conversation(it.conversation);
  }

  /** Changes the title, the limits or the labels; anything not given stays. A smaller limit evicts immediately. */
  async update(
    what: { readonly title?: string; readonly policy?: Policy; readonly labels?: Readonly<Record<string, string>> },
    options: ChangeOptions = {},
  ): Promise<ConversationRecord> {
    const { title, labels } = what;
    const policy = read.policyOf(what.policy);
    const paths = given({ title, policy, labels });
    const request = { ...this.change(options), title, policy, labels, updateMask: { paths } };
    const it = await this.calls.make(this.calls.conversations.updateConversation, request, options);
    return read.conversation(it.conversation);
  }

  /** Ends the conversation: it gets a title and a closing summary, and accepts no more messages. */
  async end(reason = "", options: EndOptions = {}): Promise<ConversationRecord> {
    const request = { ...this.change(options), reason, waitForLlm: options.waitForModel };
    const it = await this.calls.make(this.calls.conversations.endConversation, request, options);
    return read.conversation(it.conversation);
  }

  /**
   * Starts another conversation with what was said in this one. Nothing is copied, and neither sees what is said in the
   * other from then on.
   */
  async fork(options: ForkOptions = {}): Promise<Conversation> {
    const request = {
      ...this.change(options),
      atSequence: read.wide("after", options.after),
      newConversationId: options.id,
      toRecipientId: options.recipient,
      title: options.title,
    };
    const it = await this.calls.make(this.calls.conversations.forkConversation, request, options);
    return new Conversation(this.calls, { id: it.conversation?.conversationId, recipient: options.recipient });
  }

  /** Removes the conversation and everything in it. Returns whether there was one. */
  async delete(options: CallOptions = {}): Promise<boolean> {
    const conversationId = this.id ?? (await orNone(this.record(options)))?.conversationId;
    if (conversationId === undefined) return false;
    const removed = this.calls.make(this.calls.conversations.deleteConversation, { conversationId }, options);
    return (await orNone(removed)) !== undefined;
  }

  /** What every change sends. */
  private change(options: ChangeOptions) {
    return { ...this.at, ...changing(options) };
  }
}

/** The names of the fields that are given. */
function given(fields: object): string[] {
  return Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [name]));
}
