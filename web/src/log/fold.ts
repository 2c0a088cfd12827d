// The fold: applies one fact to the view of a session. The present is the fold of all facts, the
// past the fold of some of them; the page has no other state about a session.
import type { AgentrtEvent, Failure } from "agentrt";
import { foldChannels } from "./fold_channels";
import { foldTools } from "./fold_tools";
import { foldWork } from "./fold_work";
import type { Entry, Thread, Turn, View } from "./view";

// Fact types that the timeline does not show; the log shows them.
const quiet = new Set(["tool.catalog.resolved", "task.profile.resolved",
  "routing.candidates.resolved", "routing.decided", "routing.single_candidate",
  "routing.not_possible", "history.window.loaded", "history.reconstructed", "context.resolved",
  "sandbox.applied", "sandbox.violation", "hook.started", "hook.completed", "hook.failed",
  "snapshot.updated", "snapshot.repaired", "output.truncated", "output.redacted",
  "output.expired", "item.updated", "tool.args"]);

export function thread(view: View, threadId: string): Thread {
  let found = view.threads.get(threadId);
  if (!found) {
    found = { threadId, status: "idle", resumable: false, turnIds: [], queue: [] };
    view.threads.set(threadId, found);
  }
  return found;
}

// The turn of a fact. A view that starts within the log may not know its beginning.
export function turn(view: View, e: AgentrtEvent): Turn {
  const turnId = e.turnId ?? "";
  let found = view.turns.get(turnId);
  if (!found) {
    found = { turnId, threadId: e.threadId ?? "", status: "unknown", phase: "",
      submittedAt: e.timestamp, modelRequests: 0, firstSequence: e.sequence,
      lastSequence: e.sequence, entries: [] };
    if (e.taskId) found.taskId = e.taskId;
    view.turns.set(turnId, found);
    thread(view, found.threadId).turnIds.push(turnId);
  }
  return found;
}

export function addEntry(view: View, e: AgentrtEvent, id: string, kind: string): Entry {
  const entry: Entry = { id, kind, turnId: e.turnId ?? "", sequence: e.sequence, at: e.timestamp,
    status: "running", text: "" };
  turn(view, e).entries.push(entry);
  view.entries.set(id, entry);
  return entry;
}

function foldTurn(view: View, e: AgentrtEvent): boolean {
  switch (e.type) {
    case "turn.submitted": {
      const known = turn(view, e);
      known.status = e.payload.status;
      const input = addEntry(view, e, `input:${known.turnId}`, "input");
      input.text = e.payload.input.map((part) => part.text ?? part.path ?? part.ref ?? "")
        .join("\n");
      input.status = "completed";
      if (e.payload.status === "queued") thread(view, known.threadId).queue.push(known.turnId);
      return true;
    }
    case "turn.started": {
      const known = turn(view, e);
      known.status = e.payload.status;
      known.startedAt = e.timestamp;
      const its = thread(view, known.threadId);
      its.activeTurnId = known.turnId;
      its.status = e.payload.status;
      its.queue = its.queue.filter((id) => id !== known.turnId);
      return true;
    }
    case "turn.completed":
    case "turn.failed": {
      const known = turn(view, e);
      known.status = e.payload.status;
      known.phase = "";
      known.endedAt = e.timestamp;
      known.durationMs = e.payload.durationMs;
      if (e.type === "turn.completed") known.usage = e.payload.usage;
      else {
        known.reason = e.payload.reason;
        if (e.payload.error) known.error = e.payload.error;
      }
      view.streams.delete(known.turnId);
      const its = thread(view, known.threadId);
      if (its.activeTurnId === known.turnId) delete its.activeTurnId;
      its.queue = its.queue.filter((id) => id !== known.turnId);
      if (!its.activeTurnId) {
        its.status = "idle";
        its.resumable = false;
        delete its.reason;
      }
      return true;
    }
    case "run.status": {
      const known = turn(view, e);
      known.status = e.payload.status;
      known.phase = e.payload.title;
      const its = thread(view, known.threadId);
      its.status = e.payload.status;
      its.resumable = e.payload.resumable ?? false;
      return true;
    }
    default:
      return false;
  }
}

function foldSession(view: View, e: AgentrtEvent): boolean {
  switch (e.type) {
    case "session.created":
      view.cwd = e.payload.cwd;
      view.createdAt = e.timestamp;
      if (e.payload.title !== undefined) view.title = e.payload.title;
      return true;
    case "session.updated":
      if (e.payload.title !== undefined) view.title = e.payload.title;
      if (e.payload.archived !== undefined) view.archived = e.payload.archived;
      return true;
    case "thread.started":
    case "thread.updated": {
      const its = thread(view, e.threadId ?? "");
      its.status = e.payload.status;
      if (e.type === "thread.updated") {
        its.resumable = e.payload.resumable ?? false;
        if (e.payload.reason) its.reason = e.payload.reason;
        else delete its.reason;
      }
      return true;
    }
    case "queue.changed": {
      const its = thread(view, e.threadId ?? "");
      const id = e.payload.turnId;
      its.queue = its.queue.filter((each) => each !== id);
      if (e.payload.change === "added" || e.payload.change === "promoted")
        its.queue.splice(Math.max(0, e.payload.position - 1), 0, id);
      if (e.payload.change === "cleared") its.queue = [];
      return true;
    }
    case "runtime.warning":
    case "runtime.error":
      view.notices.push({ sequence: e.sequence, at: e.timestamp, code: e.payload.code,
        level: e.type === "runtime.error" ? "error" : "warning", message: e.payload.message });
      return true;
    case "policy.changed":
      view.policy.push({ sequence: e.sequence, at: e.timestamp, change: e.payload.change,
        rules: [...(e.payload.added ?? []).map((rule) => `+ ${rule.effect} ${rule.rule}`),
          ...(e.payload.removed ?? []).map((rule) => `- ${rule.effect} ${rule.rule}`)],
        ...(e.payload.changedBy ? { by: e.payload.changedBy } : {}) });
      return true;
    default:
      return false;
  }
}

function stream(view: View, e: AgentrtEvent, kind: "agent_message" | "reasoning"):
  Entry | undefined {
  const current = view.streams.get(`${e.turnId}:${kind}`);
  return current?.status === "running" ? current : undefined;
}

function foldModel(view: View, e: AgentrtEvent): boolean {
  switch (e.type) {
    case "model.requested": {
      const known = turn(view, e);
      known.provider = e.payload.provider;
      known.model = e.payload.modelName;
      known.modelRequests += 1;
      return true;
    }
    case "model.delta":
    case "reasoning.delta": {
      const kind = e.type === "model.delta" ? "agent_message" : "reasoning";
      const entry = stream(view, e, kind);
      if (entry) entry.text += e.payload.text;
      return true;
    }
    case "reasoning.summary":
      return true;
    case "model.completed":
      for (const call of e.payload.toolCalls) view.calls.set(call.toolCallId, call.args);
      view.spending.push({ sequence: e.sequence, at: e.timestamp, turnId: e.turnId ?? "",
        provider: e.payload.provider, model: e.payload.model, usage: e.payload.usage });
      return true;
    case "model.failed": {
      const entry = addEntry(view, e, `model:${e.sequence}`, "error");
      entry.status = "failed";
      entry.until = e.sequence;
      entry.error = e.payload.error;
      entry.text = e.payload.retry ? `retry ${e.payload.retry.number}` : "";
      return true;
    }
    case "item.started": {
      const entry = addEntry(view, e, e.stepId ?? `step:${e.sequence}`, e.payload.kind);
      if (e.payload.toolName) entry.toolName = e.payload.toolName;
      if (e.toolCallId) {
        entry.toolCallId = e.toolCallId;
        entry.args = view.calls.get(e.toolCallId);
        view.calls.delete(e.toolCallId);
        view.entries.set(e.toolCallId, entry);
      } else {
        entry.streaming = true;
        view.streams.set(`${e.turnId}:${e.payload.kind}`, entry);
      }
      return true;
    }
    case "item.completed": {
      const entry = view.entries.get(e.stepId ?? "") ??
        addEntry(view, e, e.stepId ?? `step:${e.sequence}`, e.payload.kind);
      entry.status = e.payload.status;
      entry.until = e.sequence;
      entry.streaming = false;
      if (e.payload.text !== undefined) entry.text = e.payload.text;
      if (e.payload.preview !== undefined) entry.preview = e.payload.preview;
      if (e.payload.outputRef) entry.outputRef = e.payload.outputRef;
      if (e.payload.error) entry.error = e.payload.error;
      return true;
    }
    default:
      return false;
  }
}

// Compactions of the conversation: what models get instead of the older turns.
function foldContext(view: View, e: AgentrtEvent): boolean {
  const type: string = e.type;
  if (!type.startsWith("context.compaction.")) return false;
  const payload = e.payload as { tokensBefore?: number; tokensAfter?: number;
    affectedTurnCount?: number; error?: Failure };
  const id = `compaction:${e.turnId ?? ""}`;
  const entry = view.entries.get(id) ?? addEntry(view, e, id, "compaction");
  if (type.endsWith(".started"))
    entry.text = `${payload.affectedTurnCount ?? 0} older turns are summarized for the model.`;
  if (type.endsWith(".completed")) {
    entry.status = "completed";
    const { tokensBefore = "unknown", tokensAfter = "unknown" } = payload;
    entry.text = `The model now gets a summary: ${tokensBefore} tokens became ${tokensAfter}. ` +
      "You still see everything.";
  }
  if (type.endsWith(".failed")) {
    entry.status = "failed";
    if (payload.error) entry.error = payload.error;
  }
  return true;
}

// Applies a fact. A fact that is already included changes nothing.
export function fold(view: View, e: AgentrtEvent): void {
  if (e.sequence <= view.asOf) return;
  view.asOf = e.sequence;
  view.updatedAt = e.timestamp;
  const known = foldModel(view, e) || foldTools(view, e) || foldTurn(view, e) ||
    foldWork(view, e) || foldSession(view, e) || foldContext(view, e) || foldChannels(view, e) ||
    quiet.has(e.type);
  const its = e.turnId ? view.turns.get(e.turnId) : undefined;
  if (its) its.lastSequence = e.sequence;
  if (!known) view.unknown.set(e.type, (view.unknown.get(e.type) ?? 0) + 1);
}
