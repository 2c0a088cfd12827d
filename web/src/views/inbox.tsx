// Open actions of all sessions, one card each.
import { useEffect, useState } from "preact/hooks";
import type { ActionSnapshot, Agentrt } from "agentrt";
import { client } from "../auth";
import { openActions, poll, readActions } from "../data";
import type { Action } from "../log/view";
import { Empty, Skeleton } from "../ui/parts";
import { ApprovalCard } from "./approval";

const refreshMs = 2_000;

// What list_actions says about an action; parts that only the log has are added by detail().
function asAction(row: ActionSnapshot): Action {
  return { actionId: row.actionId, sessionId: row.sessionId, threadId: row.threadId,
    turnId: row.turnId, sequence: 0, at: row.requiredAt, required: row,
    ...(row.toolCallId ? { toolCallId: row.toolCallId } : {}),
    ...(row.subagentId ? { subagentId: row.subagentId } : {}) };
}

// Reads the facts of an action: its turn names where to search.
async function detail(rt: Agentrt, action: Action, signal: AbortSignal): Promise<Action> {
  const session = await rt.call("get_session", { sessionId: action.sessionId, limit: 100 },
    { signal });
  const turn = [...session.history, ...session.threads.flatMap((thread) => thread.turns)]
    .find((each) => each.turnId === action.turnId);
  if (!turn) return action;
  const page = await rt.call("list_events", { sessionId: action.sessionId,
    after: turn.firstSequence - 1, limit: 1_000,
    types: ["action.required", "permission.evaluated"] }, { signal });
  const out: Action = { ...action };
  for (const fact of page.data) {
    if (fact.type === "permission.evaluated" && fact.toolCallId === action.toolCallId)
      out.evaluated = fact.payload;
    if (fact.type === "action.required" && fact.actionId === action.actionId) {
      out.required = fact.payload;
      out.sequence = fact.sequence;
    }
  }
  return out;
}

function Detailed({ action, asker, onGone }:
  { action: Action; asker: string | undefined; onGone: () => void }) {
  const rt = client.value!;
  const [full, setFull] = useState(action);
  useEffect(() => {
    const abort = new AbortController();
    detail(rt, action, abort.signal).then(setFull, () => {});
    return () => abort.abort();
  }, [rt, action.actionId]);
  return <ApprovalCard action={full} link onAnswered={onGone}
    {...(asker ? { asker: `${asker} (subagent)` } : {})} />;
}

export function Inbox() {
  const rt = client.value!;
  useEffect(() => poll(refreshMs, (abort) => readActions(rt, abort), { report: true }), [rt]);
  const actions = openActions.value;
  const refresh = () => { void readActions(rt, new AbortController().signal).catch(() => {}); };
  const sorted = [...actions ?? []].sort((a, b) => (a.requiredAt < b.requiredAt ? -1 : 1));
  return <main class="page page-narrow" tabIndex={-1}>
    <div class="page-head"><h1>Inbox</h1></div>
    <div data-testid="inbox" class="cards">
      {actions === null && <Skeleton rows={3} tall />}
      {actions?.length === 0 && <Empty title="Nothing waits for you">
        An approval or a question appears here when an agent cannot continue without a person.
      </Empty>}
      {sorted.map((row) =>
        <Detailed key={row.actionId} action={asAction(row)} asker={row.subagent}
          onGone={refresh} />)}
    </div>
  </main>;
}
