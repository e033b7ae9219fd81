/** The address of a server, and how to connect to it. */
import { readFileSync } from "node:fs";
import { connect as connectSocket } from "node:net";

import type { Interceptor, Transport } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";

/** The default address of a server. */
const DEFAULT = "127.0.0.1:50051";
const ACCEPTED = "accepted: HOST:PORT, http://…, https://… and unix:PATH";
/** The most megabytes of unread answers before new calls are refused; Node's default of 10 is too low. */
const SESSION_MEGABYTES = 256;
/** Milliseconds of silence after which a connection is tested before use, and the time it has to answer. */
const PING = { pingIntervalMs: 60_000, pingTimeoutMs: 10_000 };

/** How server and client authenticate over TLS. The files are PEM. */
export interface Tls {
  /** The authority that signed the server's certificate; by default those that come with Node. */
  readonly ca?: string;
  /** This client's certificate, with `key`, if the server asks for one. */
  readonly cert?: string;
  readonly key?: string;
}

/** How to connect to a server. */
export interface EndpointOptions {
  /** The credential; by default from `UTTERD_TOKEN`, or the file `UTTERD_TOKEN_FILE`. */
  readonly token?: string;
  /** The namespace to use, if the credential is an admin's. */
  readonly namespace?: string;
  /** The authority and the certificate, for `https://…`. */
  readonly tls?: Tls;
}

/** A connection to a server. */
export interface Endpoint {
  /** The server's address. */
  readonly address: string;
  readonly transport: Transport;
  /** Connects, unless it is connected; resolves to the error if that fails. */
  connect(): Promise<unknown>;
  /** Closes the connection. */
  close(): void;
}

/**
 * The server at an address: `HOST:PORT`, `http://…`, `https://…` or `unix:PATH`; by default `UTTERD_SERVER`, or else
 * the default address of a server. It connects on the first call.
 */
export function endpoint(given: string | undefined, options: EndpointOptions): Endpoint {
  const address = given || process.env["UTTERD_SERVER"] || DEFAULT;
  const target = targetOf(address, options.tls !== undefined);
  const token = options.token ?? tokenOfTheEnvironment();
  if (token && !target.local && !target.url.startsWith("https:")) {
    throw new TypeError(`token: it would go to ${address} in the clear; accepted: an https:// address`);
  }
  const session = new Http2SessionManager(target.url, PING, {
    maxSessionMemory: SESSION_MEGABYTES,
    ...(target.path === undefined ? files(options.tls) : overSocket(target.path)),
  });
  const interceptors = [
    withHeaders({ authorization: token && `Bearer ${token}`, "utterd-namespace": options.namespace }),
  ];
  const transport = createGrpcTransport({ baseUrl: target.url, sessionManager: session, interceptors });
  const connect = async () => ((await session.connect()) === "error" ? session.error() : undefined);
  return { address, transport, connect, close: () => session.abort() };
}

interface Target {
  readonly url: string;
  /** The path of a socket. */
  readonly path?: string;
  /** Whether what is sent stays on this machine. */
  readonly local: boolean;
}

function targetOf(address: string, tls: boolean): Target {
  if (address.startsWith("unix:")) {
    const path = address.slice("unix:".length).replace(/^\/\//, "");
    if (!path) throw new TypeError("address: unix: without a path; accepted: unix:PATH");
    return { url: "http://localhost", path, local: true };
  }
  const url = parsed(address, tls ? "https" : "http");
  const local = /^(localhost|\[::1\]|127\.[0-9.]+)$/.test(url.hostname);
  return { url: url.origin, local };
}

function parsed(address: string, scheme: string): URL {
  const whole = address.includes("://");
  const url = URL.canParse(whole ? address : `${scheme}://${address}`)
    ? new URL(whole ? address : `${scheme}://${address}`)
    : undefined;
  const known = url !== undefined && ["http:", "https:"].includes(url.protocol) && url.hostname !== "";
  const bare = known && url.pathname === "/" && !url.search && !url.username;
  if (!bare || (!whole && !/:\d+$/.test(address))) throw new TypeError(`address: "${address}"; ${ACCEPTED}`);
  return url;
}

function tokenOfTheEnvironment(): string | undefined {
  const file = process.env["UTTERD_TOKEN_FILE"];
  return process.env["UTTERD_TOKEN"] || (file ? readFileSync(file, "utf8").trim() : undefined);
}

function files({ ca, cert, key }: Tls = {}): { ca?: Buffer; cert?: Buffer; key?: Buffer } {
  return {
    ...(ca !== undefined && { ca: readFileSync(ca) }),
    ...(cert !== undefined && { cert: readFileSync(cert) }),
    ...(key !== undefined && { key: readFileSync(key) }),
  };
}

function overSocket(path: string): { createConnection: () => ReturnType<typeof connectSocket> } {
  return { createConnection: () => connectSocket(path) };
}

function withHeaders(headers: Readonly<Record<string, string | undefined>>): Interceptor {
  return (next) => (request) => {
    for (const [name, value] of Object.entries(headers)) if (value) request.header.set(name, value);
    return next(request);
  };
}
