// What the agent did, turn by turn, with the composer below.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Entry, Thread, Turn, View } from "../log/view";
import { go, route, sessionPath } from "../route";
import { count, duration, oneLine, plural } from "../text/format";
import { Button, Empty, scrollToEnd, shortId, Time } from "../ui/parts";
import { Shape, Status, toneOf } from "../ui/status";
import { ApprovalCard } from "./approval";
import { Composer } from "./composer";
import { EntryView, isStep, Plan } from "./entry";
import type { Shown } from "./session";

const turnsAtFirst = 30;
const nearEnd = 120;  // pixels from the end of the page that count as "at the end"

export function threadName(view: View, threadId: string): string {
  const agent = [...view.subagents.values()].find((each) => each.threadId === threadId);
  return agent ? `${agent.role} (subagent)` : shortId(threadId);
}

// The thread of the conversation: not one that a subagent or an item of a job works on.
function mainThread(view: View): Thread | undefined {
  const theirs = new Set([...view.subagents.values()].map((each) => each.threadId));
  for (const job of view.jobs.values())
    for (const item of job.items.values()) if (item.threadId) theirs.add(item.threadId);
  const own = [...view.threads.values()].filter((each) => !theirs.has(each.threadId));
  return own.find((each) => each.activeTurnId) ?? own.find((each) => each.threadId === "main") ??
    own[own.length - 1];
}

// Follows the end of the page while the reader is there; otherwise counts what is new.
function useEnd(key: string, size: number, follow: boolean): { fresh: number; jump: () => void } {
  const seen = useRef(size);
  const atEnd = useRef(true);
  const [fresh, setFresh] = useState(0);
  useEffect(() => {
    const scroll = () => {
      const page = document.documentElement;
      atEnd.current = page.scrollHeight - page.scrollTop - innerHeight < nearEnd;
      if (atEnd.current) {
        seen.current = Math.max(seen.current, 0);
        setFresh(0);
      }
    };
    addEventListener("scroll", scroll, { passive: true });
    return () => removeEventListener("scroll", scroll);
  }, []);
  useLayoutEffect(() => {
    seen.current = size;
    setFresh(0);
    atEnd.current = true;
    if (follow) scrollToEnd();
  }, [key]);
  useLayoutEffect(() => {
    if (size <= seen.current || !follow) return;
    if (atEnd.current) scrollToEnd();
    else setFresh((before) => before + size - seen.current);
    seen.current = size;
  });
  return { fresh, jump: () => {
    setFresh(0);
    scrollTo({ top: document.documentElement.scrollHeight });
  } };
}

// Shown when the turn has ended. Until then its state is beside the prompt, where new content does
// not move it.
function TurnFoot({ turn }: { turn: Turn }) {
  const usage = turn.usage;
  return <footer class="turn-foot">
    <Status word={turn.status} quiet />
    {turn.durationMs !== undefined && <span>{duration(turn.durationMs)}</span>}
    {turn.model && <span>{oneLine(turn.model, 40)}</span>}
    {usage && <span>{count(usage.inputTokens)} in · {count(usage.outputTokens)} out</span>}
    {turn.error && <span class="error-text">{oneLine(turn.error.message, 200)}</span>}
    {!turn.error && turn.reason && <span>{oneLine(turn.reason, 200)}</span>}
    <span class="turn-when"><Time at={turn.endedAt ?? turn.startedAt ?? turn.submittedAt} /></span>
  </footer>;
}

// Calls that follow each other are one block; texts and open questions stand alone.
function blocksOf(turn: Turn, shown: Shown): Entry[][] {
  const out: Entry[][] = [];
  let steps: Entry[] | null = null;
  for (const entry of turn.entries) {
    if (isStep(entry, shown)) {
      if (!steps) out.push(steps = []);
      steps.push(entry);
    } else {
      steps = null;
      out.push([entry]);
    }
  }
  return out;
}

function TurnView({ turn, shown }: { turn: Turn; shown: Shown }) {
  return <section class="turn" id={`turn-${turn.turnId}`} aria-label="Turn">
    {blocksOf(turn, shown).map((block) => {
      const entries = block.map((entry) =>
        <EntryView key={entry.id} entry={entry} shown={shown} turn={turn} />);
      return isStep(block[0]!, shown)
        ? <div key={block[0]!.id} class="steps">{entries}</div> : entries;
    })}
    {turn.endedAt && <TurnFoot turn={turn} />}
  </section>;
}

function Picker({ view, threadId, onPick }:
  { view: View; threadId: string; onPick: (threadId: string) => void }) {
  if (view.threads.size < 2) return null;
  return <label class="picker">Thread{" "}
    <select value={threadId} onChange={(event) => onPick(event.currentTarget.value)}>
      {[...view.threads.values()].map((each) => <option key={each.threadId} value={each.threadId}>
        {threadName(view, each.threadId)} · {plural(each.turnIds.length, "turn")}</option>)}
    </select></label>;
}

// The newest plan of the thread.
function planOf(turns: Turn[]): Entry | undefined {
  for (const turn of [...turns].reverse()) {
    const plan = [...turn.entries].reverse().find((entry) => entry.kind === "todo");
    if (plan) return plan;
  }
  return undefined;
}

function Rail({ view, turns }: { view: View; turns: Turn[] }) {
  const changed = new Map<string, { added: number; removed: number }>();
  for (const turn of view.turns.values())
    for (const entry of turn.entries)
      if (entry.change) {
        const sum = changed.get(entry.change.path) ?? { added: 0, removed: 0 };
        sum.added += entry.change.linesAdded;
        sum.removed += entry.change.linesRemoved;
        changed.set(entry.change.path, sum);
      }
  const jump = (turnId: string) =>
    document.getElementById(`turn-${turnId}`)?.scrollIntoView({ block: "start" });
  const plan = planOf(turns);
  return <aside class="rail" aria-label="Outline">
    {plan && <><h2>Plan</h2><Plan args={plan.args} /></>}
    <h2>Turns</h2>
    <ol class="outline">{turns.map((turn) => <li key={turn.turnId}>
      <button type="button" onClick={() => jump(turn.turnId)}>
        <Shape tone={toneOf(turn.status)} /><span class="visually-hidden">{turn.status}</span>
        <span>{oneLine(turn.entries.find((each) => each.kind === "input")?.text ?? "turn", 60)}
        </span></button></li>)}</ol>
    {changed.size > 0 && <><h2>Files changed</h2>
      <ul class="changed">{[...changed].map(([path, sum]) => <li key={path} title={path}>
        <span>{path.split("/").pop()}</span>
        <span class="added">+{sum.added}</span> <span class="removed">-{sum.removed}</span>
      </li>)}</ul></>}
    {view.notices.length > 0 && <><h2>Warnings</h2>
      <ul class="notices">{view.notices.slice(-5).map((each) => <li key={each.sequence}>
        <Status word={each.code} tone={each.level === "error" ? "failed" : "waiting"} quiet />
        {oneLine(each.message, 200)}</li>)}</ul></>}
  </aside>;
}

// Open approvals of other threads, such as those of subagents: the session waits for them, too.
function OtherAsks({ shown, threadId }: { shown: Shown; threadId: string }) {
  const open = [...shown.view.actions.values()].filter((action) =>
    !action.resolved && action.threadId !== threadId);
  if (open.length === 0) return null;
  return <section class="other-asks" aria-label="Asked by other threads">
    {open.map((action) => <ApprovalCard key={action.actionId} action={action} past={shown.past}
      asker={threadName(shown.view, action.threadId ?? "")} />)}
  </section>;
}

export function Timeline({ shown }: { shown: Shown }) {
  const { view, log, past } = shown;
  const here = route.value;
  const wanted = here.page === "session" ? here.thread : null;
  // The thread that is being read stays, also if another one starts to work.
  const read = useRef("");
  const thread = (wanted && view.threads.get(wanted)) || view.threads.get(read.current) ||
    mainThread(view);
  if (thread && !past) read.current = thread.threadId;
  const [most, setMost] = useState(turnsAtFirst);
  const turns = (thread?.turnIds ?? []).map((id) => view.turns.get(id)!)
    .filter((turn) => turn.startedAt || !thread!.queue.includes(turn.turnId));
  const size = turns.reduce((sum, turn) => sum + turn.entries.length, 0);
  const { fresh, jump } = useEnd(`${thread?.threadId}:${past}`, size, !past);
  const visible = turns.slice(-most);
  const pick = (threadId: string) => go(sessionPath(log.sessionId, "timeline",
    { at: past ? view.asOf : null, thread: threadId }));
  return <div class="columns">
    <div class="column">
      {thread && <Picker view={view} threadId={thread.threadId} onPick={pick} />}
      <div class="timeline" data-testid="timeline">
        {turns.length > most && <Button onClick={() => setMost(most + turnsAtFirst)}>
          Show earlier turns ({turns.length - most})</Button>}
        {turns.length === 0 && <Empty title={past ? "No turn had started yet" : "No turns yet"}>
          A turn is one prompt and all the work it causes. Write the first prompt below.</Empty>}
        {visible.map((turn) => <TurnView key={turn.turnId} turn={turn} shown={shown} />)}
      </div>
      <OtherAsks shown={shown} threadId={thread?.threadId ?? ""} />
      {fresh > 0 && <button type="button" class="fresh" onClick={jump}>{fresh} new ↓</button>}
      <Composer shown={shown} thread={thread} />
    </div>
    <Rail view={view} turns={visible.filter((turn) => toneOf(turn.status) !== "unknown")} />
  </div>;
}
