// Reads that are repeated while a view is shown: the list of sessions, and the open actions.
import { signal } from "@preact/signals";
import { AgentrtError, type ActionSnapshot, type Agentrt, type CommandReplies } from "agentrt";
import { expire, me } from "./auth";
import { setConnection, whileVisible } from "./live";

export type SessionRow = CommandReplies["list_sessions"]["data"][number];

// Repeats `read` while the page is visible. Failures are reported as the connection's state.
export function poll(everyMs: number, read: (signal: AbortSignal) => Promise<void>,
                     options: { report: boolean }): () => void {
  return whileVisible(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const round = async () => {
      try {
        await read(abort.signal);
        if (!abort.signal.aborted && options.report) setConnection("live");
      } catch (error) {
        if (abort.signal.aborted) return;
        if (error instanceof AgentrtError && error.code === "unauthenticated") {
          setConnection("signed_out");
          return expire();
        }
        if (options.report) setConnection("reconnecting");
      }
      if (!abort.signal.aborted) timer = setTimeout(round, everyMs);
    };
    void round();
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  });
}

// The open actions of all sessions, for the badge and the inbox; null: not read yet.
export const openActions = signal<ActionSnapshot[] | null>(null);

export const actionsReadAt = signal(0);

export async function readActions(rt: Agentrt, abort: AbortSignal): Promise<void> {
  const bound = me.value?.sessionId;
  const page = await rt.call("list_actions",
    { limit: 200, ...(bound ? { sessionId: bound } : {}) }, { signal: abort });
  openActions.value = page.data as ActionSnapshot[];
  actionsReadAt.value = Date.now();
}

export interface SessionQuery {
  text: string;                     // of the filter; empty: all
  status?: SessionRow["status"][];
  cursor?: string;
}

export interface SessionPage {
  rows: SessionRow[];
  nextCursor?: string;
}

const sessionsAtOnce = 100;

// A page of sessions by their last change, or the one session of a token that is bound to it.
export async function readSessions(rt: Agentrt, query: SessionQuery,
                                   abort: AbortSignal): Promise<SessionPage> {
  const bound = me.value?.sessionId;
  if (bound) {
    const s = await rt.call("get_session", { sessionId: bound, limit: 1 }, { signal: abort });
    return { rows: [{ sessionId: s.sessionId, cwd: s.cwd, status: s.status, archived: s.archived,
      threads: s.threads.length, turns: s.history.length, createdAt: s.createdAt,
      updatedAt: s.updatedAt, ...(s.title === undefined ? {} : { title: s.title }) }] };
  }
  const page = await rt.call("list_sessions", { order: "updated", limit: sessionsAtOnce,
    ...(query.text ? { text: query.text } : {}), ...(query.status ? { status: query.status } : {}),
    ...(query.cursor ? { cursor: query.cursor } : {}) }, { signal: abort });
  return { rows: page.data, ...(page.nextCursor ? { nextCursor: page.nextCursor } : {}) };
}
