// What the page knows about a session: plain data, computed from its facts by fold.ts.
import type { ActionRequired, ActionResolved, FileChange, Failure, JobCounts, JobItemStatus,
  JobRunner, PermissionEvaluated, ProcessStatus, QueueChange, Usage } from "agentrt";

// The kinds of items of the log, and the two that the page adds.
export type EntryKind = "agent_message" | "reasoning" | "tool_call" | "command" | "file_change" |
  "web_search" | "todo" | "error" | "input" | "approval";

export interface Entry {
  id: string;
  kind: EntryKind | string;
  turnId: string;
  sequence: number;
  until?: number;    // the fact that ended it
  at: string;
  status: string;
  text: string;
  streaming?: boolean;
  toolName?: string;
  toolCallId?: string;
  args?: unknown;
  preview?: string;
  outputRef?: string;
  error?: Failure;
  exitCode?: number;
  durationMs?: number;
  processId?: string;
  change?: FileChange;
  diff?: string;
  decision?: PermissionEvaluated;
  actionId?: string;
  outsideSandbox?: boolean;
}

export interface Turn {
  turnId: string;
  threadId: string;
  taskId?: string;
  status: string;
  phase: string;
  submittedAt: string;
  startedAt?: string;
  endedAt?: string;
  durationMs?: number;
  reason?: string;
  error?: Failure;
  usage?: Usage;
  provider?: string;
  model?: string;
  modelRequests: number;
  firstSequence: number;
  lastSequence: number;
  entries: Entry[];
}

export interface Thread {
  threadId: string;
  status: string;
  reason?: string;
  resumable: boolean;
  turnIds: string[];
  queue: string[];
  activeTurnId?: string;
}

export interface Action {
  actionId: string;
  sessionId: string;
  threadId?: string;
  turnId?: string;
  toolCallId?: string;
  subagentId?: string;
  sequence: number;
  at: string;
  required: ActionRequired;
  evaluated?: PermissionEvaluated;
  resolved?: ActionResolved;
  resolvedAt?: string;
}

export interface Attempt {
  runId: string;
  number: number;
  status: string;
  at: string;
  endedAt?: string;
  worker?: string;
  error?: Failure;
}

export interface Task {
  taskId: string;
  title: string;
  kind: string;
  visibility: string;
  status: string;
  reason?: string;
  parentTaskId?: string;
  blockedBy: string[];
  attempts: Attempt[];
  progress?: string;
  error?: Failure;
  createdAt: string;
  updatedAt: string;
  sequence: number;
}

export interface JobItem {
  jobItemId: string;
  status: JobItemStatus | string;
  attempts: number;
  error?: Failure;
  preview?: string;
  threadId?: string;
}

export interface Job {
  jobId: string;
  taskId?: string;
  status: string;
  runner?: JobRunner;
  total: number;
  counts?: JobCounts;
  items: Map<string, JobItem>;
  createdAt: string;
  endedAt?: string;
  error?: Failure;
}

export interface Subagent {
  subagentId: string;
  threadId: string;
  parentThreadId: string;
  role: string;
  status: string;
  reason?: string;
  taskId: string;
  preview?: string;
  error?: Failure;
  inputs: number;
  spawnedAt: string;
  updatedAt: string;
}

export interface Process {
  processId: string;
  turnId?: string;
  threadId?: string;
  toolCallId?: string;
  command: string;
  cwd?: string;
  tty: boolean;
  background: boolean;
  status: ProcessStatus | string;
  exitCode?: number;
  reason?: string;
  startedAt: string;
  endedAt?: string;
  // The last kOutputKept characters of its output.
  output: string;
  bytes: number;
  clipped: number;  // characters that were dropped from the start of `output`
  missing: number;  // bytes that the log lacks
  rows?: number;
  columns?: number;
}

export interface PeerTask {
  taskId: string;
  remoteTaskId: string;
  protocol?: string;
  remoteStatus?: string;
  recovery?: string;
  error?: Failure;
}

export interface ChannelNote {
  sequence: number;
  at: string;
  text: string;
}

// A peer that is attached to the session; it outlives its connections.
export interface Channel {
  channelId: string;
  status: string;    // connected, disconnected or closed
  reason?: string;   // why it is not connected
  peerRole: string;
  transport: string;
  protocol?: string;
  account?: string;
  capabilities: string[];
  connectedAt: string;
  updatedAt: string;
  pending: Set<string>;  // forwarded actions without an answer
  peerTasks: Map<string, PeerTask>;
  notes: ChannelNote[];  // the newest: messages and gaps
}

export interface Spending {
  sequence: number;
  at: string;
  turnId: string;
  provider: string;
  model: string;
  usage: Usage;
}

export interface Notice {
  sequence: number;
  at: string;
  level: "warning" | "error";
  code: string;
  message: string;
}

export interface PolicyChange {
  sequence: number;
  at: string;
  change: string;
  rules: string[];
  by?: string;
}

export interface Decided {
  sequence: number;
  at: string;
  toolName: string;
  text: string;
  toolCallId?: string;
  evaluated: PermissionEvaluated;
}

export interface View {
  sessionId: string;
  title?: string;
  cwd?: string;
  archived: boolean;
  createdAt?: string;
  updatedAt?: string;
  asOf: number;      // the last fact that is included
  from: number;      // the first fact that is included
  threads: Map<string, Thread>;
  turns: Map<string, Turn>;
  actions: Map<string, Action>;
  tasks: Map<string, Task>;
  jobs: Map<string, Job>;
  subagents: Map<string, Subagent>;
  processes: Map<string, Process>;
  channels: Map<string, Channel>;
  spending: Spending[];
  decided: Decided[];
  policy: PolicyChange[];
  notices: Notice[];
  calls: Map<string, unknown>;      // the arguments of calls that have not started
  entries: Map<string, Entry>;      // by step id, and by tool call id
  streams: Map<string, Entry>;      // the text that a turn is streaming
  unknown: Map<string, number>;     // fact types that this page does not know
  lastQueueChange?: QueueChange;
}

export const outputKept = 64 * 1024;

export function emptyView(sessionId: string, from = 1): View {
  return {
    sessionId, archived: false, asOf: from - 1, from,
    threads: new Map(), turns: new Map(), actions: new Map(), tasks: new Map(), jobs: new Map(),
    subagents: new Map(), processes: new Map(), channels: new Map(), spending: [], decided: [],
    policy: [], notices: [],
    calls: new Map(), entries: new Map(), streams: new Map(), unknown: new Map(),
  };
}
