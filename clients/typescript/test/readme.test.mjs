// Type-checks and runs every example of README.md against a daemon.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Daemon, Home } from "./daemon.mjs";

const packageFolder = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const tsc = path.resolve(packageFolder, "../../build/web/node_modules/typescript/bin/tsc");
const examples = [...(await readFile(path.join(packageFolder, "README.md"), "utf8"))
  .matchAll(/^```ts\n([^]*?)^```/gm)].map((match) => match[1]);
// What the examples take from their surroundings.
const prelude = `declare const process: { env: Record<string, string> };
const url = process.env.URL_OF_DAEMON!, token = process.env.TOKEN_OF_DAEMON!;
const signal = AbortSignal.timeout(1500);
`;

let home, daemon;
before(async () => {
  home = await Home.create();
  daemon = await Daemon.start(home);
  await mkdir(path.join(home.folder, "node_modules"));
  await symlink(packageFolder, path.join(home.folder, "node_modules/agentrt"));
  await writeFile(path.join(home.folder, "package.json"), '{"type": "module"}');
  for (const [index, code] of examples.entries()) {
    const imports = code.match(/^import .*\n/gm).join("");
    await writeFile(path.join(home.folder, `example${index}.ts`),
      imports + prelude + code.replace(/^import .*\n/gm, "") + "\nexport {};\n");
  }
  await writeFile(path.join(home.folder, "tsconfig.json"), JSON.stringify({
    compilerOptions: { target: "es2022", module: "nodenext", strict: true, types: [],
      lib: ["es2022", "dom"] },
    files: examples.map((_, index) => `example${index}.ts`) }));
  const checked = spawnSync(process.execPath, [tsc], { cwd: home.folder, encoding: "utf8" });
  assert.equal(checked.stdout, "");
  assert.equal(checked.status, 0);
});
after(async () => {
  await daemon.end();
  await home.remove();
});

// Runs an example without blocking this process.
function execute(file) {
  const child = spawn(process.execPath, [file], { cwd: home.folder,
    env: { ...home.environment, URL_OF_DAEMON: daemon.url, TOKEN_OF_DAEMON: daemon.token } });
  let out = "", errors = "";
  child.stdout.on("data", (data) => { out += data; });
  child.stderr.on("data", (data) => { errors += data; });
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, out, errors })));
}

const expected = [/^1 session\.created$/m, /^completed Hello from the script\. 5$/m,
  /^completed$/m, /^8 bytes$/m, /^not_found 404$/m];
assert.equal(examples.length, expected.length);
for (const [index, pattern] of expected.entries()) {
  test(`example ${index + 1} of README.md`, async () => {
    const { code, out, errors } = await execute(`example${index}.js`);
    assert.equal(code, 0, errors);
    assert.match(out, pattern);
  });
}
