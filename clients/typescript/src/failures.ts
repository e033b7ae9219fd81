/** Converts what the transport throws to errors of this package. */
import { Code, ConnectError } from "@connectrpc/connect";

import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "./_proto/google/rpc/error_details_pb.js";
import { errorOf, type ServerError } from "./errors.js";

/** The error for a failed call. */
export function failureOf(thrown: unknown, requestId: string): ServerError {
  const error = ConnectError.from(thrown);
  const info = error.findDetails(ErrorInfoSchema)[0];
  const delay = error.findDetails(RetryInfoSchema)[0]?.retryDelay;
  const failure = {
    code: statusOf(error),
    reason: info?.reason ?? "",
    fields: error
      .findDetails(BadRequestSchema)
      .flatMap((bad) => bad.fieldViolations.map(({ field, description }) => ({ field, description }))),
    metadata: { ...info?.metadata },
    retryAfter: delay === undefined ? undefined : Number(delay.seconds) * 1000 + delay.nanos / 1e6,
    requestId,
  };
  return errorOf(messageOf(error), failure, { cause: thrown });
}

/** Whether a call failed because certificates do not fit, which no repetition changes. */
export function isDistrust(error: ServerError): boolean {
  return /^ERR_(SSL|TLS)|CERT|SIGNATURE/.test(systemCode(ConnectError.from(error.cause)));
}

function messageOf(error: ConnectError): string {
  const absent = ["ECONNREFUSED", "ENOENT"].includes(systemCode(error));
  return absent ? `no server: ${error.rawMessage}; start it with \`utterd serve\`` : error.rawMessage;
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
