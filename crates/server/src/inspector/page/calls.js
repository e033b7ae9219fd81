// The calls to the server: JSON, in the form of the Connect protocol.

import { inWords } from "./fields.js";

const HEAD = 5;
const END = 2;
const KEPT = "utterd";

/** Who calls: a token, and the namespace that an admin works in. Kept as long as the tab. */
export const credential = {
  ...{ token: "", namespace: "" },
  ...JSON.parse(sessionStorage.getItem(KEPT) ?? "{}"),
};

/** @param {{token: string, namespace: string}} given */
export function signIn(given) {
  Object.assign(credential, given);
  sessionStorage.setItem(KEPT, JSON.stringify(credential));
}

export function signOut() {
  signIn({ token: "", namespace: "" });
}

/** A call that failed, as the server tells it. */
export class CallError extends Error {
  /** @param {{code?: string, message?: string, details?: {type: string, debug?: any}[]}} error */
  constructor({ code = "unknown", message, details = [] }) {
    super(inWords(message || code.replaceAll("_", " ")));
    this.code = code;
    this.details = details;
  }

  /** What the server says to programs about the error. */
  get info() {
    return this.details.find(({ type }) => type === "google.rpc.ErrorInfo")?.debug ?? {};
  }
}

/** Told when a call lacks a credential. */
export const refusals = new EventTarget();

/**
 * @param {string} kind
 * @returns {Record<string, string>}
 */
function headers(kind) {
  return {
    "content-type": kind,
    ...(credential.token && { authorization: `Bearer ${credential.token}` }),
    ...(credential.namespace && { "utterd-namespace": credential.namespace }),
  };
}

/**
 * @param {string} method
 * @param {string} kind
 * @param {BodyInit} body
 * @param {AbortSignal} [signal]
 */
async function send(method, kind, body, signal) {
  try {
    return await fetch(`/utterd.v1.${method}`, { method: "POST", headers: headers(kind), body, signal });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new CallError({ code: "unavailable", message: "the server cannot be reached" });
  }
}

function failed(error) {
  const told = new CallError(error ?? {});
  if (told.code === "unauthenticated") refusals.dispatchEvent(new CustomEvent("refused", { detail: told }));
  return told;
}

/**
 * Makes a call with one request and one response, such as `MemoryService/Remember`.
 * @param {string} method
 * @param {object} [request]
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export async function call(method, request = {}, signal) {
  const response = await send(method, "application/json", JSON.stringify(request), signal);
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw failed(answer);
  return answer;
}

/** @param {object} message */
function frame(message) {
  const content = new TextEncoder().encode(JSON.stringify(message));
  const framed = new Uint8Array(HEAD + content.length);
  new DataView(framed.buffer).setUint32(1, content.length);
  framed.set(content, HEAD);
  return framed;
}

/**
 * Makes a call with a stream in either direction; yields its responses as they come.
 * @param {string} method
 * @param {object[]} requests
 * @param {AbortSignal} [signal]
 * @returns {AsyncGenerator<any>}
 */
export async function* stream(method, requests, signal) {
  const body = new Blob(requests.map(frame));
  const response = await send(method, "application/connect+json", body, signal);
  if (!response.ok || !response.body) throw failed(await response.json().catch(() => ({})));
  const reader = response.body.getReader();
  let left = new Uint8Array();
  for (;;) {
    const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
    if (done || !value) throw new CallError({ code: "unavailable", message: "the connection was lost" });
    left = joined(left, value);
    for (let taken = take(left); taken; taken = take(left)) {
      left = left.subarray(taken.length);
      if (!taken.isEnd) yield taken.message;
      else if (taken.message.error) throw failed(taken.message.error);
      else return;
    }
  }
}

/**
 * @param {Uint8Array} first
 * @param {Uint8Array} second
 */
function joined(first, second) {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

/**
 * Reads the first frame, if it is complete.
 * @param {Uint8Array} bytes
 */
function take(bytes) {
  if (bytes.length < HEAD) return null;
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(1);
  if (bytes.length < HEAD + size) return null;
  const message = JSON.parse(new TextDecoder().decode(bytes.subarray(HEAD, HEAD + size)));
  return { message, isEnd: bytes[0] === END, length: HEAD + size };
}

/**
 * All entries of a list, page by page.
 * @param {string} method
 * @param {object} request
 * @param {string} entries the field with the entries
 * @param {number} [most]
 * @returns {Promise<any[]>}
 */
export async function all(method, request, entries, most = Infinity) {
  const found = [];
  let pageToken = "";
  do {
    const page = await call(method, { ...request, pageToken });
    found.push(...(page[entries] ?? []));
    pageToken = page.nextPageToken ?? "";
  } while (pageToken && found.length < most);
  return found;
}
