// The subagents of the session as a tree.
import { useState } from "preact/hooks";
import { client } from "../auth";
import type { Subagent } from "../log/view";
import { sessionPath } from "../route";
import { oneLine, plural } from "../text/format";
import { Button, Copy, Empty, Link, shortId, Time } from "../ui/parts";
import { Status, toneOf } from "../ui/status";
import type { Shown } from "./session";

function Agent({ agent, shown }: { agent: Subagent; shown: Shown }) {
  const rt = client.value!;
  const [problem, setProblem] = useState("");
  const below = [...shown.view.subagents.values()].filter((each) =>
    each.parentThreadId === agent.threadId);
  const turn = shown.view.threads.get(agent.threadId);
  const close = () => {
    rt.call("close_subagent", { sessionId: shown.log.sessionId, subagentId: agent.subagentId,
      reason: "closed on the page" })
      .then(() => setProblem(""), (error: Error) => setProblem(error.message));
  };
  return <li class="node"><div class="node-card">
    <div class="node-head"><Status word={agent.status} />
      <span class="node-title">{oneLine(agent.role, 80)}</span>
      <Copy text={agent.subagentId} label={shortId(agent.subagentId)} /></div>
    <div class="node-meta">
      <span>{oneLine(shown.view.tasks.get(agent.taskId)?.title ?? "", 140)}</span>
      {agent.reason && <span>{oneLine(agent.reason, 120)}</span>}
      {agent.error && <span class="error-text">{oneLine(agent.error.message, 160)}</span>}
      {agent.inputs > 0 && <span>{plural(agent.inputs, "further input")}</span>}
      <Time at={agent.updatedAt} />
    </div>
    {agent.preview && <p class="preview">{oneLine(agent.preview, 240)}</p>}
    <div class="node-foot">
      {turn && <Link to={sessionPath(shown.log.sessionId, "timeline",
        { thread: agent.threadId, at: shown.past ? shown.view.asOf : null })}>
        See what it did</Link>}
      {!shown.past && toneOf(agent.status) === "running" &&
        <Button small scope="submit" onClick={close}>Close</Button>}
      {problem && <span class="error-text" role="alert">{problem}</span>}
    </div>
  </div>
  {below.length > 0 && <ul class="nodes">{below.map((each) =>
    <Agent key={each.subagentId} agent={each} shown={shown} />)}</ul>}
  </li>;
}

export function Agents({ shown }: { shown: Shown }) {
  const all = [...shown.view.subagents.values()];
  const threads = new Set(all.map((each) => each.threadId));
  const roots = all.filter((each) => !threads.has(each.parentThreadId));
  return <div data-testid="subagent-tree">
    {all.length === 0 && <Empty title="No subagents" command={shown.past ? ""
      : `agentrt run --session ${shown.log.sessionId} "Have a colleague review this"`}>
      A subagent appears here when the agent delegates a part of its work.</Empty>}
    <ul class="nodes nodes-root">{roots.map((each) =>
      <Agent key={each.subagentId} agent={each} shown={shown} />)}</ul>
  </div>;
}
