/** A context engine for OpenClaw: it stores sessions in utterd, and gives the model a summary by utterd and the newest messages. */
import { delegateCompactionToRuntime } from "openclaw/plugin-sdk/core";
import { definePluginEntry, type OpenClawPluginApi } from "openclaw/plugin-sdk/plugin-entry";
import { isIncognitoSessionKey } from "openclaw/plugin-sdk/routing";
import { connect, PreconditionError } from "utterd";

import { type Engine, type HostMessage, isMade, named } from "./messages.ts";
import { type Address, Mirror } from "./mirror.ts";

type Parameter<Method extends keyof Engine> = Parameters<Extract<Engine[Method], (...args: never[]) => unknown>>[0];

/** The most tokens of a summary, unless the configuration says otherwise. */
const SUMMARY_TOKENS = 2_000;
/** Milliseconds that a call may take, so that an answer does not wait long for a server that is away. */
const TIMEOUT = 10_000;
/** How much of a budget is used: the tokenizers of other models make up to a fifth more tokens than OpenAI's. */
const SHARE = 0.8;

interface Config {
  readonly server?: string;
  readonly summaryTokens?: number;
}

export default definePluginEntry({
  id: "utterd",
  name: "utterd",
  description:
    "Stores sessions in utterd, and gives the model a summary made without a model, with the newest messages",
  register(api) {
    const { server, summaryTokens = SUMMARY_TOKENS } = (api.pluginConfig ?? {}) as Config;
    let mirror: Mirror | undefined;
    api.registerContextEngine("utterd", () => {
      mirror ??= new Mirror(connect(server, { timeout: TIMEOUT }), summaryTokens);
      return new UtterdEngine(mirror, api.logger);
    });
  },
});

/** OpenClaw makes one for each turn. */
class UtterdEngine implements Engine {
  readonly info = {
    id: "utterd",
    name: "utterd",
    ownsCompaction: true,
    transcriptSemantics: {
      currentTurnFence: "before-current-turn-entry-v1",
      turnAdvancementIdempotency: "atomic-idempotent-v1",
    },
  } as const;

  private readonly mirror: Mirror;
  private readonly logger: OpenClawPluginApi["logger"];
  /** The budgets of the first request of a turn, and of the second. */
  private budgets: { readonly first: number; second?: number } | undefined;

  constructor(mirror: Mirror, logger: OpenClawPluginApi["logger"]) {
    this.mirror = mirror;
    this.logger = logger;
  }

  async bootstrap() {
    this.budgets = undefined;
    return { bootstrapped: true };
  }

  async assemble({ messages, tokenBudget, ...address }: Parameter<"assemble">) {
    if (tokenBudget === undefined || isIncognitoSessionKey(address.sessionKey)) return { messages, estimatedTokens: 0 };
    const all = named(messages);
    const further = messages.some(isMade);
    const session = further ? await this.mirror.session(address) : await this.mirror.continued(address, all);
    await this.mirror.store(address, session, all);
    const [shown, estimatedTokens] = await this.mirror.fitted(session, all, this.budgetOf(tokenBudget));
    return { messages: shown, estimatedTokens };
  }

  /**
   * The budget of the first request of a turn leaves room for the instructions and the answer. Later ones do not: they are
   * only smaller by what the turn has added.
   */
  private budgetOf(tokenBudget: number): number {
    if (this.budgets === undefined) {
      this.budgets = { first: tokenBudget };
      return Math.ceil(tokenBudget * SHARE);
    }
    this.budgets.second ??= tokenBudget;
    const { first, second } = this.budgets;
    return Math.ceil(Math.max(first - Math.max(second - tokenBudget, 0), first / 4) * SHARE);
  }

  async commitTurn({ advancementKey, messages, isHeartbeat, ...address }: Parameter<"commitTurn">) {
    const fresh = await this.keep(address, messages, 0, isHeartbeat, advancementKey);
    return { status: fresh ? ("committed" as const) : ("duplicate" as const) };
  }

  async afterTurn({ messages, prePromptMessageCount, isHeartbeat, ...address }: Parameter<"afterTurn">) {
    await this.keep(address, messages, prePromptMessageCount, isHeartbeat);
  }

  async ingest({ message, isHeartbeat, ...address }: Parameter<"ingest">) {
    return { ingested: await this.keep(address, [message], 0, isHeartbeat) };
  }

  /** Stores messages, from a place on. OpenClaw may take a heartbeat out of its history: what stays comes with `assemble`. */
  private async keep(
    address: Address,
    messages: readonly HostMessage[],
    from: number,
    isHeartbeat: boolean | undefined,
    requestId?: string,
  ): Promise<boolean> {
    if (isHeartbeat || isIncognitoSessionKey(address.sessionKey)) return false;
    const added = new Set(messages.slice(from));
    const fresh = named(messages).filter(({ message }) => added.has(message));
    return this.mirror.store(address, await this.mirror.session(address), fresh, requestId);
  }

  async compact(params: Parameter<"compact">) {
    this.budgets = undefined;
    if (isIncognitoSessionKey(params.sessionKey)) return delegateCompactionToRuntime(params);
    try {
      const session = await this.mirror.session(params);
      const force = params.compactionTarget !== "threshold";
      const result = await this.mirror.compact(session, params.customInstructions, force);
      return { ok: true, compacted: result.tokensAfter < result.tokensBefore, result };
    } catch (error) {
      if (error instanceof PreconditionError) return { ok: true, compacted: false, reason: error.message };
      const told = error instanceof Error ? error.message : String(error);
      this.logger.warn(`utterd: ${told}. OpenClaw compacts with the model.`);
      return delegateCompactionToRuntime(params);
    }
  }
}
