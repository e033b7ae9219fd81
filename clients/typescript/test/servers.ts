/** Servers for the tests: each test has one in memory and one on files. */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe } from "node:test";

import { type Client, local } from "utterd";

/** Describes the same tests for a server in memory and one on files; `memory()` is its client. */
export function onEachStore(name: string, tests: (memory: () => Client) => void): void {
  for (const store of ["in memory", "on files"]) {
    describe(`${name}, ${store}`, () => {
      let client: Client;
      const directory = mkdtempSync(join(tmpdir(), "utterd-test-"));
      before(async () => {
        client = await local(store === "on files" ? { path: join(directory, "store") } : {});
      });
      after(async () => {
        await client?.close();
        rmSync(directory, { recursive: true });
      });
      tests(() => client);
    });
  }
}

/** A unique id. */
export const fresh = (): string => randomUUID();
