/** What goes wrong, with what the server says of it. */

/** A field that a request was refused for. */
export interface FieldProblem {
  /** The field of the request, such as `messages_json[2].role`. */
  readonly field: string;
  /** What is wrong with it, and what is accepted. */
  readonly description: string;
}

/** What is known of a failure. */
export interface Failure {
  /** The gRPC status, such as `NOT_FOUND`. */
  readonly code: string;
  /** The server's stable reason, such as `STALE_REVISION`; empty when it was not the server that failed the call. */
  readonly reason: string;
  /** The fields that are to blame. */
  readonly fields: readonly FieldProblem[];
  /** What the reason comes with, such as the `actual` revision. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Milliseconds after which the server asks to be called again. */
  readonly retryAfter: number | undefined;
  /** The request id of the attempt: to repeat the call with it does nothing twice. Empty for calls without one. */
  readonly requestId: string;
}

/** The base of everything that this package throws by itself. */
export class UtterdError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** A call that did not succeed. The subclass says what kind of failure it is. */
export class ServerError extends UtterdError implements Failure {
  readonly code: string;
  readonly reason: string;
  readonly fields: readonly FieldProblem[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly retryAfter: number | undefined;
  readonly requestId: string;

  constructor(message: string, failure: Failure, options?: ErrorOptions) {
    super(`${message} (${failure.reason || failure.code})`, options);
    this.code = failure.code;
    this.reason = failure.reason;
    this.fields = failure.fields;
    this.metadata = failure.metadata;
    this.retryAfter = failure.retryAfter;
    this.requestId = failure.requestId;
  }
}

/** The request is wrong; `fields` say where. Nothing was changed. */
export class InvalidRequestError extends ServerError {}

/** What the request names does not exist. */
export class NotFoundError extends ServerError {}

/** What the request would make exists already. */
export class ExistsError extends ServerError {}

/** The conversation is not at the revision that was expected, or too many write to it at once. */
export class ConflictError extends ServerError {}

/** The conversation is in no state for this, such as one that has ended. */
export class PreconditionError extends ServerError {}

/** A limit of the server is reached: a quota, its disk, or what it can serve at a time. */
export class ExhaustedError extends ServerError {}

/** The caller is not known, or may not do this. */
export class DeniedError extends ServerError {}

/** The server cannot be reached, or cannot answer now. */
export class UnavailableError extends ServerError {}

/** The call took longer than its timeout. It may have taken effect. */
export class DeadlineError extends ServerError {}

/** A server of one's own did not start. */
export class StartError extends UtterdError {}

const KINDS: Readonly<Record<string, typeof ServerError>> = {
  INVALID_ARGUMENT: InvalidRequestError,
  OUT_OF_RANGE: InvalidRequestError,
  NOT_FOUND: NotFoundError,
  ALREADY_EXISTS: ExistsError,
  ABORTED: ConflictError,
  FAILED_PRECONDITION: PreconditionError,
  RESOURCE_EXHAUSTED: ExhaustedError,
  PERMISSION_DENIED: DeniedError,
  UNAUTHENTICATED: DeniedError,
  UNAVAILABLE: UnavailableError,
  DEADLINE_EXCEEDED: DeadlineError,
};

/** The error of a gRPC status; one that has no class of its own is a plain `ServerError`. */
export function errorOf(message: string, failure: Failure, options?: ErrorOptions): ServerError {
  return new (KINDS[failure.code] ?? ServerError)(message, failure, options);
}
