// A terminal: the output of a process with a terminal of its own, interpreted by @xterm/headless
// and drawn as rows of our own, because xterm's renderer needs inline styles.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Terminal as Headless } from "@xterm/headless";
import { client } from "../auth";
import type { Process } from "../log/view";
import { safeText } from "../text/format";
import { Button } from "../ui/parts";
import type { Shown } from "./session";

const rowsDefault = 24;
const columnsDefault = 80;

function lines(screen: Headless): string[] {
  const buffer = screen.buffer.active;
  return Array.from({ length: screen.rows }, (_, row) =>
    buffer.getLine(buffer.baseY + row)?.translateToString(true) ?? "");
}

export function Terminal({ process, shown }: { process: Process; shown: Shown }) {
  const [rows, setRows] = useState<string[]>([]);
  const [problem, setProblem] = useState("");
  const screen = useRef<Headless | null>(null);
  const written = useRef(0);
  const height = process.rows ?? rowsDefault;
  const width = process.columns ?? columnsDefault;
  useEffect(() => {
    let current = true;
    void import("@xterm/headless").then((library) => {
      if (!current) return;
      const found = library as unknown as { Terminal?: typeof Headless;
        default?: { Terminal: typeof Headless } };
      const Screen = found.Terminal ?? found.default!.Terminal;
      screen.current = new Screen({ rows: height, cols: width, scrollback: 0,
        allowProposedApi: true });
      written.current = 0;
      draw();
    });
    return () => {
      current = false;
      screen.current?.dispose();
      screen.current = null;
    };
  }, [height, width, process.processId, shown.past]);
  const draw = () => {
    const at = screen.current;
    if (!at) return;
    const from = Math.max(0, written.current - process.clipped);
    const text = process.output.slice(from);
    written.current = process.clipped + process.output.length;
    at.write(text, () => setRows(lines(at)));
  };
  useEffect(draw, [process.output, process.output.length]);
  const resize = (columns: number) => {
    client.value!.call("resize_process", { sessionId: shown.log.sessionId,
      processId: process.processId, rows: height, columns })
      .then(() => setProblem(""), (error: Error) => setProblem(error.message));
  };
  return <div class="terminal" data-testid="terminal" role="log" tabIndex={0}
    aria-label="Terminal">
    {rows.map((row, at) => <div key={at} class="terminal-row">{safeText(row) || "\u00a0"}</div>)}
    {process.status === "running" && !shown.past && <div class="terminal-foot">
      <span>{width} × {height}</span>
      {[80, 120].map((columns) => <Button key={columns} small scope="submit"
        disabled={columns === width} onClick={() => resize(columns)}>{columns} columns</Button>)}
      {problem && <span class="error-text" role="alert">{problem}</span>}
    </div>}
  </div>;
}
