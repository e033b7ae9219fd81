/** Named values of a conversation or a recipient: conversion to requests, and back. */
import type { MessageInitShape } from "@bufbuild/protobuf";

import type {
  StateChangeSchema,
  StateScope,
  StateValue as ValueMessage,
} from "./_proto/utterd/v1/conversation_service_pb.js";
import { type Calls, changing } from "./calls.js";
import type { CallOptions, ChangeOptions, StateChange, StateValue } from "./model.js";
import * as read from "./read.js";

/** The owner of the values. */
interface Place {
  readonly conversationId?: string;
  readonly recipientId?: string;
  readonly scope?: StateScope;
}

/** The values with these names, or all. */
export async function readState<V>(
  calls: Calls,
  at: Place,
  names: string | readonly string[],
  options: CallOptions,
): Promise<Record<string, StateValue<V>>> {
  return valuesOf((await calls.make(calls.conversations.getState, { ...at, names: [names].flat() }, options)).values);
}

/** Sets and deletes values. Returns the revision after the change. */
export async function changeState(
  calls: Calls,
  at: Place,
  change: StateChange,
  options: ChangeOptions,
): Promise<number> {
  const request = { ...at, ...changing(options), change: changeOf("change", change) };
  return Number((await calls.make(calls.conversations.updateState, request, options)).revision);
}

const PARTS = ["set", "delete", "expectedVersions"];

/** A change in the form of a request; `field` is what the caller names it. */
export function changeOf(field: string, change: StateChange) {
  const stray = Object.keys(change).find((key) => !PARTS.includes(key));
  if (stray !== undefined)
    throw new TypeError(`${field}: "${stray}" is not one of ${PARTS.join(", ")}; write { set: { ${stray}: … } }`);
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
  if (text === undefined) throw new TypeError(`set.${name}: must be a Uint8Array, or what JSON can represent`);
  return { case: "json" as const, value: text };
}

/** The values of an answer, by name. */
function valuesOf<V>(them: readonly ValueMessage[]): Record<string, StateValue<V>> {
  const value = ({ value }: ValueMessage) => (value.case === "json" ? JSON.parse(value.value) : value.value) as V;
  return Object.fromEntries(them.map((it) => [it.name, { value: value(it), version: Number(it.version) }]));
}
