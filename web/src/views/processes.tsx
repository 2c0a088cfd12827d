// What runs and ran: processes with their output, input, size and end.
import { useState } from "preact/hooks";
import { can, client } from "../auth";
import type { Process } from "../log/view";
import { bytes, clipLines, duration, now, oneLine, withoutAnsi } from "../text/format";
import { Button, Copy, Empty, Problem, shortId, Time } from "../ui/parts";
import { Status } from "../ui/status";
import type { Shown } from "./session";
import { Terminal } from "./terminal";

const shownMax = 100;

function Input({ process, shown }: { process: Process; shown: Shown }) {
  const [text, setText] = useState("");
  const [problem, setProblem] = useState("");
  const write = (close: boolean) => {
    client.value!.call("write_process_stdin", { sessionId: shown.log.sessionId,
      processId: process.processId, input: close ? "" : `${text}\n`, ...(close ? { close } : {}) })
      .then(() => {
        setText("");
        setProblem("");
      }, (error: Error) => setProblem(error.message));
  };
  return <form class="stdin" onSubmit={(event) => {
    event.preventDefault();
    write(false);
  }}>
    <input aria-label="Input for the process" placeholder="Input, sent with Enter" value={text}
      disabled={!can("submit")} onInput={(event) => setText(event.currentTarget.value)} />
    <Button small scope="submit" type="submit">Send</Button>
    <Button small scope="submit" onClick={() => write(true)} title="No further input">End input
    </Button>
    {problem && <Problem message={problem} />}
  </form>;
}

function Row({ process, shown }: { process: Process; shown: Shown }) {
  const [open, setOpen] = useState(process.status === "running");
  const [sure, setSure] = useState(false);
  const [problem, setProblem] = useState("");
  const running = process.status === "running";
  const ended = process.endedAt ? Date.parse(process.endedAt) : now.value;
  const end = () => {
    if (!sure) return setSure(true);
    setSure(false);
    client.value!.call("terminate_process", { sessionId: shown.log.sessionId,
      processId: process.processId, reason: "ended on the page" })
      .then(() => setProblem(""), (error: Error) => setProblem(error.message));
    return undefined;
  };
  return <article class="process" data-testid="process-row" data-status={process.status}>
    <div class="process-head"><Status word={process.status}
      {...(process.exitCode ? { tone: "failed" as const } : {})} />
      <button type="button" class="process-command" aria-expanded={open} data-row
        title={open ? "" : "Output"} onClick={() => setOpen(!open)}>
        <code>{oneLine(process.command, 200)}</code></button>
      <span class="process-meta">
      {process.exitCode !== undefined && <span>exit {process.exitCode}</span>}
      <span>{duration(Math.max(0, ended - Date.parse(process.startedAt)))}</span>
      <span>{bytes(process.bytes)}</span>
      {process.background && <span>background</span>}
      {process.tty && <span>terminal</span>}
      {process.reason && <span>{oneLine(process.reason, 120)}</span>}
      {process.missing > 0 && <span class="error-text">
        the log lacks {bytes(process.missing)}</span>}
      <Time at={process.startedAt} />
      <Copy text={process.processId} label={shortId(process.processId)} /></span>
    </div>
    {open && <>
      {process.tty ? <Terminal process={process} shown={shown} />
        : <pre class="output" data-testid="terminal" tabIndex={0}>
          {process.clipped > 0 && <span class="muted">({bytes(process.clipped)} before this are in
            the log){"\n"}</span>}
          {clipLines(withoutAnsi(process.output)) ||
            <span class="muted">No output yet</span>}</pre>}
      {running && !shown.past && <Input process={process} shown={shown} />}
    </>}
    {running && !shown.past && <div class="node-foot">
      <Button small danger={sure} scope="submit" onClick={end}>
        {sure ? "Confirm: terminate" : "Terminate"}</Button>
      {sure && <Button small onClick={() => setSure(false)}>Not yet</Button>}
      {problem && <span class="error-text" role="alert">{problem}</span>}
    </div>}
  </article>;
}

export function Processes({ shown }: { shown: Shown }) {
  const all = [...shown.view.processes.values()].reverse();
  const running = all.filter((each) => each.status === "running");
  const rest = all.filter((each) => each.status !== "running");
  return <div class="cards">
    {all.length === 0 && <Empty title="No processes" command={shown.past ? ""
      : `agentrt run --session ${shown.log.sessionId} "Run the tests"`}>
      A process appears here when an agent runs a command.</Empty>}
    {running.length > 0 && <h2 class="group">Running{" "}
      <span class="count">{running.length}</span></h2>}
    {running.length > 0 && <div class="processes">{running.map((each) =>
      <Row key={each.processId} process={each} shown={shown} />)}</div>}
    {rest.length > 0 && <><h2 class="group">Ended <span class="count">{rest.length}</span></h2>
      <div class="processes">{rest.slice(0, shownMax).map((each) =>
        <Row key={each.processId} process={each} shown={shown} />)}</div></>}
    {rest.length > shownMax && <p class="muted">The newest {shownMax} are shown; the log has all.
    </p>}
  </div>;
}
