/** Which utterances a request is about. */
import { timestampFromDate } from "@bufbuild/protobuf/wkt";

import type { Role, SequenceRange } from "./model.js";
import type { ForgetOptions, RememberOptions } from "./options.js";
import * as read from "./read.js";

/** Which speakers. */
export function rolesOf(roles: readonly Role[] = []) {
  return roles.map((role) => read.chosen("roles", role, read.ROLES));
}

/** Which utterances a search may find; undefined for all. */
export function filterOf({ roles, names, since, until }: RememberOptions) {
  if (!roles?.length && !names?.length && !since && !until) return undefined;
  return {
    roles: rolesOf(roles),
    names: [...(names ?? [])],
    startTime: stampOf("since", since),
    endTime: stampOf("until", until),
  };
}

/** Which utterances to forget; undefined if instructions say it. */
export function selectorOf({ ids = [], sequences = [], newest }: ForgetOptions) {
  if (!ids.length && !sequences.length && newest === undefined) return undefined;
  return { utteranceIds: [...ids], sequences: sequences.map(rangeOf), newestMessages: newest };
}

function stampOf(field: string, date: Date | undefined) {
  if (date === undefined) return undefined;
  if (!(date instanceof Date) || Number.isNaN(date.getTime())) {
    throw new TypeError(`${field}: ${String(date)}; accepted: a date, such as new Date("2026-11-20")`);
  }
  return timestampFromDate(date);
}

function rangeOf(them: number | SequenceRange) {
  const { first, last } = typeof them === "number" ? { first: them, last: them } : them;
  return { first: read.wide("sequences", first), last: read.wide("sequences", last) };
}
