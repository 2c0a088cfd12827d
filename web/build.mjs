// Builds the page: node web/build.mjs OUTPUT
//
// Bundles web/src with the TypeScript client, compresses every file, and packs them into OUTPUT: a
// line "NAME MEDIA_TYPE SIZE" per file, an empty line, then the contents (src/channels/page.h). The
// packages come from build/web, where ./dev installs them.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const packages = join(root, "build/web/node_modules");
const output = process.argv[2];
if (!output) throw new Error("usage: node web/build.mjs OUTPUT");
if (!existsSync(join(packages, "esbuild"))) {
  console.error("The packages that build the page are missing: run ./dev setup, or configure with "
    + "-DAGENTRT_WEB=OFF for a binary without the page.");
  process.exit(1);
}
const esbuild = createRequire(join(packages, "package.json"))("esbuild");

const mediaTypes = {
  ".js": "text/javascript;charset=utf-8",
  ".css": "text/css;charset=utf-8",
  ".html": "text/html;charset=utf-8",
  ".svg": "image/svg+xml",
};

const built = await esbuild.build({
  absWorkingDir: root,
  entryPoints: ["web/src/main.tsx", "web/src/icon.svg"],
  bundle: true,
  splitting: true,
  format: "esm",
  minify: true,
  target: "es2022",
  platform: "browser",
  jsx: "automatic",
  jsxImportSource: "preact",
  nodePaths: [packages],
  alias: { agentrt: join(root, "clients/typescript/src/index.ts") },
  loader: { ".svg": "copy" },
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  assetNames: "[name]-[hash]",
  outdir: "assets",
  write: false,
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning",
});

const files = new Map(built.outputFiles.map((file) => [basename(file.path), file.contents]));
const find = (pattern) => [...files.keys()].find((name) => pattern.test(name));
const html = readFileSync(join(root, "web/src/index.html"), "utf8")
  .replace("{script}", `/assets/${find(/^main-.*\.js$/)}`)
  .replace("{style}", `/assets/${find(/^main-.*\.css$/)}`)
  .replace("{icon}", `/assets/${find(/^icon-.*\.svg$/)}`);
files.set("index.html", Buffer.from(html));

const lines = [];
const contents = [];
for (const [name, bytes] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
  const packed = gzipSync(bytes, { level: 9 });
  packed[9] = 255;  // the system that compressed it; the same bytes everywhere
  lines.push(`${name} ${mediaTypes[extname(name)]} ${packed.length}\n`);
  contents.push(packed);
}
writeFileSync(output, Buffer.concat([Buffer.from(lines.join("") + "\n"), ...contents]));
