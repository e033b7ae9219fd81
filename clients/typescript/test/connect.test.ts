import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { setTimeout } from "node:timers/promises";

import { type Client, connect, local, StartError, UnavailableError } from "utterd";

const directory = mkdtempSync(join(tmpdir(), "utterd-test-"));
after(() => rmSync(directory, { recursive: true }));

for (const address of ["unix:", "host", "ftp://host", "host:port", "http://host/path", "https://user@host"]) {
  test(`${address} is no address`, () => assert.throws(() => connect(address), /address: .*accepted/));
}

test("a token stays on this machine unless it is encrypted", async () => {
  assert.throws(() => connect("10.0.0.1:50051", { token: "secret" }), /in the clear/);
  for (const address of ["127.0.0.1:50051", "[::1]:50051", "unix:/tmp/none", "https://10.0.0.1:50051"]) {
    await connect(address, { token: "secret" }).close();
  }
});

test("a server that is not there", async () => {
  await using nobody = connect("127.0.0.1:1", { timeout: 200 });
  await assert.rejects(nobody.conversation("c").capacity(), UnavailableError);
  await assert.rejects(
    nobody.conversation("c").capacity(),
    /ECONNREFUSED 127\.0\.0\.1:1; start it with `utterd serve`/,
  );
  await using nothing = connect(`unix:${directory}/none`, { timeout: 200 });
  await assert.rejects(nothing.conversation("c").capacity(), UnavailableError);
});

/** A call waits 30 seconds for a server that was there before. */
test("a server that was never there is not waited for", { timeout: 20_000 }, async () => {
  await using nobody = connect("127.0.0.1:1");
  const told = /ECONNREFUSED 127\.0\.0\.1:1; start it with `utterd serve`/;
  await assert.rejects(nobody.conversation("c").capacity(), told);
  await assert.rejects(async () => {
    for await (const _ of nobody.conversation("c").watch());
  }, told);
});

const skip = spawnSync("openssl", ["version"]).error === undefined ? false : "apt-get install openssl";

test("a certificate is checked, and so is a client's", { skip }, async () => {
  const path = (name: string) => join(directory, name);
  const make = (name: string, ...more: string[]) => {
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", path(`${name}.key`)];
    const made = ["-subj", `/CN=${name}`, "-days", "1", "-out", path(`${name}.pem`)];
    execFileSync("openssl", ["req", "-x509", ...key, ...made, ...more], { stdio: "ignore" });
  };
  make("authority");
  const names = ["-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=CA:FALSE"];
  make("localhost", "-CA", path("authority.pem"), "-CAkey", path("authority.key"), ...names);
  const [ca, cert, key] = ["authority.pem", "localhost.pem", "localhost.key"].map(path);
  const flags = ["--tls-cert", cert!, "--tls-key", key!, "--tls-client-ca", ca!];
  const server = spawn(
    process.env["UTTERD_BIN"] || "utterd",
    ["serve", "--listen", "127.0.0.1:0", "--announce", "json", ...flags],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  try {
    const [line] = (await once(createInterface({ input: server.stdout }), "line")) as [string];
    const address = `https://localhost:${(JSON.parse(line).address as string).split(":").at(-1)}`;
    await using known = connect(address, { tls: { ca, cert, key } });
    assert.equal((await known.conversation("c").add({ role: "user", content: "hi" })).revision, 1);
    await using doubtful = connect(address);
    await assert.rejects(doubtful.conversation("c").capacity(), /unable to verify/);
    await using unknown = connect(address, { tls: { ca } });
    await assert.rejects(unknown.conversation("c").capacity(), UnavailableError);
  } finally {
    server.kill();
    await once(server, "exit");
  }
});

test("files outlast a server, and one server at a time has them", async () => {
  const path = join(directory, "store");
  {
    await using first = await local({ path, settings: { buffer_size: 3 } });
    await first.conversation("a").add({ role: "user", content: "hi" });
    assert.equal((await first.conversation("a").capacity()).maxUtterances, 3);
    await assert.rejects(local({ path }), (error) => {
      assert.ok(error instanceof StartError);
      assert.match(error.message, /the server did not start: .*store/s);
      return true;
    });
  }
  await using second = await local({ path });
  assert.deepEqual(await second.conversation("a").messages(), [{ role: "user", content: "hi" }]);
});

test("variables do not configure a server of one's own, and it leaves nothing behind", async () => {
  process.env["UTTERD_BUFFER_SIZE"] = "none";
  try {
    const memory = await local();
    const socket = memory.address.slice("unix:".length);
    assert.ok(existsSync(socket));
    await memory.close();
    await memory.close();
    assert.ok(!existsSync(dirname(socket)));
  } finally {
    delete process.env["UTTERD_BUFFER_SIZE"];
  }
});

test("there is no program", async () => {
  const program = process.env["UTTERD_BIN"];
  process.env["UTTERD_BIN"] = join(directory, "none");
  try {
    await assert.rejects(local(), (error) => error instanceof StartError && /UTTERD_BIN/.test(error.message));
  } finally {
    if (program === undefined) delete process.env["UTTERD_BIN"];
    else process.env["UTTERD_BIN"] = program;
  }
});

async function answers(client: Client): Promise<boolean> {
  try {
    await client.conversation("a").capacity();
    return true;
  } catch (error) {
    assert.ok(error instanceof UnavailableError, String(error));
    return false;
  }
}

test("a program ends although its client is open, and its server with it, however it ends", async () => {
  for (const end of ["", "process.kill(process.pid, 'SIGKILL')"]) {
    const program = `
      import { local } from "utterd";
      const memory = await local();
      await memory.conversation("a").add({ role: "user", content: "hi" });
      console.log(memory.address);
      ${end}`;
    const cwd = dirname(dirname(import.meta.dirname));
    const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
      cwd,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    await using gone = connect(line, { timeout: 200 });
    // The server ends once it notices that its parent has ended.
    while (await answers(gone)) await setTimeout(10);
    rmSync(dirname(line.slice("unix:".length)), { recursive: true, force: true });
  }
});
