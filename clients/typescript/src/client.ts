/** The client: a connection to a server, and the calls that are not about one conversation. */
import { ConversationOrder } from "./_proto/utterd/v1/conversation_service_pb.js";
import { attempt, Calls } from "./calls.js";
import { type PrepareOptions, prepareRequest, preparedOf } from "./contexts.js";
import { Conversation } from "./conversation.js";
import { type Endpoint, endpoint, type EndpointOptions } from "./endpoint.js";
import { ExistsError } from "./errors.js";
import type { CallOptions, ConversationRecord, Messages, Policy, Prepared, Status, Tokens } from "./model.js";
import { collect, portionsOf } from "./lists.js";
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
  /** Milliseconds that a call may take with all its attempts; 30,000 by default, null for no limit. */
  readonly timeout?: number | null;
}

/** How to create a conversation. */
export interface CreateOptions extends CallOptions {
  readonly id?: string;
  readonly recipient?: string;
  readonly title?: string;
  readonly policy?: Policy;
  readonly labels?: Readonly<Record<string, string>>;
  /** The encoding that counts its tokens, or the name of an OpenAI model. */
  readonly encoding?: string;
  /** Whether an id that is taken is accepted. */
  readonly existOk?: boolean;
}

/** Which conversations to list. */
export interface ConversationsOptions extends CallOptions {
  readonly recipient?: string;
  readonly allRecipients?: boolean;
  /** Only those whose id begins with this. */
  readonly prefix?: string;
  /** Only those with this status. */
  readonly status?: Status;
  /** `newest_start` by default. */
  readonly order?: "newest_start" | "oldest_start" | "newest_update" | "oldest_update";
  /** The most to return; all by default. */
  readonly limit?: number;
}

/**
 * A client of the server at an address: `HOST:PORT`, `https://…` or `unix:PATH`; by default the variable
 * `UTTERD_SERVER`, or else `127.0.0.1:50051`. It connects on its first call.
 */
export function connect(address?: string, options: ConnectOptions = {}): Client {
  return new Client(endpoint(address, options), options.timeout);
}

/** Something that ends with a client. */
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
    this.calls = new Calls(endpoint, timeout);
  }

  /** The server's address. */
  get address(): string {
    return this.endpoint.address;
  }

  /**
   * A conversation: the one with an id, or a recipient's active one; by default that of the recipient `default`.
   * This makes no call: a conversation starts with the first message that is added.
   */
  conversation(which: string | ConversationAddress = {}): Conversation {
    return new Conversation(this.calls, typeof which === "string" ? { id: which } : which);
  }

  /** A recipient, with values of its own. This makes no call. */
  recipient(id = "default"): Recipient {
    return new Recipient(this.calls, id);
  }

  /** Creates a conversation with limits of its own; `ExistsError` if the id is taken, unless `existOk`. */
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

  /** A recipient's conversations, or those of all recipients, sorted, and at most `limit`. */
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

  /** Removes all of a recipient's conversations and everything in them. Returns how many there were. */
  async deleteRecipient(recipient: string, options: CallOptions = {}): Promise<number> {
    const request = { recipientId: recipient };
    return (await this.calls.make(this.calls.conversations.deleteRecipient, request, options)).conversationCount ?? 0;
  }

  /**
   * Makes a history that the caller holds fit for a model: keeps the newest messages within the limits, whole exchanges
   * only, and drops what is malformed. Stores nothing.
   */
  async prepare<M = any>(messages: Messages, options: PrepareOptions = {}): Promise<Prepared<M>> {
    const request = prepareRequest(messages, options);
    return preparedOf<M>(await this.calls.make(this.calls.contexts.prepareHistory, request, options));
  }

  /** Counts the tokens of texts exactly, for an encoding or an OpenAI model; by default the server's encoding. */
  async countTokens(
    texts: string | readonly string[],
    options: CallOptions & { model?: string } = {},
  ): Promise<Tokens> {
    const counts: number[] = [];
    let encoding = "";
    for (const part of portionsOf([texts].flat())) {
      const request = { texts: part, model: options.model };
      const it = await this.calls.make(this.calls.contexts.countTokens, request, options);
      counts.push(...it.tokenCounts);
      encoding = it.encoding;
    }
    return { counts, encoding };
  }

  /** Closes the connection, and ends the server if it is a local one. */
  async close(): Promise<void> {
    this.calls.close();
    this.endpoint.close();
    await this.owned?.close();
  }

  /** For `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
