// Why calls were allowed or not, and what a text would get now.
import { useState } from "preact/hooks";
import type { EvaluatePermissionReply } from "agentrt";
import { client } from "../auth";
import { subject } from "../log/fold_tools";
import { oneLine, safeText } from "../text/format";
import { Button, Empty, Fold, Problem, Time } from "../ui/parts";
import { Status } from "../ui/status";
import { Chain } from "./chain";
import type { Shown } from "./session";

const decisionsShown = 200;

function DryRun({ sessionId }: { sessionId: string }) {
  const [text, setText] = useState("");
  const [reply, setReply] = useState<EvaluatePermissionReply | null>(null);
  const [problem, setProblem] = useState("");
  const ask = (event: Event) => {
    event.preventDefault();
    if (!text.trim()) return;
    client.value!.call("evaluate_permission",
      { sessionId, toolName: "shell", input: { command: text } })
      .then((found) => {
        setReply(found);
        setProblem("");
      }, (error: Error) => setProblem(error.message));
  };
  return <section class="card"><h2>What would happen to this command?</h2>
    <form class="dry" onSubmit={ask}>
      <input aria-label="Shell command" placeholder="git push --force" value={text}
        spellcheck={false} onInput={(event) => setText(event.currentTarget.value)} />
      <Button type="submit">Explain</Button>
    </form>
    <p class="muted">Nothing runs and nothing is stored.</p>
    {problem && <Problem message={problem} />}
    {reply && <div class="dry-reply"><p><Status word={reply.decision} />{" "}
      {safeText(reply.decisionReason)}</p>
      <Chain verdicts={reply.chain} decision={reply.decision} />
      {reply.impact && <p>{safeText(reply.impact)} {safeText(reply.rollback ?? "")}</p>}</div>}
  </section>;
}

export function Policy({ shown }: { shown: Shown }) {
  const decided = [...shown.view.decided].reverse();
  return <div class="cards">
    {shown.past ? <p class="banner" role="note">A dry run uses the rules of the present, so it is
      not shown for the past.</p> : <DryRun sessionId={shown.log.sessionId} />}
    {shown.view.policy.length > 0 && <section><h2 class="group">Changes of the rules</h2>
      <ul class="items">{shown.view.policy.slice(-50).map((each) => <li key={each.sequence}>
        <span class="tag">{each.change}</span>
        {each.rules.slice(0, 5).map((rule) => <code key={rule}>{oneLine(rule, 120)}</code>)}
        {each.by && <span class="muted">by {oneLine(each.by, 60)}</span>} <Time at={each.at} />
      </li>)}</ul></section>}
    <section><h2 class="group">Decisions <span class="count">{decided.length}</span></h2>
      {decided.length === 0 && <Empty title="No decisions yet" command={shown.past ? ""
        : `agentrt explain --session ${shown.log.sessionId} -- "git push --force"`}>
        Every call of a tool is judged; the judgement appears here.</Empty>}
      <div class="decisions">{decided.slice(0, decisionsShown).map((each) => {
        const entry = shown.view.entries.get(each.toolCallId ?? "");
        return <Fold key={each.sequence} summary={<span class="tool-line">
          <Status word={each.evaluated.decision} />
          <code>{oneLine(`${entry?.toolName ?? each.toolName} ${subject(entry?.args)}`, 140)}</code>
          <span class="tool-meta">by {each.evaluated.decisionSource} · <Time at={each.at} /></span>
        </span>}>
          <p>{safeText(each.evaluated.decisionReason ?? "The log gives no reason.")}</p>
          {each.evaluated.chain && <Chain verdicts={each.evaluated.chain}
            decision={each.evaluated.decision} />}
        </Fold>;
      })}</div>
    </section>
  </div>;
}
