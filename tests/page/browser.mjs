// A browser and a daemon for the tests of the page. AGENTRT_BIN names the binary.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const packages = path.join(root, "build/web/node_modules");
const { chromium } = createRequire(path.join(packages, "package.json"))("playwright-core");
const axe = await readFile(path.join(packages, "axe-core/axe.min.js"), "utf8");
const binary = path.resolve(process.env.AGENTRT_BIN ?? path.join(root, "build/release/agentrt"));
const run = promisify(execFile);

const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync"];

// A daemon in a folder of its own, with script models.
export class World {
  static async create(scripts) {
    const world = new World();
    world.folder = await mkdtemp(path.join(tmpdir(), "agentrt_page_"));
    world.workspace = path.join(world.folder, "workspace");
    await mkdir(world.workspace);
    await mkdir(path.join(world.folder, "config/agentrt"), { recursive: true });
    let config = `[routing]\ndefault = "${Object.keys(scripts)[0]}"\n`;
    for (const [name, lines] of Object.entries(scripts)) {
      const file = path.join(world.folder, `${name}.jsonl`);
      await writeFile(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
      config += `[models.${name}]\nprovider = "script"\nscript = "${file}"\n`;
    }
    await writeFile(path.join(world.folder, "config/agentrt/config.toml"), config);
    world.environment = { PATH: process.env.PATH, HOME: world.folder, LANG: "C.UTF-8",
      AGENTRT_HOME: path.join(world.folder, "data"),
      XDG_CONFIG_HOME: path.join(world.folder, "config") };
    await world.start();
    return world;
  }

  // A restart listens on the same port.
  async start() {
    this.process = spawn(binary, ["serve", "--listen", `127.0.0.1:${this.port ?? 0}`],
      { cwd: this.workspace, env: this.environment, stdio: ["ignore", "pipe", "inherit"] });
    const [line] = await once(createInterface({ input: this.process.stdout }), "line");
    this.url = /http:\S+$/.exec(line)[0];
    this.port = Number(this.url.split(":").pop());
    this.token = (await readFile(path.join(this.folder, "data/token"), "utf8")).trim();
  }

  async end(signal = "SIGTERM") {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const exit = once(this.process, "exit");
    this.process.kill(signal);
    await exit;
  }

  async remove() {
    await this.end();
    await rm(this.folder, { recursive: true, force: true });
  }

  async agentrt(...words) {
    return (await run(binary, words, { cwd: this.workspace, env: this.environment })).stdout.trim();
  }

  async call(command, params) {
    const reply = await fetch(`${this.url}/v1/commands/${command}`, { method: "POST",
      headers: { Authorization: `Bearer ${this.token}`, "Content-Type": "application/json" },
      body: JSON.stringify(params) });
    const body = await reply.json();
    if (!reply.ok) throw new Error(`${command}: ${JSON.stringify(body)}`);
    return body;
  }

  submit(sessionId, text, options = {}) {
    return this.call("submit_turn", { sessionId, input: [{ type: "text", text }], options });
  }

  // Waits until a fact of the session matches.
  async fact(sessionId, matches) {
    return until(async () => {
      const page = await this.call("list_events", { sessionId, limit: 1000 }).catch(() => null);
      return page?.data.find(matches);
    }, "a fact");
  }
}

export async function until(read, what, ms = 15_000) {
  const end = Date.now() + ms;
  for (;;) {
    const found = await read();
    if (found) return found;
    if (Date.now() > end) throw new Error(`waited ${ms} ms for ${what}`);
    await new Promise((resolve) => { setTimeout(resolve, 50); });
  }
}

// A browser with an empty profile, whose pages collect everything that must not happen.
export class Browser {
  static async open() {
    const browser = new Browser();
    browser.profile = await mkdtemp(path.join(tmpdir(), "agentrt_browser_"));
    browser.context = await chromium.launchPersistentContext(browser.profile,
      { executablePath: "/usr/bin/chromium", headless: true, args: flags,
        viewport: { width: 1280, height: 800 } });
    browser.context.setDefaultTimeout(15_000);
    browser.problems = [];
    browser.requests = [];
    // Connection faults are the subject of some tests; the browser reports them by itself.
    const expected = /Failed to load resource|net::ERR_/;
    browser.context.on("page", (page) => {
      page.on("console", (message) => {
        if (message.type() === "error" && !expected.test(message.text()))
          browser.problems.push(message.text());
      });
      page.on("pageerror", (error) => browser.problems.push(String(error.stack)));
      page.on("request", (request) => browser.requests.push(request.url()));
    });
    return browser;
  }

  // A page that is signed in through a fresh link.
  async page(world, ...words) {
    const page = await this.context.newPage();
    await page.goto(await world.agentrt("open", ...words));
    await page.getByTestId("connection").waitFor();
    return page;
  }

  async close() {
    await this.context.close();
    await rm(this.profile, { recursive: true, force: true });
  }
}

export async function show(page, hash) {
  await page.evaluate((wanted) => { location.hash = wanted; }, hash);
}

export function state(page, wanted) {
  return page.locator(`[data-testid=connection][data-state=${wanted}]`).waitFor();
}

// The violations that axe finds, as short texts.
export async function violations(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run(document,
    { runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"] }));
  return found.violations.flatMap((each) => each.nodes.map((node) =>
    `${each.id}: ${node.html.slice(0, 160)}`));
}
