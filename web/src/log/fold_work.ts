// The fold of tasks, jobs and subagents.
import type { AgentrtEvent, Failure } from "agentrt";
import type { Job, JobItem, Task, View } from "./view";

function task(view: View, e: AgentrtEvent, taskId = e.taskId ?? ""): Task {
  let found = view.tasks.get(taskId);
  if (!found) {
    found = { taskId, title: taskId, kind: "unknown", visibility: "foreground", status: "unknown",
      blockedBy: [], attempts: [], createdAt: e.timestamp, updatedAt: e.timestamp,
      sequence: e.sequence };
    view.tasks.set(taskId, found);
  }
  return found;
}

function foldTask(view: View, e: AgentrtEvent): boolean {
  if (!e.type.startsWith("task.") || e.type === "task.profile.resolved") return false;
  const known = task(view, e);
  known.updatedAt = e.timestamp;
  const payload = e.payload as { status?: string; reason?: string; error?: Failure };
  if (payload.status && !e.type.startsWith("task.attempt.")) {
    known.status = payload.status;
    if (payload.reason) known.reason = payload.reason;
    else delete known.reason;
    if (payload.error) known.error = payload.error;
  }
  switch (e.type) {
    case "task.created":
      known.title = e.payload.title ?? e.payload.objective;
      known.kind = e.payload.taskKind;
      known.visibility = e.payload.visibility;
      break;
    case "task.updated":
      if (e.payload.title ?? e.payload.objective)
        known.title = e.payload.title ?? e.payload.objective ?? known.title;
      break;
    case "task.progress":
      known.progress = [e.payload.phase, e.payload.step].filter(Boolean).join(": ");
      break;
    case "task.attempt.started":
      known.attempts.push({ runId: e.runId ?? "", number: e.payload.attemptCount,
        status: e.payload.status, at: e.timestamp,
        worker: e.payload.worker?.name ?? e.payload.worker?.kind ?? "turn" });
      break;
    case "task.attempt.completed":
    case "task.attempt.failed": {
      const attempt = known.attempts.find((each) => each.runId === e.runId) ??
        known.attempts[known.attempts.length - 1];
      if (!attempt) break;
      attempt.status = e.payload.status;
      attempt.endedAt = e.timestamp;
      if (e.type === "task.attempt.failed") attempt.error = e.payload.error;
      break;
    }
    case "task.delegated":
      task(view, e, e.payload.childTaskId).parentTaskId = known.taskId;
      break;
    case "task.dependency.updated": {
      const target = e.payload.targetTaskId ?? e.payload.targetId ?? "";
      const removed = e.payload.status === "removed";
      if (e.payload.relationship === "parent" && !removed) known.parentTaskId = target;
      if (e.payload.relationship === "blocked_by") {
        known.blockedBy = known.blockedBy.filter((id) => id !== target);
        if (!removed && e.payload.status !== "satisfied") known.blockedBy.push(target);
      }
      break;
    }
    default:
      break;
  }
  return true;
}

function item(job: Job, jobItemId: string): JobItem {
  let found = job.items.get(jobItemId);
  if (!found) {
    found = { jobItemId, status: "pending", attempts: 0 };
    job.items.set(jobItemId, found);
  }
  return found;
}

function foldJob(view: View, e: AgentrtEvent): boolean {
  if (!e.type.startsWith("job.")) return false;
  const jobId = e.jobId ?? "";
  let job = view.jobs.get(jobId);
  if (!job) {
    job = { jobId, status: "running", total: 0, items: new Map(), createdAt: e.timestamp };
    if (e.taskId) job.taskId = e.taskId;
    view.jobs.set(jobId, job);
  }
  const payload = e.payload as { counts?: Job["counts"] };
  if (payload.counts) job.counts = payload.counts;
  switch (e.type) {
    case "job.created":
      job.total = e.payload.items ?? 0;
      if (e.payload.runner) job.runner = e.payload.runner;
      break;
    case "job.item.started": {
      const its = item(job, e.jobItemId ?? "");
      its.status = "running";
      its.attempts = e.payload.attemptCount ?? its.attempts + 1;
      if (e.payload.assignedThread) its.threadId = e.payload.assignedThread;
      break;
    }
    case "job.item.completed": {
      const its = item(job, e.jobItemId ?? "");
      its.status = "completed";
      delete its.error;
      if (e.payload.preview !== undefined) its.preview = e.payload.preview;
      break;
    }
    case "job.item.failed": {
      const its = item(job, e.jobItemId ?? "");
      its.status = e.payload.retryAt ? "retrying" : "failed";
      if (e.payload.error) its.error = e.payload.error;
      if (e.payload.preview !== undefined) its.preview = e.payload.preview;
      break;
    }
    case "job.completed":
    case "job.failed":
    case "job.cancelled":
      job.status = e.type.slice("job.".length);
      job.endedAt = e.timestamp;
      if (e.type === "job.failed" && e.payload.error) job.error = e.payload.error;
      break;
    default:
      break;
  }
  return true;
}

function foldSubagent(view: View, e: AgentrtEvent): boolean {
  if (!e.type.startsWith("subagent.")) return false;
  const subagentId = e.subagentId ?? "";
  if (e.type === "subagent.spawned") {
    view.subagents.set(subagentId, { subagentId, threadId: e.payload.childThreadId,
      parentThreadId: e.payload.parentThreadId, role: e.payload.nickname ?? e.payload.role ?? "",
      status: "running", taskId: e.payload.taskId, inputs: 0, spawnedAt: e.timestamp,
      updatedAt: e.timestamp });
    return true;
  }
  const known = view.subagents.get(subagentId);
  if (!known) return true;
  known.updatedAt = e.timestamp;
  switch (e.type) {
    case "subagent.status":
      known.status = e.payload.status;
      if (e.payload.reason) known.reason = e.payload.reason;
      else delete known.reason;
      break;
    case "subagent.input":
      known.inputs += 1;
      known.status = "running";
      break;
    case "subagent.completed":
      known.status = "completed";
      if (e.payload.preview !== undefined) known.preview = e.payload.preview;
      break;
    case "subagent.failed":
      known.status = "failed";
      if (e.payload.error) known.error = e.payload.error;
      break;
    case "subagent.closed":
      known.status = "closed";
      break;
    default:
      break;
  }
  return true;
}

export function foldWork(view: View, e: AgentrtEvent): boolean {
  return foldTask(view, e) || foldJob(view, e) || foldSubagent(view, e);
}
