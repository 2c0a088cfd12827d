// What is left: tasks as a graph, and jobs with their items.
import { useState } from "preact/hooks";
import { client } from "../auth";
import type { Job, Task, View } from "../log/view";
import { count, duration, oneLine, plural, safeText } from "../text/format";
import { Button, Copy, Empty, Fold, shortId, Time } from "../ui/parts";
import { Status } from "../ui/status";
import type { Shown } from "./session";

const nodesMax = 300;
const itemsShown = 200;

function childrenOf(view: View, parent: string | undefined, all: boolean): Task[] {
  return [...view.tasks.values()].filter((task) => task.parentTaskId === parent &&
    (all || task.visibility !== "internal" || hasChildren(view, task)));
}

function hasChildren(view: View, task: Task): boolean {
  return [...view.tasks.values()].some((each) => each.parentTaskId === task.taskId);
}

function Attempts({ task }: { task: Task }) {
  return <ol class="attempts">{task.attempts.map((attempt) => <li key={attempt.runId}>
    <Status word={attempt.status} quiet /> attempt {attempt.number} by {attempt.worker}
    {attempt.endedAt && <> · {duration(Date.parse(attempt.endedAt) - Date.parse(attempt.at))}</>}
    {attempt.error && <span class="error-text"> {oneLine(attempt.error.message, 160)}</span>}
  </li>)}</ol>;
}

function Node({ task, shown, all, depth }:
  { task: Task; shown: Shown; all: boolean; depth: number }) {
  const rt = client.value!;
  const [problem, setProblem] = useState("");
  const below = childrenOf(shown.view, task.taskId, true);
  const steer = (work: Promise<unknown>) => {
    work.then(() => setProblem(""), (error: Error) => setProblem(error.message));
  };
  const ids = { sessionId: shown.log.sessionId, taskId: task.taskId };
  const ended = /^(completed|cancelled|archived)$/.test(task.status);
  return <li class="node">
    <div class="node-card">
      <div class="node-head"><Status word={task.status} />
        <span class="node-title">{oneLine(task.title, 140)}</span>
        <Copy text={task.taskId} label={shortId(task.taskId)} /></div>
      <div class="node-meta">
        {task.progress && <span>{oneLine(task.progress, 120)}</span>}
        {task.reason && <span>{oneLine(task.reason, 120)}</span>}
        {task.error && <span class="error-text">{oneLine(task.error.message, 160)}</span>}
        <span><Time at={task.updatedAt} /></span>
      </div>
      {task.blockedBy.length > 0 && <div class="node-blocked">blocked by {task.blockedBy.map((id) =>
        <span key={id} class="tag tag-waiting">{oneLine(shown.view.tasks.get(id)?.title ?? id, 60)}
        </span>)}</div>}
      {task.attempts.length > 0 && <Fold open={task.attempts.length > 1}
        summary={<span class="muted">{plural(task.attempts.length, "attempt")}</span>}>
        <Attempts task={task} /></Fold>}
      {!shown.past && task.kind !== "turn" && <div class="node-foot">
        {task.status === "failed" && <Button small scope="submit" onClick={() => steer(
          rt.call("retry_task", { ...ids, reason: "retried on the page" }))}>Retry</Button>}
        {!ended && task.status !== "failed" && <Button small scope="submit" onClick={() => steer(
          rt.call("cancel_task", { ...ids, reason: "cancelled on the page" }))}>Cancel</Button>}
        {problem && <span class="error-text" role="alert">{problem}</span>}
      </div>}
    </div>
    {below.length > 0 && depth < 12 && <ul class="nodes">{below.map((child) =>
      <Node key={child.taskId} task={child} shown={shown} all={all} depth={depth + 1} />)}</ul>}
  </li>;
}

function JobView({ job, shown }: { job: Job; shown: Shown }) {
  const rt = client.value!;
  const [problem, setProblem] = useState("");
  const items = [...job.items.values()];
  const completed = job.counts?.completed ?? items.filter((each) =>
    each.status === "completed").length;
  const failed = job.counts?.failed ?? items.filter((each) => each.status === "failed").length;
  const total = job.total || items.length;
  const retry = (jobItemId: string) => {
    rt.call("retry_job_item", { sessionId: shown.log.sessionId, jobId: job.jobId, jobItemId,
      reason: "retried on the page" })
      .then(() => setProblem(""), (error: Error) => setProblem(error.message));
  };
  return <article class="card" data-testid="job-row">
    <div class="node-head"><Status word={job.status} />
      <span class="node-title">{plural(total, "item")}, each by {job.runner?.kind === "command"
        ? "a command" : `a ${job.runner?.kind ?? "worker"}`}</span>
      <Copy text={job.jobId} label={shortId(job.jobId)} /></div>
    {(job.runner?.command ?? job.runner?.instruction) && <pre class="code code-clip" tabIndex={0}>
      {safeText(job.runner?.command ?? job.runner?.instruction ?? "")}</pre>}
    <div class="progress" role="img"
      aria-label={`${completed} of ${total} completed, ${failed} failed`}>
      <span class="progress-done" style={{ width: `${total ? (completed / total) * 100 : 0}%` }} />
      <span class="progress-failed" style={{ width: `${total ? (failed / total) * 100 : 0}%` }} />
    </div>
    <div class="node-meta"><span>{completed} of {total} completed</span>
      {failed > 0 && <span class="error-text">{failed} failed</span>}
      {job.error && <span class="error-text">{oneLine(job.error.message, 160)}</span>}</div>
    <Fold open={total <= 20} summary={<span class="muted">{plural(items.length, "item")} started
    </span>}>
      <ul class="items">{items.slice(0, itemsShown).map((each) => <li key={each.jobItemId}>
        <Status word={each.status} quiet />
        <code>{oneLine(each.jobItemId, 40)}</code>
        {each.attempts > 1 && <span class="tag">{plural(each.attempts, "attempt")}</span>}
        <span class={each.error ? "error-text" : "muted"}>
          {oneLine(each.error?.message ?? each.preview ?? "", 140)}</span>
        {each.status === "failed" && !shown.past && <Button small scope="submit"
          onClick={() => retry(each.jobItemId)}>Retry</Button>}
      </li>)}</ul>
      {items.length > itemsShown && <p class="muted">
        {plural(items.length - itemsShown, "item")} more; agentrt jobs {job.jobId} lists all.</p>}
    </Fold>
    {problem && <p class="error-text" role="alert">{problem}</p>}
  </article>;
}

// Too many for a graph: how many there are of each status, and the newest ones as a list.
function Many({ tasks, sessionId }: { tasks: Task[]; sessionId: string }) {
  const counts = new Map<string, number>();
  for (const task of tasks) counts.set(task.status, (counts.get(task.status) ?? 0) + 1);
  const newest = [...tasks].sort((a, b) => b.sequence - a.sequence).slice(0, nodesMax);
  return <>
    <p class="node-meta task-counts">{[...counts].sort((a, b) => b[1] - a[1])
      .map(([status, many]) =>
        <span key={status}><Status word={status} /> {count(many)}</span>)}</p>
    <ul class="items">{newest.map((task) => <li key={task.taskId}>
      <Status word={task.status} quiet />
      <span>{oneLine(task.title, 140)}</span>
      {task.attempts.length > 1 && <span class="tag">
        {plural(task.attempts.length, "attempt")}</span>}
      <Copy text={task.taskId} label={shortId(task.taskId)} /></li>)}</ul>
    <p class="muted">{plural(tasks.length, "task")}; the newest {newest.length} are listed.</p>
    <Copy text={`agentrt tasks --session ${sessionId}`} class="command" />
  </>;
}

export function Tasks({ shown }: { shown: Shown }) {
  const { view } = shown;
  const [all, setAll] = useState(false);
  const roots = childrenOf(view, undefined, all);
  const jobs = [...view.jobs.values()];
  const hidden = [...view.tasks.values()].filter((task) => task.visibility === "internal").length;
  const known = [...view.tasks.values()].filter((task) => all || task.visibility !== "internal");
  const tooMany = known.length > nodesMax;
  return <div class="tasks">
    {jobs.length > 0 && <section>
      <h2 class="group">Jobs <span class="count">{jobs.length}</span></h2>
      <div class="cards">{jobs.map((job) => <JobView key={job.jobId} job={job} shown={shown} />)}
      </div></section>}
    <section><h2 class="group">Tasks <span class="count">{roots.length}</span>
      {hidden > 0 && <label class="toggle"><input type="checkbox" checked={all}
        onChange={(event) => setAll(event.currentTarget.checked)} />also those of turns ({hidden})
      </label>}</h2>
      <div data-testid="task-graph">
        {roots.length === 0 && <Empty title="No tasks" command={`agentrt call create_task '${
          JSON.stringify({ sessionId: shown.log.sessionId, objective: "…" })}'`}>
          A task is a goal that agents and people work on, with attempts and dependencies.</Empty>}
        {tooMany ? <Many tasks={known} sessionId={shown.log.sessionId} />
          : <ul class="nodes nodes-root">{roots.map((task) =>
            <Node key={task.taskId} task={task} shown={shown} all={all} depth={0} />)}</ul>}
      </div></section>
  </div>;
}
