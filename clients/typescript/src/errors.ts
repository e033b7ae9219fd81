/** Errors, with what the server says about them. */

/** A field because of which a request was refused. */
export interface FieldProblem {
  /** The argument or option, such as `messages[2].role`. */
  readonly field: string;
  /** What is wrong with it, and what is accepted. */
  readonly description: string;
}

/** The facts about a failure. */
export interface Failure {
  /** The gRPC status, such as `NOT_FOUND`. */
  readonly code: string;
  /** The server's stable reason, such as `STALE_REVISION`; empty if the call failed elsewhere. */
  readonly reason: string;
  /** The fields that are to blame. */
  readonly fields: readonly FieldProblem[];
  /** Details of the reason, such as the `actual` revision. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Milliseconds after which the server asks to be called again. */
  readonly retryAfter: number | undefined;
  /** The request id of the attempt: a repetition with it has no further effect. Empty for calls without one. */
  readonly requestId: string;
  /** How many of the messages are stored although the call failed, because they were too many for one request. */
  readonly stored: number;
}

/** The base class of this package's own errors. */
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
  readonly stored: number;

  constructor(message: string, failure: Failure, options?: ErrorOptions) {
    super(`${message} (${failure.reason || failure.code})`, options);
    this.code = failure.code;
    this.reason = failure.reason;
    this.fields = failure.fields;
    this.metadata = failure.metadata;
    this.retryAfter = failure.retryAfter;
    this.requestId = failure.requestId;
    this.stored = failure.stored;
  }
}

/** The request is wrong; `fields` says where. Nothing was changed. */
export class InvalidRequestError extends ServerError {}

/** Something that the request names does not exist. */
export class NotFoundError extends ServerError {}

/** What the request would create already exists. */
export class ExistsError extends ServerError {}

/** The conversation is not at the expected revision, or too many callers write to it at the same time. */
export class ConflictError extends ServerError {}

/** The conversation's state does not allow this, for example because it has ended. */
export class PreconditionError extends ServerError {}

/** A limit of the server is reached: a quota, its disk, or its load. */
export class ExhaustedError extends ServerError {}

/** The caller is unknown, or is not allowed to do this. */
export class DeniedError extends ServerError {}

/** The server cannot be reached, or cannot answer at the moment. */
export class UnavailableError extends ServerError {}

/** The call took longer than its timeout. It may have taken effect. */
export class DeadlineError extends ServerError {}

/** A local server did not start. */
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

/** The error for a gRPC status; a status without its own class gives a plain `ServerError`. */
export function errorOf(message: string, failure: Failure, options?: ErrorOptions): ServerError {
  return new (KINDS[failure.code] ?? ServerError)(message, failure, options);
}

/** The result of a call, or undefined if what it is about does not exist. */
export async function orNone<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}
