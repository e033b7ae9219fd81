/** The client: a connection to a server, and what is asked of it that is not of one conversation. */
import { ConversationOrder } from "./_proto/utterd/v1/conversation_service_pb.js";
import { attempt, Calls } from "./calls.js";
import { type PrepareOptions, prepareRequest, preparedOf } from "./contexts.js";
import { Conversation } from "./conversation.js";
import { type Endpoint, endpoint, type EndpointOptions } from "./endpoint.js";
import { ExistsError } from "./errors.js";
import type { CallOptions, ConversationRecord, Messages, Policy, Prepared, Status, Tokens } from "./model.js";
import { collect } from "./lists.js";
import type { ConversationAddress } from "./options.js";
import * as read from "./read.js";
import { Recipient } from "./recipient.js";

const TIMEOUT = 30_000;
const ORDERS = {
  newest_start: ConversationOrder.NEWEST_START,
  oldest_start: ConversationOrder.OLDEST_START,
  newest_update: ConversationOrder.NEWEST_UPDATE,
  oldest_update: ConversationOrder.OLDEST_UPDATE,
} as const;

/** How a client connects. */
export interface ConnectOptions extends EndpointOptions {
  /** Milliseconds that a call may take with all its attempts; 30,000 by default, null for any number. */
  readonly timeout?: number | null;
}

/** What a conversation is made with. */
export interface CreateOptions extends CallOptions {
  readonly id?: string;
  readonly recipient?: string;
  readonly title?: string;
  readonly policy?: Policy;
  readonly labels?: Readonly<Record<string, string>>;
  /** What its tokens are counted in: an encoding, or the name of an OpenAI model. */
  readonly encoding?: string;
  /** An id that is taken is no error. */
  readonly existOk?: boolean;
}

/** Which conversations are listed. */
export interface ConversationsOptions extends CallOptions {
  readonly recipient?: string;
  readonly allRecipients?: boolean;
  /** Only those whose id begins so. */
  readonly prefix?: string;
  /** Only those that are doing this. */
  readonly status?: Status;
  /** `newest_start` by default. */
  readonly order?: "newest_start" | "oldest_start" | "newest_update" | "oldest_update";
  /** The most of them; all by default. */
  readonly limit?: number;
}

/**
 * A client of the server at an address: `HOST:PORT`, `https://…` or `unix:PATH`; by default what the variable
 * `UTTERD_SERVER` says, or else `127.0.0.1:50051`. It connects with its first call.
 */
export function connect(address?: string, options: ConnectOptions = {}): Client {
  return new Client(endpoint(address, options), options.timeout);
}

/** What ends with a client. */
export interface Owned {
  close(): Promise<void>;
}

/** A connection to a server. */
export class Client {
  private readonly calls: Calls;

  /** @internal */
  constructor(
    private readonly endpoint: Endpoint,
    timeout: number | null = TIMEOUT,
    private readonly owned?: Owned,
  ) {
    this.calls = new Calls(endpoint.transport, timeout);
  }

  /** Where the server is. */
  get address(): string {
    return this.endpoint.address;
  }

  /**
   * A conversation: that with an id, or a recipient's active one; by default that of the recipient `default`.
   * Nothing is called: a conversation starts with the first message that is added.
   */
  conversation(which: string | ConversationAddress = {}): Conversation {
    return new Conversation(this.calls, typeof which === "string" ? { id: which } : which);
  }

  /** A recipient, with values of its own. Nothing is called. */
  recipient(id = "default"): Recipient {
    return new Recipient(this.calls, id);
  }

  /** Makes a conversation with limits of its own; `ExistsError` when the id is taken, unless `existOk`. */
  async create(options: CreateOptions = {}): Promise<Conversation> {
    const { id, recipient, title, policy, labels, encoding } = options;
    const request = {
      conversationId: id,
      recipientId: recipient,
      title,
      policy: read.policyOf(policy),
      labels,
      encoding,
      requestId: attempt(),
    };
    try {
      const made = await this.calls.make(this.calls.conversations.createConversation, request, options);
      return new Conversation(this.calls, { id: made.conversation?.conversationId, recipient });
    } catch (error) {
      if (!options.existOk || !(error instanceof ExistsError)) throw error;
      return new Conversation(this.calls, { id, recipient });
    }
  }

  /** A recipient's conversations, or those of all recipients, in an order and at most `limit`. */
  async conversations(options: ConversationsOptions = {}): Promise<ConversationRecord[]> {
    const { recipient, allRecipients, prefix, status, order = "newest_start", limit = Infinity } = options;
    const request = {
      recipientId: recipient,
      allRecipients,
      conversationIdPrefix: prefix,
      order: read.chosen("order", order, ORDERS),
      status: read.chosen("status", status, read.STATUSES),
    };
    const list = this.calls.conversations.listConversations;
    return collect(
      limit,
      (place) => this.calls.make(list, { ...request, ...place }, options),
      (page) => page.conversations.map(read.conversation),
    );
  }

  /** Removes everything of a recipient: all its conversations and what is stored in them. How many there were. */
  async deleteRecipient(recipient: string, options: CallOptions = {}): Promise<number> {
    const request = { recipientId: recipient };
    return (await this.calls.make(this.calls.conversations.deleteRecipient, request, options)).conversationCount ?? 0;
  }

  /**
   * Makes a history that the caller holds fit for a model, and stores nothing: keeps the newest messages within the
   * limits, whole exchanges only, and drops what is malformed.
   */
  async prepare<M = any>(messages: Messages, options: PrepareOptions = {}): Promise<Prepared<M>> {
    const request = prepareRequest(messages, options);
    return preparedOf<M>(await this.calls.make(this.calls.contexts.prepareHistory, request, options));
  }

  /** Counts the tokens of texts, exactly, for an encoding or an OpenAI model; by default the server's encoding. */
  async countTokens(
    texts: string | readonly string[],
    options: CallOptions & { model?: string } = {},
  ): Promise<Tokens> {
    const request = { texts: typeof texts === "string" ? [texts] : [...texts], model: options.model };
    const it = await this.calls.make(this.calls.contexts.countTokens, request, options);
    return { counts: it.tokenCounts, encoding: it.encoding };
  }

  /** Closes the connection, and ends the server if it is the client's own. */
  async close(): Promise<void> {
    this.endpoint.close();
    await this.owned?.close();
  }

  /** For `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
