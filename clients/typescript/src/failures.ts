/** Converts what the transport throws to errors of this package. */
import { Code, ConnectError } from "@connectrpc/connect";

import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "./_proto/google/rpc/error_details_pb.js";
import { errorOf, type ServerError } from "./errors.js";
import { fieldHere, textHere } from "./names.js";

/** How Protobuf refuses to write a field. */
const UNWRITABLE = /^serialize .* cannot encode field [\w.]*\.(\w+) to \w+: (.*)$/s;
/** The codes of Node's errors when no server is there. */
const NOBODY = ["ECONNREFUSED", "ENOENT", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "ETIMEDOUT"];
const INTEGER = /^invalid u?int(?:32|64): (.*)$/s;

/** What an error says about a request in place of what was sent. */
export interface Told {
  readonly requestId?: string;
  /** Which of the caller's messages is the request's first. */
  readonly firstMessage?: number;
}

/** The error for a failed call. */
export function failureOf(thrown: unknown, { requestId = "", firstMessage = 0 }: Told): ServerError {
  const error = ConnectError.from(thrown);
  const info = error.findDetails(ErrorInfoSchema)[0];
  const delay = error.findDetails(RetryInfoSchema)[0]?.retryDelay;
  const problems = error.findDetails(BadRequestSchema).flatMap((bad) => bad.fieldViolations);
  const failure = {
    code: statusOf(error),
    reason: info?.reason ?? "",
    fields: problems.map(({ field, description }) => ({
      field: fieldHere(field, firstMessage),
      description: textHere(description, firstMessage),
    })),
    metadata: { ...info?.metadata },
    retryAfter: delay === undefined ? undefined : Number(delay.seconds) * 1000 + delay.nanos / 1e6,
    requestId,
    stored: firstMessage,
  };
  const whole = messageOf(error);
  const named = problems.find(({ field }) => whole.startsWith(`${field}: `))?.field ?? "";
  const message = fieldHere(named, firstMessage) + textHere(whole.slice(named.length), firstMessage);
  return errorOf(message, failure, { cause: thrown });
}

/** Whether a call failed because certificates do not fit, which no repetition changes. */
export function isDistrust(error: ServerError): boolean {
  return /^ERR_(SSL|TLS)|CERT|SIGNATURE/.test(systemCode(ConnectError.from(error.cause)));
}

function messageOf(error: ConnectError): string {
  const text = error.rawMessage;
  if (NOBODY.includes(systemCode(error))) return `no server: ${text}; start it with \`utterd serve\``;
  const [, field, problem] = UNWRITABLE.exec(text) ?? [];
  return field && problem
    ? `${fieldHere(field, 0)}: ${problem.replace(INTEGER, "is $1; accepted: whole numbers")}`
    : text;
}

/** The code of the error of Node that is behind a failure; empty if there is none. */
function systemCode({ cause }: ConnectError): string {
  return cause instanceof Error && "code" in cause ? String(cause.code) : "";
}

/** The name of the gRPC status: the server's, or else one for a failure on the way. */
function statusOf(error: ConnectError): string {
  const name = Code[error.code].replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
  if (error.metadata.has("grpc-status") || error.code === Code.DeadlineExceeded) return name;
  // A message that cannot be written fails before anything is sent.
  if (error.rawMessage.startsWith("serialize ")) return "INVALID_ARGUMENT";
  return "UNAVAILABLE";
}
