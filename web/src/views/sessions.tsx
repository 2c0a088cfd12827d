// All sessions: those that need a person first, then by latest activity. The daemon sorts and
// filters them, so that a filter finds old sessions too.
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { client } from "../auth";
import { openActions, poll, readSessions, type SessionRow } from "../data";
import { sessionPath } from "../route";
import { oneLine, plural } from "../text/format";
import { Button, Empty, Link, ReadAt, Skeleton, Time } from "../ui/parts";
import { Status, toneOf } from "../ui/status";
import { asAction, question } from "./approval";

const refreshMs = 3_000;
const typingMs = 150;     // after the last key, before the daemon is asked
const filterMax = 80;     // characters; the daemon takes 256 bytes

const waitingWords: SessionRow["status"][] =
  ["waiting_permission", "waiting_input", "waiting_resource", "blocked"];

// What was found for a filter; it stays when the view is left, so that it is there at once.
interface Found {
  words: string;
  rows: Map<string, SessionRow>;
  older: string | undefined;   // the cursor of rows that are not read yet
  at: number;
}
const found = signal<Found | null>(null);

function title(row: SessionRow): string {
  return oneLine(row.title ?? row.preview ?? "", 120) || "No prompt yet";
}

// Adds rows to those of the same filter; the answer to another filter replaces them.
function add(words: string, rows: SessionRow[], older: string | undefined, first: boolean): void {
  const known = found.value?.words === words ? found.value : null;
  const next = new Map(known?.rows ?? []);
  for (const row of rows) next.set(row.sessionId, row);
  found.value = { words, rows: next, older: first && known ? known.older : older, at: Date.now() };
}

function Row({ row, waits }: { row: SessionRow; waits: string | undefined }) {
  return <li>
    <Link to={sessionPath(row.sessionId)} class="session-row" data-row data-testid="session-row"
      data-session-id={row.sessionId} data-status={row.status}>
      <Status word={row.status} quiet={toneOf(row.status) === "succeeded"} />
      <span class="session-title">{title(row)}
        {waits && <span class="session-waits">waits: {oneLine(waits, 100)}</span>}</span>
      <span class="session-folder" title={row.cwd}>{oneLine(row.cwd, 60)}</span>
      <span class="session-turns">{plural(row.turns, "turn")}
        {(row.processes ?? 0) > 0 && ` · ${plural(row.processes!, "process", "processes")}`}</span>
      <span class="session-time"><Time at={row.updatedAt} /></span>
    </Link>
  </li>;
}

function Group({ name, list, waits }:
  { name: string; list: SessionRow[]; waits: Map<string, string> }) {
  if (list.length === 0) return null;
  return <section aria-label={name}>
    <h2 class="group">{name} <span class="count">{list.length}</span></h2>
    <ul class="session-list">{list.map((row) =>
      <Row key={row.sessionId} row={row} waits={waits.get(row.sessionId)} />)}</ul>
  </section>;
}

function useSessions(words: string) {
  const rt = client.value!;
  useEffect(() => {
    let stop = () => {};
    const timer = setTimeout(() => {
      stop = poll(refreshMs, async (abort) => {
        // Sessions that wait for a person may have changed last long ago.
        const [waiting, newest] = await Promise.all([
          readSessions(rt, { text: words, status: waitingWords }, abort),
          readSessions(rt, { text: words }, abort)]);
        add(words, [...waiting.rows, ...newest.rows], newest.nextCursor, true);
      }, { report: true });
    }, found.value && found.value.words !== words ? typingMs : 0);
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [rt, words]);
  const older = async () => {
    const cursor = found.value?.older;
    if (!cursor) return;
    const page = await readSessions(rt, { text: words, cursor }, new AbortController().signal);
    add(words, page.rows, page.nextCursor, false);
  };
  return { older };
}

export function Sessions() {
  const [typed, setTyped] = useState(found.value?.words ?? "");
  const words = typed.trim();
  const { older } = useSessions(words);
  const [problem, setProblem] = useState("");
  const waits = new Map((openActions.value ?? []).map((action) =>
    [action.sessionId, question(asAction(action))]));
  const all = [...found.value?.rows.values() ?? []].filter((row) => !row.archived)
    .sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1));
  const waiting = all.filter((row) => toneOf(row.status) === "waiting");
  const working = all.filter((row) => toneOf(row.status) === "running");
  const rest = all.filter((row) => !waiting.includes(row) && !working.includes(row));
  return <main class="page" tabIndex={-1}>
    <div class="page-head">
      <h1>Sessions</h1>
      {found.value && <ReadAt at={found.value.at} />}
      <input type="search" class="filter" placeholder="Filter" aria-label="Filter sessions"
        data-primary-input maxLength={filterMax} value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)} />
    </div>
    {found.value === null ? <Skeleton rows={8} /> : <div data-testid="session-list">
      {all.length === 0 && found.value.words === "" && <Empty title="No sessions yet"
        command={'agentrt run "…"'}>
        A session is one piece of work with an agent. Start one in a terminal:</Empty>}
      {all.length === 0 && found.value.words !== "" &&
        <Empty title={`No session matches “${oneLine(found.value.words, 80)}”`}>
          The filter looks at the id, title, folder and first words of each session.</Empty>}
      <Group name="Needs you" list={waiting} waits={waits} />
      <Group name="At work" list={working} waits={waits} />
      <Group name="Recent" list={rest} waits={waits} />
      {found.value.older && <div class="more-row">
        <Button onClick={() => void older().then(() => setProblem(""),
          (error: Error) => setProblem(error.message))}>Show older sessions</Button>
        {problem && <span class="error-text" role="alert">{problem}</span>}</div>}
    </div>}
  </main>;
}
