/** A local server: a process that ends with its client, or with this process. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, openSync, closeSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

import { Client, type Owned } from "./client.js";
import { endpoint } from "./endpoint.js";
import { StartError } from "./errors.js";

/** Milliseconds that a server may take to start. One with files might have a lot to read. */
const START = 60_000;
/** Milliseconds that a server may take to end by itself. */
const END = 30_000;
/** The most bytes that every system allows for the path of a socket. */
const LONGEST_SOCKET = 103;

type ServerProcess = ChildProcessByStdio<Writable, Readable, null>;

/** How to run a local server. */
export interface LocalOptions {
  /**
   * The directory of the server's files; it is created if necessary, and only one server at a time can use it. Without
   * one, everything is in memory, and lost when the client is closed.
   */
  readonly path?: string;
  /** Keys of the configuration, such as `{preset: "session"}`. Environment variables and files are ignored. */
  readonly settings?: Readonly<Record<string, string | number | boolean>>;
  /** Milliseconds that a call may take with all its attempts; 30,000 by default, null for no limit. */
  readonly timeout?: number | null;
}

/**
 * A client with a local server, which ends with the client and with this process: `await using memory = await local()`.
 * The program comes from the variable `UTTERD_BIN`, or else from PATH. Throws `StartError` if there is none, or it does
 * not start.
 */
export async function local(options: LocalOptions = {}): Promise<Client> {
  const flags = flagsOf(options);
  const directory = privateDirectory();
  try {
    const started = await start(process.env["UTTERD_BIN"] || "utterd", directory, flags);
    const reached = endpoint(started.address, { token: "" });
    return new Client(reached, options.timeout, owned(started.process, directory));
  } catch (error) {
    rmSync(directory, { recursive: true, force: true });
    throw error;
  }
}

async function start(program: string, directory: string, flags: string[]) {
  const listen = ["--listen", `unix:${join(directory, "socket")}`, "--announce", "json", "--exit-with-parent"];
  const log = openSync(join(directory, "log"), "w");
  const process = spawn(program, ["serve", ...listen, ...flags], {
    // The server ends when its stdin closes, however this process ends.
    stdio: ["pipe", "pipe", log],
    // No configuration from this directory or from the environment.
    cwd: directory,
    env: environment(),
  }) as ServerProcess;
  closeSync(log);
  const address = await announced(program, process, directory);
  // An idle server does not keep this process alive, and its output is discarded.
  process.stdout.resume();
  for (const handle of [process, process.stdin, process.stdout] as Unref[]) handle.unref();
  return { process, address };
}

interface Unref {
  unref(): void;
}

function environment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("UTTERD_")));
}

/** The address in the first line of its output. */
async function announced(program: string, server: ServerProcess, directory: string): Promise<string> {
  const impatience = setTimeout(() => server.kill("SIGKILL"), START);
  try {
    const ended = once(server, "close");
    ended.catch(() => undefined); // reported below, even if it comes first
    for await (const line of createInterface({ input: server.stdout })) return JSON.parse(line).address as string;
    await ended;
  } catch (error) {
    throw new StartError(`${program} cannot be run: ${(error as Error).message}; set UTTERD_BIN, or PATH`, {
      cause: error,
    });
  } finally {
    clearTimeout(impatience);
  }
  const log = readFileSync(join(directory, "log"), "utf8").trim();
  throw new StartError(`the server did not start: ${log || `exit code ${server.exitCode}`}`);
}

/** Ends the server and removes its directory, which also happens when this process exits normally. */
function owned(server: ServerProcess, directory: string): Owned {
  const remove = () => rmSync(directory, { recursive: true, force: true });
  process.once("exit", remove);
  return {
    async close() {
      if (server.exitCode === null && server.signalCode === null) await end(server);
      process.off("exit", remove);
      remove();
    },
  };
}

async function end(server: ServerProcess): Promise<void> {
  server.ref();
  const ended = once(server, "exit");
  const impatience = setTimeout(() => server.kill("SIGKILL"), END);
  server.stdin.end();
  await ended;
  clearTimeout(impatience);
}

function privateDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "utterd-"));
  if (Buffer.byteLength(join(directory, "socket")) <= LONGEST_SOCKET) return directory;
  rmdirSync(directory);
  return mkdtempSync("/tmp/utterd-");
}

function flagsOf({ path, settings = {} }: LocalOptions): string[] {
  const flags = Object.entries(settings).map(([key, value]) => `--${key.replaceAll("_", "-")}=${value}`);
  if (path === undefined) return flags;
  mkdirSync(path, { recursive: true });
  return ["--backend", "fjall", "--data-dir", resolve(path), ...flags];
}
