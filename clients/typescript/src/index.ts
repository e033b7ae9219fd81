/**
 * Conversation memory for LLM agents: the client of an utterd server.
 *
 *     const memory = connect(); // 127.0.0.1:50051; or await local(), with a local server
 *     const chat = memory.conversation({ recipient: "alice" });
 *     await chat.add({ role: "user", content: "My flight HAT136 leaves on May 23." });
 *     const messages = await chat.context({ budget: 8000, format: "openai" }); // what goes to the model
 */
export { Client, connect, type ConnectOptions, type ConversationsOptions, type CreateOptions } from "./client.js";
export type { ContextOptions, PrepareOptions } from "./contexts.js";
export { Conversation } from "./conversation.js";
export type { EndpointOptions, Tls } from "./endpoint.js";
export {
  ConflictError,
  DeadlineError,
  DeniedError,
  ExhaustedError,
  ExistsError,
  type Failure,
  type FieldProblem,
  InvalidRequestError,
  NotFoundError,
  PreconditionError,
  ServerError,
  StartError,
  UnavailableError,
  UtterdError,
} from "./errors.js";
export type * from "./model.js";
export type * from "./options.js";
export { Recipient } from "./recipient.js";
export { local, type LocalOptions } from "./server.js";
