/** How calls are made: request ids, deadlines and retries. */
import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import { setTimeout as pause } from "node:timers/promises";

import { type CallOptions as TransportOptions, type Client, createClient } from "@connectrpc/connect";

import { CompactionService } from "./_proto/utterd/v1/compaction_service_pb.js";
import { ContextService } from "./_proto/utterd/v1/context_service_pb.js";
import { ConversationService } from "./_proto/utterd/v1/conversation_service_pb.js";
import { MemoryService } from "./_proto/utterd/v1/memory_service_pb.js";
import type { Endpoint } from "./endpoint.js";
import type { ServerError } from "./errors.js";
import { failureOf, isDistrust, type Told } from "./failures.js";
import type { CallOptions, ChangeOptions } from "./model.js";
import { wide } from "./read.js";
import { whole } from "./text.js";

/** Milliseconds for which a call without a timeout of its own is retried, from its first failure in a row. */
const PATIENCE = 30_000;
/** Milliseconds for which a server is looked for that was never there: it may never have been started. */
const SEARCH = 2_500;
/** Milliseconds before the second attempt, at most; each further pause can be twice as long. */
const FIRST_PAUSE = 100;
/** Milliseconds of the longest pause: a server that is back is found soon. */
const LONGEST_PAUSE = 1_000;

type Unary<Q, R> = (request: Q, options?: TransportOptions) => Promise<R>;
type Streaming<Q, R> = (request: Q, options?: TransportOptions) => AsyncIterable<R>;

/** The parts of a request that decide whether it is retried. */
interface Attempted {
  readonly requestId?: string;
  readonly expectedRevision?: bigint;
}

/** The id of an attempt: the caller's, or a new one. */
export function attempt(given?: string): string {
  return given || randomUUID();
}

/** What every change sends. */
export function changing({ expectedRevision, requestId }: ChangeOptions) {
  return { expectedRevision: wide("expectedRevision", expectedRevision), requestId: attempt(requestId) };
}

/** The services of a server. */
export class Calls {
  readonly memory: Client<typeof MemoryService>;
  readonly conversations: Client<typeof ConversationService>;
  readonly contexts: Client<typeof ContextService>;
  readonly compactions: Client<typeof CompactionService>;
  private readonly closing = new AbortController();
  /** Whether it was ever connected. From then on, the server may be restarting, and calls wait for it. */
  private reached = false;

  constructor(
    private readonly endpoint: Endpoint,
    /** Milliseconds that a call may take with all its attempts; null for no limit. */
    private readonly timeout: number | null,
  ) {
    // Each call that waits to be repeated listens.
    setMaxListeners(0, this.closing.signal);
    const { transport } = endpoint;
    this.memory = createClient(MemoryService, transport);
    this.conversations = createClient(ConversationService, transport);
    this.contexts = createClient(ContextService, transport);
    this.compactions = createClient(CompactionService, transport);
  }

  /** Ends the retries. */
  close(): void {
    this.closing.abort();
  }

  /**
   * Makes a call, which can be repeated without effect: it reads, or has a request id, or removes. `told` is what an
   * error says in place of what was sent.
   */
  async make<Q extends object, R>(
    method: Unary<Q, R>,
    request: Q,
    options: CallOptions = {},
    told: Told = request as Attempted,
  ): Promise<R> {
    const timeout = options.timeout === undefined ? this.timeout : options.timeout;
    const attempts = this.attempts(request, timeout, options.signal, told);
    const sent = whole(request);
    for (;;) {
      try {
        options.signal?.throwIfAborted();
        await this.reach(attempts.timeLeft(), options.signal);
        return await method(sent, { timeoutMs: attempts.timeLeft(), signal: options.signal });
      } catch (failure) {
        await attempts.pauseAfter(failure);
      }
    }
  }

  /** The responses of a stream, which is reopened if the connection is lost. */
  async *stream<Q extends object, R>(method: Streaming<Q, R>, request: Q, signal?: AbortSignal): AsyncGenerator<R> {
    let attempts = this.attempts(request, null, signal);
    for (;;) {
      const end = new AbortController();
      const either = signal === undefined ? end.signal : AbortSignal.any([signal, end.signal]);
      try {
        signal?.throwIfAborted();
        await this.reach(undefined, signal);
        for await (const response of method(whole(request), { signal: either })) {
          attempts = this.attempts(request, null, signal);
          yield response;
        }
        return;
      } catch (failure) {
        await attempts.pauseAfter(failure);
      } finally {
        end.abort();
      }
    }
  }

  private attempts(request: Attempted, timeout: number | null, signal: AbortSignal | undefined, told?: Told): Attempts {
    return new Attempts(request, timeout, signal, this.closing.signal, () => this.reached, told);
  }

  /** Connects for the first time; throws the error if that fails, or takes too long. */
  private async reach(timeLeft = SEARCH, signal: AbortSignal | undefined): Promise<void> {
    if (this.reached) return;
    const done = new AbortController();
    const either = signal === undefined ? done.signal : AbortSignal.any([signal, done.signal]);
    const late = pause(Math.min(SEARCH, timeLeft), timedOut(this.endpoint.address), { signal: either });
    try {
      const error = await Promise.race([this.endpoint.connect(), late]);
      if (error !== undefined) throw error;
      this.reached = true;
    } finally {
      done.abort();
    }
  }
}

/** The error for a connection that is not made in time. */
function timedOut(address: string): Error {
  return Object.assign(new Error(`connect ETIMEDOUT ${address}`), { code: "ETIMEDOUT" });
}

/** The attempts of one call: decides after each failure whether to retry. The deadline bounds them, not their number. */
class Attempts {
  private readonly begun = performance.now();
  private readonly deadline: number | undefined;
  private made = 0;
  private until: number | undefined;

  constructor(
    private readonly request: Attempted,
    timeout: number | null,
    private readonly signal: AbortSignal | undefined,
    private readonly closing: AbortSignal,
    private readonly reached: () => boolean,
    private readonly told: Told = request,
  ) {
    this.deadline = timeout === null ? undefined : this.begun + timeout;
  }

  /** Milliseconds that the next attempt may take. */
  timeLeft(): number | undefined {
    return this.deadline === undefined ? undefined : Math.max(Math.ceil(this.deadline - performance.now()), 1);
  }

  /** Waits until the next attempt; throws the failure's error if there is none. */
  async pauseAfter(thrown: unknown): Promise<void> {
    this.signal?.throwIfAborted();
    this.made += 1;
    const error = failureOf(thrown, this.told);
    const wait = Math.random() * Math.min(FIRST_PAUSE * 2 ** (this.made - 1), LONGEST_PAUSE) + (error.retryAfter ?? 0);
    this.until ??= this.deadline ?? performance.now() + PATIENCE;
    const until = this.reached() ? this.until : Math.min(this.until, this.begun + SEARCH);
    const late = performance.now() + wait >= until;
    if (late || this.closing.aborted || !this.mayPass(error)) throw error;
    const either = this.signal === undefined ? this.closing : AbortSignal.any([this.signal, this.closing]);
    await pause(wait, undefined, { signal: either }).catch(() => {
      this.signal?.throwIfAborted();
      throw error;
    });
  }

  private mayPass(error: ServerError): boolean {
    if (error.code === "UNAVAILABLE") return !isDistrust(error);
    // A caller that pinned a revision, or versions of the state, must look at the current state first.
    if (error.code === "ABORTED") return error.reason !== "STALE_STATE" && this.request.expectedRevision === undefined;
    // Rejected before it was processed, with the time to try again.
    return error.code === "RESOURCE_EXHAUSTED" && error.retryAfter !== undefined;
  }
}
