/** Named values beside a conversation: as a request has them, and back. */
import type { MessageInitShape } from "@bufbuild/protobuf";

import type { StateChangeSchema, StateValue as ValueMessage } from "./_proto/utterd/v1/conversation_service_pb.js";
import type { StateChange, StateValue } from "./model.js";
import * as read from "./read.js";

/** A change as a request has it. */
export function changeOf(change: StateChange) {
  const versions = Object.entries(change.expectedVersions ?? {});
  return {
    set: Object.entries(change.set ?? {}).map(([name, value]) => ({ name, value: valueOf(name, value) })),
    delete: [...(change.delete ?? [])],
    expectedVersions: Object.fromEntries(
      versions.map(([name, version]) => [name, read.wide(`expectedVersions.${name}`, version)]),
    ),
  } satisfies MessageInitShape<typeof StateChangeSchema>;
}

function valueOf(name: string, value: unknown) {
  if (value instanceof Uint8Array) return { case: "data" as const, value };
  const text: string | undefined = JSON.stringify(value);
  if (text === undefined) throw new TypeError(`set.${name}: accepted are a Uint8Array and what JSON can hold`);
  return { case: "json" as const, value: text };
}

/** The values of an answer, by name. */
export function valuesOf<V>(them: readonly ValueMessage[]): Record<string, StateValue<V>> {
  const value = ({ value }: ValueMessage) => (value.case === "json" ? JSON.parse(value.value) : value.value) as V;
  return Object.fromEntries(them.map((it) => [it.name, { value: value(it), version: Number(it.version) }]));
}
