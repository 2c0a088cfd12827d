// A daemon of the tests, in its own folder, with script models. AGENTRT_BIN names the binary.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";

const binary = path.resolve(process.env.AGENTRT_BIN ?? "build/release/agentrt");

export const scripts = {
  main: [{ text: "Hello from the script.", deltas: 4,
    usage: { inputTokens: 10, outputTokens: 5 } }],
  asks: [{ text: "I need to run something.",
    toolCalls: [{ name: "shell", args: { command: "touch made; echo made it" } }] },
  { text: "It is made." }],
  slow: [{ text: "word ".repeat(60), deltas: 60, delayMs: 1500 }],
  long: [{ text: "x".repeat(300_000) }],
};

export class Home {
  static async create() {
    const home = new Home();
    home.folder = await mkdtemp(path.join(tmpdir(), "agentrt_client_"));
    home.data = path.join(home.folder, "data");
    home.workspace = path.join(home.folder, "workspace");
    await mkdir(home.workspace, { recursive: true });
    await mkdir(path.join(home.folder, "config/agentrt"), { recursive: true });
    let config = "";
    for (const [name, lines] of Object.entries(scripts)) {
      const file = path.join(home.folder, `${name}.jsonl`);
      await writeFile(file, lines.map((line) => JSON.stringify(line) + "\n").join(""));
      config += `[models.${name}]\nprovider = "script"\nscript = "${file}"\n`;
    }
    config += '[routing]\ndefault = "main"\n';
    await writeFile(path.join(home.folder, "config/agentrt/config.toml"), config);
    home.environment = { PATH: process.env.PATH, HOME: home.folder, LANG: "C.UTF-8",
      AGENTRT_HOME: home.data, XDG_CONFIG_HOME: path.join(home.folder, "config") };
    return home;
  }

  async remove() {
    await rm(this.folder, { recursive: true, force: true });
  }
}

export class Daemon {
  // `port` 0 picks a free one; a restart passes the former port.
  static async start(home, port = 0) {
    const daemon = new Daemon();
    daemon.home = home;
    daemon.process = spawn(binary, ["serve", "--listen", `127.0.0.1:${port}`],
      { cwd: home.workspace, env: home.environment, stdio: ["ignore", "pipe", "pipe"] });
    let errors = "";
    daemon.process.stderr.on("data", (data) => { errors += data; });
    const lines = createInterface({ input: daemon.process.stdout });
    const first = await Promise.race([once(lines, "line"),
      once(daemon.process, "exit").then(() => [`ended: ${errors}`])]);
    const url = /http:\/\/127\.0\.0\.1:\d+$/.exec(first[0]);
    if (!url) throw new Error(`serve said ${first[0]}`);
    daemon.url = url[0];
    daemon.port = Number(daemon.url.split(":").pop());
    daemon.token = (await readFile(path.join(home.data, "token"), "utf8")).trim();
    return daemon;
  }

  async end(signal = "SIGTERM") {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const exit = once(this.process, "exit");
    this.process.kill(signal);
    await exit;
  }
}
