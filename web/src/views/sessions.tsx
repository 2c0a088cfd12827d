// All sessions: those that need a person first, then by latest activity.
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { client } from "../auth";
import { openActions, poll, readSessions, type SessionRow } from "../data";
import { sessionPath } from "../route";
import { oneLine, plural } from "../text/format";
import { Button, Empty, Link, Skeleton, Time } from "../ui/parts";
import { Status, toneOf } from "../ui/status";

const refreshMs = 3_000;
const shownAtFirst = 200;

const rows = signal<Map<string, SessionRow> | null>(null);
const olderCursor = signal<string | undefined>(undefined);

function merge(found: SessionRow[]): void {
  const next = new Map(rows.value ?? []);
  for (const row of found) next.set(row.sessionId, row);
  rows.value = next;
}

function title(row: SessionRow): string {
  return oneLine(row.title ?? row.preview ?? "", 120) || "No prompt yet";
}

function matches(row: SessionRow, words: string): boolean {
  const text = `${row.sessionId} ${row.title ?? ""} ${row.cwd} ${row.preview ?? ""} ${row.status}`;
  return text.toLowerCase().includes(words.toLowerCase());
}

function Row({ row, waits }: { row: SessionRow; waits: string | undefined }) {
  return <li>
    <Link to={sessionPath(row.sessionId)} class="session-row" data-row data-testid="session-row"
      data-session-id={row.sessionId} data-status={row.status}>
      <Status word={row.status} />
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

export function Sessions() {
  const rt = client.value!;
  const [words, setWords] = useState("");
  const [most, setMost] = useState(shownAtFirst);
  useEffect(() => poll(refreshMs, async (abort) => {
    const page = await readSessions(rt, undefined, abort);
    if (rows.value === null) olderCursor.value = page.nextCursor;
    merge(page.rows);
  }, { report: true }), [rt]);
  const older = async () => {
    const page = await readSessions(rt, olderCursor.value, new AbortController().signal);
    olderCursor.value = page.nextCursor;
    merge(page.rows);
    setMost((before) => before + shownAtFirst);
  };
  const waits = new Map((openActions.value ?? []).map((action) =>
    [action.sessionId, action.prompt ?? action.toolName ?? action.actionType]));
  const all = [...rows.value?.values() ?? []]
    .filter((row) => !row.archived && matches(row, words))
    .sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1));
  const waiting = all.filter((row) => toneOf(row.status) === "waiting");
  const working = all.filter((row) => toneOf(row.status) === "running");
  const rest = all.filter((row) => !waiting.includes(row) && !working.includes(row));
  return <main class="page" tabIndex={-1}>
    <div class="page-head">
      <h1>Sessions</h1>
      <input type="search" class="filter" placeholder="Filter" aria-label="Filter sessions"
        data-primary-input value={words} onInput={(event) => setWords(event.currentTarget.value)} />
    </div>
    {rows.value === null ? <Skeleton rows={8} /> : <div data-testid="session-list">
      {rows.value.size === 0 && <Empty title="No sessions yet" command={'agentrt run "…"'}>
        A session is one piece of work with an agent. Start one in a terminal:</Empty>}
      {rows.value.size > 0 && all.length === 0 &&
        <Empty title={`No session matches “${words}”`}>The filter looks at the id, title, folder,
          prompt and status of the sessions that are loaded.</Empty>}
      <Group name="Needs you" list={waiting} waits={waits} />
      <Group name="At work" list={working} waits={waits} />
      <Group name="Recent" list={rest.slice(0, most)} waits={waits} />
      {(rest.length > most || olderCursor.value) &&
        <div class="more-row">
          <Button onClick={() => void older()}>Show older sessions</Button></div>}
    </div>}
  </main>;
}
