// One entry of the timeline: a text, a tool call with its output, a change of a file, an approval.
import { useMemo } from "preact/hooks";
import { subject } from "../log/fold_tools";
import type { Entry, Turn } from "../log/view";
import { bytes, clipLines, duration, oneLine, plural, safeText, withoutAnsi }
  from "../text/format";
import { Diff } from "../text/diff";
import { Markdown } from "../text/markdown";
import { Fold, shortId, Time } from "../ui/parts";
import { Shape, Status, toneOf } from "../ui/status";
import { ApprovalCard, question } from "./approval";
import { Chain } from "./chain";
import type { Shown } from "./session";
import { Stored } from "./stored";

const outputShown = 16 * 1024;      // characters of an output in the timeline

function Output({ text, clipped }: { text: string; clipped: number }) {
  return useMemo(() => {
    const plain = withoutAnsi(text);
    const tail = plain.length > outputShown ? plain.slice(-outputShown) : plain;
    const hidden = clipped + plain.length - tail.length;
    return <pre class="output" tabIndex={0}>
      {hidden > 0 && <span class="muted">({bytes(hidden)} before this are in the log){"\n"}</span>}
      {clipLines(tail)}</pre>;
  }, [text, clipped]);
}

interface Step { step?: string; text?: string; title?: string; status?: string }

function stepsOf(args: unknown): Step[] {
  const given = args as { plan?: Step[]; steps?: Step[] } | undefined;
  const steps = given?.plan ?? given?.steps;
  return Array.isArray(steps) ? steps.filter((each) => typeof each === "object" && each) : [];
}

export function Plan({ args }: { args: unknown }) {
  const steps = stepsOf(args);
  return <ol class="plan">{steps.map((each, at) => <li key={at} class={`plan-${each.status ?? ""}`}>
    {each.status === "completed" ? <Shape tone="succeeded" />
      : each.status === "in_progress" ? <Shape tone="running" /> : <span class="plan-open" />}
    <span class="visually-hidden">{each.status ?? "unknown"}</span>
    <span>{safeText(each.step ?? each.text ?? each.title ?? "")}</span></li>)}</ol>;
}

// Texts and open questions stand alone in the timeline; everything else is a step of a block.
export function isStep(entry: Entry, shown: Shown): boolean {
  if (entry.kind === "approval")
    return Boolean(shown.view.actions.get(entry.actionId ?? "")?.resolved);
  return !["input", "agent_message", "reasoning", "compaction", "error"].includes(entry.kind);
}

function ToolLine({ entry }: { entry: Entry }) {
  const text = subject(entry.args);
  if (entry.kind === "todo") {
    const steps = stepsOf(entry.args);
    const done = steps.filter((each) => each.status === "completed").length;
    return <code><b>Plan</b> {done > 0 ? `${done} of ${steps.length} done`
      : plural(steps.length, "step")}</code>;
  }
  if (entry.kind === "command")
    return <code><span class="muted">$ </span>{oneLine(text, 200)}</code>;
  return <code><b>{oneLine(entry.toolName ?? entry.kind, 60)}</b> {oneLine(text, 200)}</code>;
}

function Tool({ entry, shown, turn }: { entry: Entry; shown: Shown; turn: Turn }) {
  const process = entry.processId ? shown.view.processes.get(entry.processId) : undefined;
  const output = process?.output || entry.preview || "";
  const ran = process?.background && process.status === "running" ? "running" : entry.status;
  const failed = toneOf(ran) === "failed";
  const command = subject(entry.args);
  const summary = <span class="tool-line">
    <Shape tone={toneOf(ran)} />
    {entry.outsideSandbox && <span class="tag tag-failed">outside the sandbox</span>}
    <ToolLine entry={entry} />
    <span class="tool-meta">
      {entry.change && <><span class="added">+{entry.change.linesAdded}</span>{" "}
        <span class="removed">-{entry.change.linesRemoved}</span> </>}
      {entry.exitCode !== undefined && entry.exitCode !== 0 && <span class="error-text">
        exit {entry.exitCode} </span>}
      {process?.background ? "background"
        : Boolean(entry.durationMs) && duration(entry.durationMs!)}
      <span class="visually-hidden">{ran}</span>
    </span>
  </span>;
  // Of several plans only the first one is open; the newest is beside the timeline.
  const plan = entry.kind === "todo" && turn.entries.find((each) => each.kind === "todo") === entry;
  const open = entry.kind === "file_change" || plan || failed;
  return <Fold summary={summary} open={open} key={`${entry.id}:${failed}`}>
    {entry.kind === "todo" && <Plan args={entry.args} />}
    {entry.kind === "command" && (command.length > 90 || command.includes("\n")) &&
      <pre class="code code-command" tabIndex={0}>{safeText(command)}</pre>}
    {entry.diff && <Diff diff={entry.diff} />}
    {entry.kind !== "file_change" && entry.kind !== "todo" && output &&
      <Output text={output} clipped={process?.clipped ?? 0} />}
    {process && process.missing > 0 && <p class="muted">The log lacks {bytes(process.missing)} of
      this output.</p>}
    {entry.error && entry.error.category !== "exit_nonzero" && <p class="error-text">
      {entry.error.category}: {safeText(entry.error.message)}</p>}
    {entry.outputRef && !entry.diff && <Fold summary={<span>Stored output</span>}>
      <Stored outputRef={entry.outputRef} /></Fold>}
    {entry.decision?.chain && <Fold summary={<span class="muted">Why it was allowed or not:{" "}
      {entry.decision.decision} by {entry.decision.decisionSource}</span>}>
      <Chain verdicts={entry.decision.chain} decision={entry.decision.decision} /></Fold>}
  </Fold>;
}

function Answered({ entry, shown }: { entry: Entry; shown: Shown }) {
  const action = shown.view.actions.get(entry.actionId ?? "");
  if (!action) return null;
  if (!action.resolved) return <ApprovalCard action={action} past={shown.past} />;
  const { decision, scope, answeredBy, decisionSource, reason } = action.resolved;
  return <p class="answered"><Shape tone={toneOf(decision)} /><b>{oneLine(decision, 40)}</b>
    <span>{question(action)} By {shortId(answeredBy ?? decisionSource)}
      {scope && scope !== "once" ? `, for the ${scope}` : ""}
      {reason ? `: ${oneLine(reason, 120)}` : ""}</span>
    {action.resolvedAt && <span class="tool-meta"><Time at={action.resolvedAt} /></span>}</p>;
}

export function EntryView({ entry, shown, turn }: { entry: Entry; shown: Shown; turn: Turn }) {
  const attributes = { "data-testid": "item", "data-kind": entry.kind, class: `entry entry-${
    entry.kind}` };
  switch (entry.kind) {
    case "input":
      if (!entry.text) return null;
      return <div {...attributes}><div class="prompt">{safeText(entry.text)}</div></div>;
    case "agent_message":
      return entry.text ? <div {...attributes}><Markdown text={entry.text} /></div> : null;
    case "reasoning":
      return <div {...attributes}><Fold summary={<span class="muted">Reasoning
        {entry.streaming ? "…" : ""}</span>}><p class="reasoning">{safeText(entry.text)}</p></Fold>
      </div>;
    case "approval":
      return <div {...attributes}><Answered entry={entry} shown={shown} /></div>;
    case "compaction":
      return <div {...attributes}><p class="answered"><Status word={entry.status} quiet />
        <span>Compaction. {safeText(entry.error?.message ?? entry.text)}</span></p></div>;
    case "error":
      return <div {...attributes}><p class="error-text"><Shape tone="failed" />{" "}
        {safeText(entry.error?.message ?? entry.text)} {entry.text && `(${entry.text})`}</p></div>;
    default:
      return <div {...attributes} data-turn={turn.turnId}>
        <Tool entry={entry} shown={shown} turn={turn} /></div>;
  }
}
