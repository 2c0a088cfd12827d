// Open actions of all sessions, one card each.
import { useEffect } from "preact/hooks";
import { client } from "../auth";
import { actionsReadAt, openActions, poll, readActions } from "../data";
import { plural } from "../text/format";
import { Empty, ReadAt, Skeleton } from "../ui/parts";
import { ApprovalCard, asAction } from "./approval";

const refreshMs = 2_000;
const cardsMax = 100;   // one card measures itself twenty times per second

export function Inbox() {
  const rt = client.value!;
  useEffect(() => poll(refreshMs, (abort) => readActions(rt, abort), { report: true }), [rt]);
  const actions = openActions.value;
  const refresh = () => { void readActions(rt, new AbortController().signal).catch(() => {}); };
  const sorted = [...actions ?? []].sort((a, b) => (a.requiredAt < b.requiredAt ? -1 : 1));
  return <main class="page page-narrow" tabIndex={-1}>
    <div class="page-head"><h1>Inbox</h1>{actions && <ReadAt at={actionsReadAt.value} />}</div>
    <div data-testid="inbox" class="cards">
      {actions === null && <Skeleton rows={3} tall />}
      {actions?.length === 0 && <Empty title="Nothing waits for you">
        An approval or a question appears here when an agent cannot continue without a person.
      </Empty>}
      {sorted.slice(0, cardsMax).map((row) =>
        <ApprovalCard key={row.actionId} action={asAction(row)} link onAnswered={refresh}
          {...(row.subagent ? { asker: `${row.subagent} (subagent)` } : {})} />)}
      {sorted.length > cardsMax && <p class="muted">
        {plural(sorted.length - cardsMax, "action")} more appear when these are answered.</p>}
    </div>
  </main>;
}
