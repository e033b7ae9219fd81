// Rewrites src/_proto from the protos; with --check, says whether it is up to date. Needs buf in PATH.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const kept = join(root, "src", "_proto");
const check = process.argv.includes("--check");
const out = check ? mkdtempSync(join(tmpdir(), "utterd-stubs-")) : kept;
const template = {
  version: "v2",
  plugins: [
    {
      local: ["node", join(root, "node_modules", "@bufbuild", "protoc-gen-es", "bin", "protoc-gen-es")],
      out,
      opt: ["target=ts", "import_extension=js"],
    },
  ],
};
// The services that the client calls; the others are left out.
const services = ["memory", "conversation", "context", "compaction"];
const paths = services.flatMap((name) => [
  "--path",
  join(root, "..", "..", "proto", "utterd", "v1", `${name}_service.proto`),
]);

function generate(input, ...flags) {
  const command = ["generate", input, "--include-imports", "--template", JSON.stringify(template), ...flags];
  execFileSync("buf", command, { stdio: "inherit", cwd: root });
}

try {
  if (!check) rmSync(kept, { recursive: true, force: true });
  generate(join(root, "..", ".."), ...paths);
  generate(join(root, "proto"));
  if (check) execFileSync("diff", ["-rq", kept, out], { stdio: "inherit" });
} finally {
  if (check) rmSync(out, { recursive: true });
}
