// One session: its header, the tabs of its views, and time travel over all of them.
import { useEffect, useMemo, useState } from "preact/hooks";
import { client } from "../auth";
import { SessionLog } from "../log/session_log";
import type { View } from "../log/view";
import { go, route, sessionPath, type SessionView } from "../route";
import { oneLine, plural } from "../text/format";
import { AsOf, Button, Copy, Empty, Link, Problem, shortId, Skeleton } from "../ui/parts";
import { Status } from "../ui/status";
import { Agents } from "./agents";
import { Channels } from "./channels";
import { Log } from "./log";
import { Policy } from "./policy";
import { Processes } from "./processes";
import { Scrubber } from "./scrubber";
import { Tasks } from "./tasks";
import { Timeline } from "./timeline";
import { Usage } from "./usage";

const tabs: Array<[SessionView, string]> = [["timeline", "Timeline"], ["log", "Log"],
  ["tasks", "Tasks"], ["agents", "Agents"], ["processes", "Processes"], ["usage", "Usage"],
  ["policy", "Policy"], ["channels", "Channels"]];

export interface Shown {
  log: SessionLog;
  view: View;
  past: boolean;
}

// The view at the moment that the address names: the present, or the fold of an earlier prefix.
// While positions change quickly, one is computed at a time and the newest wins.
function usePast(log: SessionLog, at: number | null): View | null {
  const [past, setPast] = useState<View | null>(null);
  const ready = log.ready.value;
  useEffect(() => {
    if (at === null || !ready) {
      setPast(null);
      return undefined;
    }
    const abort = new AbortController();
    log.past(at, abort.signal).then((view) => {
      if (!abort.signal.aborted) setPast(view);
    }, () => {});
    return () => abort.abort();
  }, [log, at, ready]);
  return past;
}

export function statusOf(view: View): string {
  const open = [...view.actions.values()].find((action) => !action.resolved);
  const threads = [...view.threads.values()];
  const busy = threads.find((each) => each.activeTurnId);
  if (open) return open.required.actionType === "permission" ? "waiting_permission"
    : "waiting_input";
  return busy?.status ?? threads.find((each) => each.status !== "idle")?.status ?? "idle";
}

function Head({ shown, at, name }: { shown: Shown; at: number | null; name: SessionView }) {
  const { view, log } = shown;
  const first = [...view.turns.values()][0]?.entries.find((entry) => entry.kind === "input")?.text;
  const counts: Partial<Record<SessionView, number>> = {
    tasks: [...view.tasks.values()].filter((task) => task.kind !== "turn").length + view.jobs.size,
    agents: view.subagents.size,
    processes: [...view.processes.values()].filter((each) => each.status === "running").length,
    channels: [...view.channels.values()].filter((each) => each.status === "connected").length,
  };
  return <header class="session-head">
    <div class="session-name">
      <h1>{oneLine(view.title ?? first ?? "", 100) || shortId(log.sessionId)}</h1>
      <Status word={statusOf(view)} />
    </div>
    <div class="session-meta">
      <Copy text={log.sessionId} label={shortId(log.sessionId)} />
      {view.cwd && <Copy text={view.cwd} />}
      <span>{plural(view.turns.size, "turn")}</span>
      <AsOf sequence={view.asOf} past={shown.past} from={view.from} />
    </div>
    <nav class="tabs" aria-label="Views of the session">
      {tabs.map(([tab, label]) => <Link key={tab} to={sessionPath(log.sessionId, tab, { at })}
        {...(tab === name ? { "aria-current": "page" } : {})}>
        {label}{counts[tab] ? <span class="count">{counts[tab]}</span> : null}</Link>)}
    </nav>
  </header>;
}

function Body({ shown, name }: { shown: Shown; name: SessionView }) {
  switch (name) {
    case "log":
      return <Log shown={shown} />;
    case "tasks":
      return <Tasks shown={shown} />;
    case "agents":
      return <Agents shown={shown} />;
    case "processes":
      return <Processes shown={shown} />;
    case "usage":
      return <Usage shown={shown} />;
    case "policy":
      return <Policy shown={shown} />;
    case "channels":
      return <Channels shown={shown} />;
    default:
      return <Timeline shown={shown} />;
  }
}

export function Session({ sessionId }: { sessionId: string }) {
  const rt = client.value!;
  const log = useMemo(() => new SessionLog(rt, sessionId), [rt, sessionId]);
  useEffect(() => {
    log.open();
    return () => log.close();
  }, [log]);
  const here = route.value;
  const at = here.page === "session" ? here.at : null;
  const name = here.page === "session" ? here.view : "timeline";
  const past = usePast(log, at);
  void log.version.value;  // renders again when the view changed
  if (log.error.value) {
    const missing = log.error.value.code === "not_found";
    return <main class="page" tabIndex={-1}><Empty title={missing
      ? `There is no session ${oneLine(sessionId, 60)}` : log.error.value.message}>
      <Link to="/">All sessions</Link></Empty></main>;
  }
  if (!log.ready.value || (at !== null && !past))
    return <main class="page" tabIndex={-1}><Skeleton rows={7} tall /></main>;
  const shown: Shown = { log, view: past ?? log.view, past: past !== null };
  return <main class={`page session ${shown.past ? "session-past" : ""}`} tabIndex={-1}>
    <Head shown={shown} at={at} name={name} />
    <Scrubber log={log} at={at} name={name} />
    {shown.past && <div class="banner" role="note">This is what was known at fact {shown.view.asOf}.
      Nothing can be answered or sent. <Button small
        onClick={() => go(sessionPath(sessionId, name))}>Return to the present</Button></div>}
    {log.notice.value && <Problem message={log.notice.value} />}
    {shown.view.from > 1 && <div class="banner" role="note">This session is long. The view starts at
      fact {shown.view.from}; the log has everything.</div>}
    <Body shown={shown} name={name} />
  </main>;
}
