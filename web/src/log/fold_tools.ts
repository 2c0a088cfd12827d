// The fold of tools, files, processes, approvals and permission decisions.
import type { AgentrtEvent } from "agentrt";
import { addEntry } from "./fold";
import { outputKept, type Entry, type Process, type View } from "./view";

function entryOf(view: View, e: AgentrtEvent): Entry | undefined {
  return view.entries.get(e.stepId ?? "") ?? view.entries.get(e.toolCallId ?? "");
}

function foldTool(view: View, e: AgentrtEvent): boolean {
  switch (e.type) {
    case "tool.started": {
      const entry = entryOf(view, e);
      if (!entry) return true;
      entry.toolName = e.payload.toolName;
      entry.args = e.payload.safeArgs;
      if (e.payload.outsideSandbox) entry.outsideSandbox = true;
      return true;
    }
    case "tool.progress": {
      const entry = entryOf(view, e);
      if (!entry) return true;
      if (e.payload.change) entry.change = e.payload.change;
      if (e.payload.exitCode !== undefined) entry.exitCode = e.payload.exitCode;
      if (e.payload.outputRef) entry.outputRef = e.payload.outputRef;
      return true;
    }
    case "tool.result": {
      const entry = entryOf(view, e);
      if (!entry) return true;
      if (e.payload.preview !== undefined) entry.preview = e.payload.preview;
      if (e.payload.outputRef) entry.outputRef = e.payload.outputRef;
      entry.durationMs = e.payload.durationMs;
      return true;
    }
    case "tool.failed": {
      const entry = entryOf(view, e);
      if (!entry) return true;
      entry.error = e.payload.error;
      entry.durationMs = e.payload.durationMs;
      if (e.payload.preview !== undefined) entry.preview = e.payload.preview;
      return true;
    }
    case "output.spilled": {
      const entry = entryOf(view, e);
      if (entry && e.payload.mediaType === "text/x-diff" && e.payload.preview)
        entry.diff = e.payload.preview;
      return true;
    }
    case "artifact.changed": {
      const entry = entryOf(view, e);
      if (entry && e.payload.path && !entry.change)
        entry.change = { path: e.payload.path, kind: "update", after: e.payload.versionId ?? "",
          linesAdded: e.payload.linesAdded ?? 0, linesRemoved: e.payload.linesRemoved ?? 0 };
      return true;
    }
    default:
      return false;
  }
}

function ended(view: View, e: AgentrtEvent, status: string): Process | undefined {
  const process = view.processes.get(e.processId ?? "");
  if (!process) return undefined;
  process.status = status;
  process.endedAt = e.timestamp;
  return process;
}

function foldProcess(view: View, e: AgentrtEvent): boolean {
  switch (e.type) {
    case "process.started": {
      const processId = e.processId ?? "";
      const process: Process = { processId, command: e.payload.command,
        tty: e.payload.tty ?? false, background: e.payload.background ?? false, status: "running",
        startedAt: e.timestamp, output: "", bytes: 0, clipped: 0, missing: 0 };
      if (e.turnId) process.turnId = e.turnId;
      if (e.threadId) process.threadId = e.threadId;
      if (e.toolCallId) process.toolCallId = e.toolCallId;
      if (e.payload.cwd) process.cwd = e.payload.cwd;
      view.processes.set(processId, process);
      const entry = entryOf(view, e);
      if (entry) entry.processId = processId;
      return true;
    }
    case "process.output": {
      const process = view.processes.get(e.processId ?? "");
      if (!process) return true;
      const { offset, nextOffset, text } = e.payload;
      if (offset !== undefined && offset > process.bytes) process.missing += offset - process.bytes;
      if (nextOffset !== undefined) process.bytes = Math.max(process.bytes, nextOffset);
      process.output += text ?? "";
      if (process.output.length > outputKept * 2) {
        process.clipped += process.output.length - outputKept;
        process.output = process.output.slice(-outputKept);
      }
      return true;
    }
    case "process.input": {
      const process = view.processes.get(e.processId ?? "");
      if (process && e.payload.rows) process.rows = e.payload.rows;
      if (process && e.payload.columns) process.columns = e.payload.columns;
      return true;
    }
    case "process.completed": {
      const process = ended(view, e, "completed");
      const entry = entryOf(view, e);
      if (process && e.payload.exitCode !== undefined) process.exitCode = e.payload.exitCode;
      if (entry && e.payload.exitCode !== undefined) entry.exitCode = e.payload.exitCode;
      return true;
    }
    case "process.failed": {
      const process = ended(view, e, e.payload.error?.category === "lost" ? "lost" : "failed");
      if (process && e.payload.error) process.reason = e.payload.error.message;
      return true;
    }
    case "process.terminated": {
      const process = ended(view, e, "terminated");
      if (process && e.payload.reason) process.reason = e.payload.reason;
      return true;
    }
    default:
      return false;
  }
}

// What a decision is about, in one line.
export function subject(args: unknown): string {
  if (typeof args !== "object" || args === null) return "";
  const given = args as Record<string, unknown>;
  for (const name of ["command", "path", "url", "pattern", "question", "prompt"])
    if (typeof given[name] === "string") return given[name] as string;
  return JSON.stringify(args);
}

function foldDecision(view: View, e: AgentrtEvent): boolean {
  switch (e.type) {
    case "permission.evaluated": {
      const entry = entryOf(view, e);
      if (entry) entry.decision = e.payload;
      view.decided.push({ sequence: e.sequence, at: e.timestamp, evaluated: e.payload,
        toolName: entry?.toolName ?? "", text: "",
        ...(e.toolCallId ? { toolCallId: e.toolCallId } : {}) });
      return true;
    }
    case "permission.requested":
    case "permission.resolved":
      return true;
    case "action.required": {
      const actionId = e.actionId ?? "";
      const entry = entryOf(view, e);
      view.actions.set(actionId, { actionId, sessionId: e.sessionId, sequence: e.sequence,
        at: e.timestamp, required: e.payload,
        ...(e.threadId ? { threadId: e.threadId } : {}), ...(e.turnId ? { turnId: e.turnId } : {}),
        ...(e.toolCallId ? { toolCallId: e.toolCallId } : {}),
        ...(e.subagentId ? { subagentId: e.subagentId } : {}),
        ...(entry?.decision ? { evaluated: entry.decision } : {}) });
      const card = addEntry(view, e, `approval:${actionId}`, "approval");
      card.actionId = actionId;
      card.status = "waiting_permission";
      return true;
    }
    case "action.resolved": {
      const action = view.actions.get(e.actionId ?? "");
      if (!action) return true;
      action.resolved = e.payload;
      action.resolvedAt = e.timestamp;
      const card = view.entries.get(`approval:${action.actionId}`);
      if (card) {
        card.status = e.payload.decision;
        card.until = e.sequence;
      }
      return true;
    }
    default:
      return false;
  }
}

export function foldTools(view: View, e: AgentrtEvent): boolean {
  return foldTool(view, e) || foldProcess(view, e) || foldDecision(view, e);
}
