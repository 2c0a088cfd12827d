// Generated from schema/ by tools/client_types.py; change the schemas instead.
//
// The types name the members that this version of agentrt knows. A newer daemon may send further
// members and event types; the client passes them on unchanged.

export interface CommandParams {
  create_session: CreateSessionParams;
  update_session: UpdateSessionParams;
  list_sessions: ListSessionsParams;
  get_session: GetSessionParams;
  get_thread_read: GetThreadReadParams;
  list_events: ListEventsParams;
  submit_turn: SubmitTurnParams;
  interrupt_turn: InterruptTurnParams;
  resume_thread: ResumeThreadParams;
  remove_queued_turn: RemoveQueuedTurnParams;
  promote_queued_turn: PromoteQueuedTurnParams;
  respond_action: RespondActionParams;
  resolve_permission: ResolvePermissionParams;
  list_actions: ListActionsParams;
  evaluate_permission: EvaluatePermissionParams;
  set_policy: SetPolicyParams;
  get_rules: GetRulesParams;
  set_folder_policy: SetFolderPolicyParams;
  get_trust: GetTrustParams;
  trust_workspace: TrustWorkspaceParams;
  get_tool_inventory: GetToolInventoryParams;
  get_execution_environment: GetExecutionEnvironmentParams;
  write_process_stdin: WriteProcessStdinParams;
  resize_process: ResizeProcessParams;
  terminate_process: TerminateProcessParams;
  create_task: CreateTaskParams;
  update_task: UpdateTaskParams;
  start_task: StartTaskParams;
  retry_task: RetryTaskParams;
  claim_task: ClaimTaskParams;
  append_task_progress: AppendTaskProgressParams;
  complete_task: CompleteTaskParams;
  fail_task: FailTaskParams;
  pause_task: PauseTaskParams;
  resume_task: ResumeTaskParams;
  archive_task: ArchiveTaskParams;
  cancel_task: CancelTaskParams;
  link_tasks: LinkTasksParams;
  unlink_tasks: UnlinkTasksParams;
  get_task: GetTaskParams;
  list_tasks: ListTasksParams;
  create_job: CreateJobParams;
  get_job: GetJobParams;
  list_jobs: ListJobsParams;
  cancel_job: CancelJobParams;
  retry_job_item: RetryJobItemParams;
  spawn_subagent: SpawnSubagentParams;
  send_subagent_input: SendSubagentInputParams;
  wait_subagents: WaitSubagentsParams;
  resume_subagent: ResumeSubagentParams;
  close_subagent: CloseSubagentParams;
  list_subagents: ListSubagentsParams;
  get_read_model: GetReadModelParams;
  get_turn: GetTurnParams;
  find_object: FindObjectParams;
  compact_thread: CompactThreadParams;
  fork_thread: ForkThreadParams;
  rollback_thread: RollbackThreadParams;
  connect_channel: ConnectChannelParams;
  reconnect_channel: ReconnectChannelParams;
  ack_events: AckEventsParams;
  disconnect_channel: DisconnectChannelParams;
  send_channel_message: SendChannelMessageParams;
  link_peer_task: LinkPeerTaskParams;
  update_peer_task: UpdatePeerTaskParams;
  list_channels: ListChannelsParams;
}

export interface CommandReplies {
  create_session: CreateSessionReply;
  update_session: UpdateSessionReply;
  list_sessions: ListSessionsReply;
  get_session: GetSessionReply;
  get_thread_read: GetThreadReadReply;
  list_events: ListEventsReply;
  submit_turn: SubmitTurnReply;
  interrupt_turn: InterruptTurnReply;
  resume_thread: ResumeThreadReply;
  remove_queued_turn: RemoveQueuedTurnReply;
  promote_queued_turn: PromoteQueuedTurnReply;
  respond_action: RespondActionReply;
  resolve_permission: ResolvePermissionReply;
  list_actions: ListActionsReply;
  evaluate_permission: EvaluatePermissionReply;
  set_policy: SetPolicyReply;
  get_rules: GetRulesReply;
  set_folder_policy: SetFolderPolicyReply;
  get_trust: GetTrustReply;
  trust_workspace: TrustWorkspaceReply;
  get_tool_inventory: GetToolInventoryReply;
  get_execution_environment: GetExecutionEnvironmentReply;
  write_process_stdin: WriteProcessStdinReply;
  resize_process: ResizeProcessReply;
  terminate_process: TerminateProcessReply;
  create_task: CreateTaskReply;
  update_task: UpdateTaskReply;
  start_task: StartTaskReply;
  retry_task: RetryTaskReply;
  claim_task: ClaimTaskReply;
  append_task_progress: AppendTaskProgressReply;
  complete_task: CompleteTaskReply;
  fail_task: FailTaskReply;
  pause_task: PauseTaskReply;
  resume_task: ResumeTaskReply;
  archive_task: ArchiveTaskReply;
  cancel_task: CancelTaskReply;
  link_tasks: LinkTasksReply;
  unlink_tasks: UnlinkTasksReply;
  get_task: GetTaskReply;
  list_tasks: ListTasksReply;
  create_job: CreateJobReply;
  get_job: GetJobReply;
  list_jobs: ListJobsReply;
  cancel_job: CancelJobReply;
  retry_job_item: RetryJobItemReply;
  spawn_subagent: SpawnSubagentReply;
  send_subagent_input: SendSubagentInputReply;
  wait_subagents: WaitSubagentsReply;
  resume_subagent: ResumeSubagentReply;
  close_subagent: CloseSubagentReply;
  list_subagents: ListSubagentsReply;
  get_read_model: GetReadModelReply;
  get_turn: GetTurnReply;
  find_object: FindObjectReply;
  compact_thread: CompactThreadReply;
  fork_thread: ForkThreadReply;
  rollback_thread: RollbackThreadReply;
  connect_channel: ConnectChannelReply;
  reconnect_channel: ReconnectChannelReply;
  ack_events: AckEventsReply;
  disconnect_channel: DisconnectChannelReply;
  send_channel_message: SendChannelMessageReply;
  link_peer_task: LinkPeerTaskReply;
  update_peer_task: UpdatePeerTaskReply;
  list_channels: ListChannelsReply;
}

export type CommandName = keyof CommandParams;

// The commands that take an idempotencyKey.
export const repeatableCommands: ReadonlySet<string> = new Set([
  "create_session",
  "update_session",
  "submit_turn",
  "interrupt_turn",
  "resume_thread",
  "remove_queued_turn",
  "promote_queued_turn",
  "respond_action",
  "resolve_permission",
  "set_policy",
  "set_folder_policy",
  "trust_workspace",
  "write_process_stdin",
  "resize_process",
  "terminate_process",
  "create_task",
  "update_task",
  "start_task",
  "retry_task",
  "claim_task",
  "append_task_progress",
  "complete_task",
  "fail_task",
  "pause_task",
  "resume_task",
  "archive_task",
  "cancel_task",
  "link_tasks",
  "unlink_tasks",
  "create_job",
  "cancel_job",
  "retry_job_item",
  "spawn_subagent",
  "send_subagent_input",
  "resume_subagent",
  "close_subagent",
  "compact_thread",
  "fork_thread",
  "rollback_thread",
  "disconnect_channel",
  "send_channel_message",
  "link_peer_task",
  "update_peer_task",
]);

export type ErrorCode =
  | "invalid_params"
  | "unauthenticated"
  | "forbidden"
  | "not_found"
  | "method_not_allowed"
  | "timeout"
  | "conflict"
  | "idempotency_conflict"
  | "binding_mismatch"
  | "gone"
  | "expired"
  | "too_large"
  | "unsupported_media_type"
  | "misdirected"
  | "limit_exceeded"
  | "header_too_large"
  | "internal"
  | "overloaded"
  | "unavailable"
  | "storage_full";

// The members that all events have, and the ids of what an event concerns.
export interface Envelope {
  eventId: string;
  schemaVersion: string;
  timestamp: string;
  sequence: number;
  runtimeId: string;
  sessionId: string;
  threadId?: string;
  turnId?: string;
  taskId?: string;
  runId?: string;
  attemptId?: string;
  stepId?: string;
  toolCallId?: string;
  actionId?: string;
  subagentId?: string;
  processId?: string;
  channelId?: string;
  jobId?: string;
  jobItemId?: string;
  artifactId?: string;
  evidenceId?: string;
  requestId?: string;
  modelRequestId?: string;
  traceId?: string;
  spanId?: string;
}

// The payload of each event type.
export interface EventPayloads {
  "session.created": SessionCreated;
  "session.updated": SessionUpdated;
  "thread.started": ThreadStarted;
  "thread.updated": ThreadUpdated;
  "turn.submitted": TurnSubmitted;
  "turn.started": TurnStarted;
  "turn.completed": TurnCompleted;
  "turn.failed": TurnFailed;
  "queue.changed": QueueChanged;
  "run.status": RunStatus;
  "task.created": TaskCreated;
  "task.started": TaskStarted;
  "task.blocked": TaskBlocked;
  "task.waiting": TaskWaiting;
  "task.resumed": TaskResumed;
  "task.cancelled": TaskCancelled;
  "task.failed": TaskFailed;
  "task.completed": TaskCompleted;
  "task.attempt.started": TaskAttemptStarted;
  "task.attempt.completed": TaskAttemptCompleted;
  "task.attempt.failed": TaskAttemptFailed;
  "task.accepted": TaskAccepted;
  "task.queued": TaskQueued;
  "task.updated": TaskUpdated;
  "task.progress": TaskProgress;
  "task.paused": TaskPaused;
  "task.retrying": TaskRetrying;
  "task.cancel_requested": TaskCancelRequested;
  "task.timed_out": TaskTimedOut;
  "task.lost": TaskLost;
  "task.archived": TaskArchived;
  "task.delegated": TaskDelegated;
  "task.dependency.updated": TaskDependencyUpdated;
  "subagent.spawned": SubagentSpawned;
  "subagent.status": SubagentStatus;
  "subagent.input": SubagentInput;
  "subagent.completed": SubagentCompleted;
  "subagent.failed": SubagentFailed;
  "subagent.closed": SubagentClosed;
  "model.requested": ModelRequested;
  "model.delta": ModelDelta;
  "model.completed": ModelCompleted;
  "model.failed": ModelFailed;
  "reasoning.delta": ReasoningDelta;
  "reasoning.summary": ReasoningSummary;
  "context.resolved": ContextResolved;
  "tool.catalog.resolved": ToolCatalogResolved;
  "history.window.loaded": HistoryWindowLoaded;
  "history.reconstructed": HistoryReconstructed;
  "task.profile.resolved": TaskProfileResolved;
  "routing.candidates.resolved": RoutingCandidatesResolved;
  "routing.decided": RoutingDecided;
  "routing.single_candidate": RoutingSingleCandidate;
  "routing.fallback.applied": RoutingFallbackApplied;
  "routing.not_possible": RoutingNotPossible;
  "item.started": ItemStarted;
  "item.updated": ItemUpdated;
  "item.completed": ItemCompleted;
  "tool.started": ToolStarted;
  "tool.args": ToolArgs;
  "tool.progress": ToolProgress;
  "tool.result": ToolResult;
  "tool.failed": ToolFailed;
  "artifact.changed": ArtifactChanged;
  "permission.evaluated": PermissionEvaluated;
  "permission.requested": PermissionRequested;
  "permission.resolved": PermissionResolved;
  "action.required": ActionRequired;
  "action.resolved": ActionResolved;
  "policy.changed": PolicyChanged;
  "hook.started": HookStarted;
  "hook.completed": HookCompleted;
  "hook.failed": HookFailed;
  "sandbox.applied": SandboxApplied;
  "sandbox.violation": SandboxViolation;
  "process.started": ProcessStarted;
  "process.output": ProcessOutput;
  "process.input": ProcessInput;
  "process.completed": ProcessCompleted;
  "process.failed": ProcessFailed;
  "process.terminated": ProcessTerminated;
  "snapshot.updated": SnapshotUpdated;
  "snapshot.repaired": SnapshotRepaired;
  "runtime.warning": RuntimeWarning;
  "runtime.error": RuntimeError;
  "output.spilled": OutputSpilled;
  "output.truncated": OutputTruncated;
  "output.redacted": OutputRedacted;
  "output.expired": OutputExpired;
  "job.created": JobCreated;
  "job.started": JobStarted;
  "job.progress": JobProgress;
  "job.item.started": JobItemStarted;
  "job.item.completed": JobItemCompleted;
  "job.item.failed": JobItemFailed;
  "job.completed": JobCompleted;
  "job.failed": JobFailed;
  "job.cancelled": JobCancelled;
  "context.compaction.started": ContextCompactionStarted;
  "context.compaction.completed": ContextCompactionCompleted;
  "context.compaction.failed": ContextCompactionFailed;
  "history.rollback.started": HistoryRollbackStarted;
  "history.rollback.completed": HistoryRollbackCompleted;
  "channel.connected": ChannelConnected;
  "channel.disconnected": ChannelDisconnected;
  "channel.resumed": ChannelResumed;
  "channel.message": ChannelMessage;
  "channel.permission_forwarded": ChannelPermissionForwarded;
  "channel.permission_returned": ChannelPermissionReturned;
  "channel.peer_task.linked": ChannelPeerTaskLinked;
  "channel.peer_task.updated": ChannelPeerTaskUpdated;
}

export type EventType = keyof EventPayloads;

export type EventOf<T extends EventType> = Envelope & { type: T; payload: EventPayloads[T] };

// One event, told apart by `type`. Handle unknown types in a default branch: a newer daemon may
// send some.
export type AgentrtEvent = { [T in EventType]: EventOf<T> }[EventType];

export interface CreateSessionParams {
  sessionId?: string;
  title?: string;
  cwd?: string;
  additionalRoots?: string[];
  metadata?: unknown;
  idempotencyKey?: string;
}

export interface CreateSessionReply {
  sessionId: string;
  title?: string;
  cwd: string;
  archived: boolean;
  sequence: number;
}

export interface UpdateSessionParams {
  sessionId: string;
  title?: string;
  metadata?: unknown;
  archived?: boolean;
  idempotencyKey?: string;
}

export interface UpdateSessionReply {
  sessionId: string;
  title?: string;
  cwd: string;
  archived: boolean;
  sequence: number;
}

export interface ListSessionsParams {
  limit?: number;
  cursor?: string;
  includeSystem?: boolean;
  order?: SessionOrder;
  status?: Status[];
  text?: string;
}

export interface ListSessionsReply {
  data: Array<{
    sessionId: string;
    title?: string;
    cwd: string;
    status: Status;
    archived: boolean;
    threads: number;
    turns: number;
    processes?: number;
    preview?: string;
    createdAt: string;
    updatedAt: string;
    metadata?: unknown;
  }>;
  nextCursor?: string;
}

export interface GetSessionParams {
  sessionId: string;
  cursor?: string;
  limit?: number;
  threadId?: string;
  threadsCursor?: string;
  atSequence?: number;
}

export interface GetSessionReply {
  schemaVersion: string;
  runtimeId: string;
  sessionId: string;
  title?: string;
  cwd: string;
  additionalRoots?: string[];
  metadata?: unknown;
  archived: boolean;
  status: Status;
  createdAt: string;
  updatedAt: string;
  threads: ThreadSnapshot[];
  threadCount: number;
  threadsCursor?: string;
  tasks: TaskSnapshot[];
  taskSummary: TaskSummary;
  processes: ProcessSnapshot[];
  jobs: JobSummary[];
  subagents: SubagentSnapshot[];
  channelSummary: ChannelSummary;
  routingLimitSummary: RoutingLimitSummary;
  telemetrySummary: TelemetrySummary;
  evidenceRefs: string[];
  forkedFrom?: ForkPoint;
  contextBoundary?: ContextBoundary;
  history: TurnSnapshot[];
  historyCursor?: string;
  generation: string;
  asOfSequence: number;
}

export interface GetThreadReadParams {
  sessionId: string;
  threadId: string;
  atSequence?: number;
}

export interface GetThreadReadReply {
  sessionId: string;
  threadId: string;
  status: Status;
  statusReason?: string;
  resumable?: boolean;
  resumeToken?: string;
  activeTurnId?: string;
  activeTurn?: TurnSnapshot;
  pendingRequests: ActionSnapshot[];
  queuedTurns: QueuedTurnSnapshot[];
  lastOutcome?: Outcome;
  incidents: Incident[];
  tasks: TaskSnapshot[];
  jobs: JobSummary[];
  subagents: SubagentSnapshot[];
  forkedFrom?: ForkPoint;
  contextBoundary?: ContextBoundary;
  diagnostics: Diagnostics;
  generation: string;
  asOfSequence: number;
}

export interface ListEventsParams {
  sessionId: string;
  after?: number;
  limit?: number;
  types?: string[];
  generation?: string;
}

export interface ListEventsReply {
  data: AgentrtEvent[];
  nextCursor?: string;
  generation: string;
  asOfSequence: number;
}

export interface SubmitTurnParams {
  sessionId?: string;
  threadId?: string;
  turnId?: string;
  input: InputPart[];
  options?: TurnOptions;
  metadata?: unknown;
  taskId?: string;
  idempotencyKey?: string;
}

export interface SubmitTurnReply {
  sessionId: string;
  threadId: string;
  turnId: string;
  taskId: string;
  status: Status;
  position?: number;
  sequence: number;
}

export interface InterruptTurnParams {
  sessionId: string;
  threadId?: string;
  turnId?: string;
  reason?: string;
  queue?: QueueKeep;
  processes?: ProcessKeep;
  subagents?: SubagentKeep;
  idempotencyKey?: string;
}

export interface InterruptTurnReply {
  sessionId: string;
  interrupted: boolean;
  turnIds: string[];
  sequence: number;
}

export interface ResumeThreadParams {
  sessionId: string;
  threadId: string;
  resumeToken?: string;
  idempotencyKey?: string;
}

export interface ResumeThreadReply {
  sessionId: string;
  threadId: string;
  resumed: boolean;
  status: Status;
  turnId?: string;
  sequence: number;
}

export interface RemoveQueuedTurnParams {
  sessionId: string;
  threadId: string;
  queuedTurnId: string;
  idempotencyKey?: string;
}

export interface RemoveQueuedTurnReply {
  sessionId: string;
  threadId: string;
  turnId: string;
  queue: string[];
  sequence: number;
}

export interface PromoteQueuedTurnParams {
  sessionId: string;
  threadId: string;
  queuedTurnId: string;
  idempotencyKey?: string;
}

export interface PromoteQueuedTurnReply {
  sessionId: string;
  threadId: string;
  turnId: string;
  queue: string[];
  sequence: number;
}

export interface RespondActionParams {
  actionId: string;
  decision: string;
  digest?: string;
  payload?: unknown;
  scope?: AnswerScope;
  rule?: string;
  reason?: string;
  idempotencyKey?: string;
}

export interface RespondActionReply {
  actionId: string;
  sessionId: string;
  decision: string;
  sequence: number;
}

export interface ResolvePermissionParams {
  actionId: string;
  decision: string;
  digest?: string;
  scope?: AnswerScope;
  reason?: string;
  idempotencyKey?: string;
}

export interface ResolvePermissionReply {
  actionId: string;
  sessionId: string;
  decision: string;
  sequence: number;
}

export interface ListActionsParams {
  sessionId?: string;
  includeResolved?: boolean;
  limit?: number;
  cursor?: string;
}

export interface ListActionsReply {
  data: Array<{
    actionId: string;
    sessionId: string;
    threadId: string;
    turnId: string;
    toolCallId?: string;
    subagentId?: string;
    subagent?: string;
    status: string;
    sequence?: number;
    actionType: string;
    prompt?: string;
    schema?: unknown;
    decisions?: string[];
    digest?: string;
    scopes?: string[];
    rules?: string[];
    toolName?: string;
    input?: unknown;
    cwd?: string;
    reason?: string;
    sandbox?: SandboxMode;
    outsideSandbox?: boolean;
    user?: string;
    network?: boolean;
    subcommands?: string[];
    destructive?: boolean;
    impact?: string;
    rollback?: string;
    executes?: ExecutedFile[];
    executesUnknown?: string;
    chain?: Verdict[];
    files?: PolicyFile[];
    server?: string;
    url?: string;
    expiresAt?: string;
    requiredAt: string;
    decision?: string;
    decisionSource?: string;
    answeredBy?: string;
    resolvedAt?: string;
  }>;
  nextCursor?: string;
}

export interface EvaluatePermissionParams {
  sessionId?: string;
  cwd?: string;
  toolName: string;
  input: unknown;
  mode?: PermissionMode;
  sandbox?: SandboxMode;
  interactive?: boolean;
}

export interface EvaluatePermissionReply {
  decision: Decision;
  decisionSource: DecisionSource;
  decisionReason: string;
  ruleRefs: string[];
  chain: Verdict[];
  destructive: boolean;
  impact?: string;
  rollback?: string;
  subcommands: string[];
  executesUnknown?: string;
  executed?: string;
  mode: PermissionMode;
  sandbox: SandboxMode;
  cwd: string;
  ignored: string[];
}

export interface SetPolicyParams {
  sessionId: string;
  allow?: string[];
  ask?: string[];
  deny?: string[];
  remove?: string[];
  mode?: PermissionMode;
  reason?: string;
  idempotencyKey?: string;
}

export interface SetPolicyReply {
  sessionId: string;
  rules: PolicyRule[];
  sequence: number;
}

export interface GetRulesParams {
  sessionId?: string;
  cwd?: string;
}

export interface GetRulesReply {
  workspace: string;
  sessionId?: string;
  mode: PermissionMode;
  modeOrigin?: RuleOrigin;
  sandbox: SandboxMode;
  rules: PolicyRule[];
}

export interface SetFolderPolicyParams {
  cwd: string;
  remove?: string[];
  mode?: PermissionMode;
  reason?: string;
  idempotencyKey?: string;
}

export interface SetFolderPolicyReply {
  workspace: string;
  removed: string[];
  mode?: PermissionMode;
  sequence: number;
}

export interface GetTrustParams {
  cwd: string;
}

export interface GetTrustReply {
  workspace: string;
  files: PolicyFile[];
  sequence: number;
}

export interface TrustWorkspaceParams {
  cwd: string;
  files: FileToTrust[];
  reason?: string;
  idempotencyKey?: string;
}

export interface TrustWorkspaceReply {
  workspace: string;
  files: PolicyFile[];
  sequence: number;
}

export interface GetToolInventoryParams {
  sessionId?: string;
}

export interface GetToolInventoryReply {
  sessionId?: string;
  tools: CatalogTool[];
  missing?: MissingServer[];
  generation: string;
  asOfSequence: number;
}

export interface GetExecutionEnvironmentParams {
  sessionId: string;
  threadId?: string;
}

export interface GetExecutionEnvironmentReply {
  sessionId: string;
  threadId?: string;
  turnId?: string;
  environment?: ExecutionEnvironment;
  processes: ProcessSnapshot[];
  generation: string;
  asOfSequence: number;
}

export interface WriteProcessStdinParams {
  sessionId?: string;
  processId: string;
  input: string;
  close?: boolean;
  idempotencyKey?: string;
}

export interface WriteProcessStdinReply {
  sessionId: string;
  processId: string;
  status: ProcessStatus;
  sequence: number;
}

export interface ResizeProcessParams {
  sessionId?: string;
  processId: string;
  rows: number;
  columns: number;
  idempotencyKey?: string;
}

export interface ResizeProcessReply {
  sessionId: string;
  processId: string;
  status: ProcessStatus;
  sequence: number;
}

export interface TerminateProcessParams {
  sessionId?: string;
  processId: string;
  reason?: string;
  idempotencyKey?: string;
}

export interface TerminateProcessReply {
  sessionId: string;
  processId: string;
  status: ProcessStatus;
  sequence: number;
}

export interface CreateTaskParams {
  sessionId: string;
  objective: string;
  taskId?: string;
  draft?: boolean;
  title?: string;
  parentTaskId?: string;
  threadId?: string;
  blockedBy?: string[];
  taskKind?: string;
  taskFamily?: string;
  visibility?: Visibility;
  priority?: string;
  requestedBy?: string;
  owner?: string;
  assignee?: string;
  scope?: unknown;
  constraints?: TaskConstraintsRead;
  taskProfile?: unknown;
  acceptance?: AcceptanceRead[];
  retryPolicy?: RetryPolicyRead;
  deliveryState?: DeliveryStatus;
  idempotencyKey?: string;
}

export interface CreateTaskReply {
  sessionId: string;
  taskId: string;
  status: TaskStatus;
  retryAt?: string;
  sequence: number;
}

export interface UpdateTaskParams {
  taskId: string;
  sessionId?: string;
  draft?: boolean;
  objective?: string;
  title?: string;
  threadId?: string;
  taskKind?: string;
  taskFamily?: string;
  visibility?: Visibility;
  priority?: string;
  requestedBy?: string;
  owner?: string;
  assignee?: string;
  scope?: unknown;
  constraints?: TaskConstraintsRead;
  taskProfile?: unknown;
  acceptance?: AcceptanceRead[];
  retryPolicy?: RetryPolicyRead;
  deliveryState?: DeliveryStatus;
  idempotencyKey?: string;
}

export interface UpdateTaskReply {
  sessionId: string;
  taskId: string;
  status: TaskStatus;
  retryAt?: string;
  sequence: number;
}

export interface StartTaskParams {
  taskId: string;
  sessionId?: string;
  worker?: TaskWorkerRead;
  idempotencyKey?: string;
}

export interface StartTaskReply {
  sessionId?: string;
  taskId?: string;
  status?: TaskStatus;
  runId?: string;
  attemptId?: string;
  attemptCount?: number;
  objective?: string;
  blockers?: string[];
  sequence: number;
}

export interface RetryTaskParams {
  taskId: string;
  sessionId?: string;
  reason: string;
  worker?: TaskWorkerRead;
  idempotencyKey?: string;
}

export interface RetryTaskReply {
  sessionId?: string;
  taskId?: string;
  status?: TaskStatus;
  runId?: string;
  attemptId?: string;
  attemptCount?: number;
  objective?: string;
  blockers?: string[];
  sequence: number;
}

export interface ClaimTaskParams {
  sessionId: string;
  worker: TaskWorkerRead;
  taskKind?: string;
  waitMs?: number;
  idempotencyKey?: string;
}

export interface ClaimTaskReply {
  sessionId?: string;
  taskId?: string;
  status?: TaskStatus;
  runId?: string;
  attemptId?: string;
  attemptCount?: number;
  objective?: string;
  blockers?: string[];
  sequence: number;
}

export interface AppendTaskProgressParams {
  taskId: string;
  sessionId?: string;
  runId: string;
  progress?: ProgressNoteRead;
  outputRefs?: string[];
  deliveryState?: DeliveryStatus;
  idempotencyKey?: string;
}

export interface AppendTaskProgressReply {
  sessionId: string;
  taskId: string;
  status: TaskStatus;
  retryAt?: string;
  sequence: number;
}

export interface CompleteTaskParams {
  taskId: string;
  sessionId?: string;
  runId?: string;
  summary?: string;
  outputRefs?: string[];
  artifacts?: TaskArtifactRead[];
  evidenceRefs?: string[];
  satisfied?: string[];
  deliveryState?: DeliveryStatus;
  idempotencyKey?: string;
}

export interface CompleteTaskReply {
  sessionId: string;
  taskId: string;
  status: TaskStatus;
  retryAt?: string;
  sequence: number;
}

export interface FailTaskParams {
  taskId: string;
  sessionId?: string;
  runId: string;
  error: FailureRead;
  idempotencyKey?: string;
}

export interface FailTaskReply {
  sessionId: string;
  taskId: string;
  status: TaskStatus;
  retryAt?: string;
  sequence: number;
}

export interface PauseTaskParams {
  taskId: string;
  sessionId?: string;
  reason?: string;
  idempotencyKey?: string;
}

export interface PauseTaskReply {
  sessionId: string;
  taskId: string;
  status: TaskStatus;
  retryAt?: string;
  sequence: number;
}

export interface ResumeTaskParams {
  taskId: string;
  sessionId?: string;
  reason?: string;
  idempotencyKey?: string;
}

export interface ResumeTaskReply {
  sessionId: string;
  taskId: string;
  status: TaskStatus;
  retryAt?: string;
  sequence: number;
}

export interface ArchiveTaskParams {
  taskId: string;
  sessionId?: string;
  reason?: string;
  idempotencyKey?: string;
}

export interface ArchiveTaskReply {
  sessionId: string;
  taskId: string;
  status: TaskStatus;
  retryAt?: string;
  sequence: number;
}

export interface CancelTaskParams {
  taskId: string;
  sessionId?: string;
  reason: string;
  propagate?: boolean;
  idempotencyKey?: string;
}

export interface CancelTaskReply {
  sessionId: string;
  taskId: string;
  status: TaskStatus;
  retryAt?: string;
  sequence: number;
}

export interface LinkTasksParams {
  taskId: string;
  sessionId?: string;
  kind: EdgeKind;
  targetId: string;
  name?: string;
  reason?: string;
  idempotencyKey?: string;
}

export interface LinkTasksReply {
  sessionId: string;
  taskId: string;
  status: TaskStatus;
  retryAt?: string;
  sequence: number;
}

export interface UnlinkTasksParams {
  taskId: string;
  sessionId?: string;
  kind: EdgeKind;
  targetId: string;
  name?: string;
  reason?: string;
  idempotencyKey?: string;
}

export interface UnlinkTasksReply {
  sessionId: string;
  taskId: string;
  status: TaskStatus;
  retryAt?: string;
  sequence: number;
}

export interface GetTaskParams {
  taskId: string;
  sessionId?: string;
  limit?: number;
  cursor?: string;
}

export interface GetTaskReply {
  taskId: string;
  sessionId: string;
  parentTaskId?: string;
  rootTaskId?: string;
  threadId?: string;
  turnId?: string;
  title?: string;
  objective: string;
  taskKind: string;
  taskFamily?: string;
  visibility: Visibility;
  status: TaskStatus;
  statusReason?: string;
  priority?: string;
  requestedBy?: string;
  owner?: string;
  assignee?: string;
  scope?: unknown;
  constraints?: TaskConstraints;
  taskProfile?: unknown;
  acceptance?: Acceptance[];
  missing?: MissingCondition[];
  retryPolicy?: RetryPolicy;
  progress?: ProgressNote;
  currentRunId?: string;
  attemptCount?: number;
  attempts: AttemptSnapshot[];
  relationships?: RelationshipSnapshot[];
  blockers?: string[];
  children?: ChildCounts;
  artifacts?: TaskArtifact[];
  outputRefs?: string[];
  evidenceRefs?: string[];
  deliveryState?: DeliverySnapshot;
  lastError?: Failure;
  retryAt?: string;
  deadlineAt?: string;
  createdAt: string;
  updatedAt?: string;
  startedAt?: string;
  endedAt?: string;
  nextCursor?: string;
}

export interface ListTasksParams {
  sessionId?: string;
  status?: TaskStatus[];
  parentTaskId?: string;
  threadId?: string;
  taskKind?: string;
  assignee?: string;
  includeInternal?: boolean;
  limit?: number;
  cursor?: string;
}

export interface ListTasksReply {
  data: Array<{
    taskId: string;
    sessionId: string;
    parentTaskId?: string;
    rootTaskId?: string;
    threadId?: string;
    turnId?: string;
    title?: string;
    objective: string;
    taskKind: string;
    taskFamily?: string;
    visibility: Visibility;
    status: TaskStatus;
    statusReason?: string;
    priority?: string;
    requestedBy?: string;
    owner?: string;
    assignee?: string;
    scope?: unknown;
    constraints?: TaskConstraints;
    taskProfile?: unknown;
    acceptance?: Acceptance[];
    missing?: MissingCondition[];
    retryPolicy?: RetryPolicy;
    progress?: ProgressNote;
    currentRunId?: string;
    attemptCount?: number;
    attempts: AttemptSnapshot[];
    relationships?: RelationshipSnapshot[];
    blockers?: string[];
    children?: ChildCounts;
    artifacts?: TaskArtifact[];
    outputRefs?: string[];
    evidenceRefs?: string[];
    deliveryState?: DeliverySnapshot;
    lastError?: Failure;
    retryAt?: string;
    deadlineAt?: string;
    createdAt: string;
    updatedAt?: string;
    startedAt?: string;
    endedAt?: string;
    nextCursor?: string;
  }>;
  nextCursor?: string;
}

export interface CreateJobParams {
  sessionId: string;
  runner: JobRunnerRead;
  items?: JobItemInput[];
  itemsRef?: string;
  jobId?: string;
  taskId?: string;
  concurrency?: number;
  retryPolicy?: RetryPolicyRead;
  maxRuntimeMs?: number;
  repeatable?: boolean;
  options?: JobOptions;
  idempotencyKey?: string;
}

export interface CreateJobReply {
  sessionId: string;
  jobId: string;
  taskId: string;
  status: JobStatus;
  items: number;
  sequence: number;
  blockers?: string[];
}

export interface GetJobParams {
  jobId: string;
  sessionId?: string;
  status?: JobItemStatus;
  limit?: number;
  cursor?: string;
}

export interface GetJobReply {
  sessionId: string;
  jobId: string;
  taskId: string;
  status: JobStatus;
  runner: JobRunner;
  counts: JobCounts;
  concurrency: number;
  inputRef: string;
  createdAt?: string;
  startedAt?: string;
  endedAt?: string;
  reason?: string;
  error?: Failure;
  threads: string[];
  items: JobItemView[];
  nextCursor?: string;
}

export interface ListJobsParams {
  sessionId?: string;
  status?: JobStatus;
  limit?: number;
  cursor?: string;
}

export interface ListJobsReply {
  data: JobSummary[];
  nextCursor?: string;
}

export interface CancelJobParams {
  jobId: string;
  sessionId?: string;
  reason?: string;
  idempotencyKey?: string;
}

export interface CancelJobReply {
  sessionId: string;
  jobId: string;
  status: JobStatus;
  sequence: number;
}

export interface RetryJobItemParams {
  jobId: string;
  jobItemId: string;
  sessionId?: string;
  reason?: string;
  idempotencyKey?: string;
}

export interface RetryJobItemReply {
  sessionId: string;
  jobId: string;
  jobItemId: string;
  status: JobItemStatus;
  attemptCount: number;
  sequence: number;
}

export interface SpawnSubagentParams {
  sessionId: string;
  threadId: string;
  role: string;
  prompt: string;
  subagentId?: string;
  nickname?: string;
  taskId?: string;
  model?: string;
  mode?: PermissionMode;
  sandbox?: SandboxMode;
  tools?: string[];
  writeRoots?: string[];
  idempotencyKey?: string;
}

export interface SpawnSubagentReply {
  sessionId: string;
  subagentId: string;
  threadId: string;
  taskId: string;
  turnId: string;
  status: ChildStatus;
  sequence: number;
}

export interface SendSubagentInputParams {
  sessionId?: string;
  subagentId: string;
  input: InputPart[];
  idempotencyKey?: string;
}

export interface SendSubagentInputReply {
  sessionId: string;
  subagentId: string;
  threadId: string;
  taskId: string;
  turnId: string;
  status: ChildStatus;
  sequence: number;
}

export interface WaitSubagentsParams {
  sessionId?: string;
  subagentIds: string[];
  mode?: WaitMode;
  timeoutMs?: number;
}

export interface WaitSubagentsReply {
  subagents: WaitedSubagent[];
  timedOut: boolean;
}

export interface ResumeSubagentParams {
  sessionId?: string;
  subagentId: string;
  reason?: string;
  idempotencyKey?: string;
}

export interface ResumeSubagentReply {
  sessionId: string;
  subagentId: string;
  status: ChildStatus;
  sequence: number;
}

export interface CloseSubagentParams {
  sessionId?: string;
  subagentId: string;
  reason?: string;
  idempotencyKey?: string;
}

export interface CloseSubagentReply {
  sessionId: string;
  subagentId: string;
  status: ChildStatus;
  sequence: number;
}

export interface ListSubagentsParams {
  sessionId: string;
  threadId?: string;
  limit?: number;
  cursor?: string;
}

export interface ListSubagentsReply {
  data: Array<{
    subagentId: string;
    sessionId: string;
    threadId: string;
    parentThreadId: string;
    parentSubagentId?: string;
    parentTurnId?: string;
    depth: number;
    role: string;
    nickname?: string;
    status: ChildStatus;
    statusReason?: string;
    actionId?: string;
    taskId: string;
    delegations: number;
    openDelegations: number;
    mode?: PermissionMode;
    sandbox?: SandboxMode;
    tools?: string[];
    writeRoots?: string[];
    model?: string;
    lastMessageRef?: string;
    preview?: string;
    lastError?: Failure;
    ancestors: string[];
    spawnedAt: string;
    updatedAt: string;
    closedAt?: string;
  }>;
  nextCursor?: string;
}

export interface GetReadModelParams {
  sessionId: string;
  name: string;
  threadId?: string;
  atSequence?: number;
}

export interface GetReadModelReply {
  generation: string;
  asOfSequence: number;
}

export interface GetTurnParams {
  turnId: string;
  sessionId?: string;
  cursor?: string;
  limit?: number;
}

export interface GetTurnReply {
  sessionId: string;
  turn: TurnSnapshot;
  items: ItemSnapshot[];
  nextCursor?: string;
}

export interface FindObjectParams {
  id: string;
  sessionId?: string;
}

export interface FindObjectReply {
  kind: string;
  sessionId: string;
  threadId?: string;
  turnId?: string;
  sequence: number;
}

export interface CompactThreadParams {
  sessionId: string;
  threadId: string;
  instructions?: string;
  idempotencyKey?: string;
}

export interface CompactThreadReply {
  sessionId: string;
  threadId: string;
  turnId?: string;
  status: CompactStatus;
  sequence: number;
}

export interface ForkThreadParams {
  sessionId: string;
  threadId: string;
  turnId?: string;
  newThreadId?: string;
  newSessionId?: string;
  idempotencyKey?: string;
}

export interface ForkThreadReply {
  sessionId: string;
  threadId: string;
  forkedFrom: ForkPoint;
  sequence: number;
}

export interface RollbackThreadParams {
  sessionId: string;
  threadId: string;
  turnId: string;
  restore?: RestoreMode;
  interrupt?: boolean;
  interactive?: boolean;
  idempotencyKey?: string;
}

export interface RollbackThreadReply {
  sessionId: string;
  threadId: string;
  removedTurns: string[];
  removedTurnCount: number;
  effects: RollbackEffect[];
  effectCount: number;
  files: RollbackFile[];
  fileCount: number;
  restoreTurnId?: string;
  sequence: number;
}

export interface ConnectChannelParams {
  sessionId: string;
  channelId?: string;
  peerRole?: PeerRole;
  capabilities?: ChannelCapability[];
  nativeProtocol?: string;
  nativeIds?: unknown;
  agentCardRef?: string;
  transport?: Transport;
  afterSequence?: number;
  ackWindow?: number;
  heartbeatMs?: number;
}

export interface ConnectChannelReply {
  channelId: string;
  sessionId: string;
  transport: Transport;
  capabilities: string[];
  resumeToken?: string;
  generation: string;
  sequence: number;
  afterSequence: number;
  replay?: ReplayRange;
  pendingActions: string[];
  acknowledgedSequence: number;
  ackWindow?: number;
  heartbeatMs?: number;
  snapshot: SessionSnapshot;
}

export interface ReconnectChannelParams {
  channelId: string;
  resumeToken: string;
  afterSequence?: number;
  generation?: string;
  replay?: Replay;
  transport?: Transport;
}

export interface ReconnectChannelReply {
  channelId: string;
  sessionId: string;
  transport: Transport;
  capabilities: string[];
  resumeToken?: string;
  generation: string;
  sequence: number;
  afterSequence: number;
  replay?: ReplayRange;
  pendingActions: string[];
  acknowledgedSequence: number;
  ackWindow?: number;
  heartbeatMs?: number;
  gap?: ReplayGap;
  peerTasks: PeerTaskState[];
  peerTaskCount: number;
  snapshot: SessionSnapshot;
}

export interface AckEventsParams {
  channelId: string;
  sequence: number;
  generation?: string;
}

export interface AckEventsReply {
  channelId: string;
  acknowledgedSequence: number;
  headSequence: number;
}

export interface DisconnectChannelParams {
  channelId: string;
  reason?: string;
  idempotencyKey?: string;
}

export interface DisconnectChannelReply {
  channelId: string;
  status: ChannelStatus;
  sequence: number;
}

export interface SendChannelMessageParams {
  channelId: string;
  kind: string;
  text?: string;
  payload?: unknown;
  direction?: MessageDirection;
  idempotencyKey?: string;
}

export interface SendChannelMessageReply {
  channelId: string;
  messageRef?: string;
  sequence: number;
}

export interface LinkPeerTaskParams {
  channelId: string;
  taskId: string;
  nativeProtocol: string;
  remoteTaskId: string;
  remoteContextId?: string;
  agentCardRef?: string;
  idempotencyKey?: string;
}

export interface LinkPeerTaskReply {
  channelId: string;
  taskId: string;
  sequence: number;
}

export interface UpdatePeerTaskParams {
  channelId: string;
  taskId: string;
  remoteStatus: string;
  recovery?: PeerRecovery;
  remoteArtifactRefs?: string[];
  error?: FailureRead;
  idempotencyKey?: string;
}

export interface UpdatePeerTaskReply {
  channelId: string;
  taskId: string;
  sequence: number;
}

export interface ListChannelsParams {
  sessionId?: string;
  includeClosed?: boolean;
  limit?: number;
  cursor?: string;
}

export interface ListChannelsReply {
  data: Array<{
    channelId: string;
    sessionId: string;
    status: ChannelStatus;
    reason?: string;
    transport: Transport;
    peerRole: PeerRole;
    accountRef?: string;
    tokenId?: string;
    capabilities: string[];
    nativeProtocol?: string;
    nativeIds?: unknown;
    agentCardRef?: string;
    resumeTokenRef?: string;
    ackWindow?: number;
    heartbeatMs?: number;
    connectedAt: string;
    lastSeenAt: string;
    disconnectedAt?: string;
    expiresAt?: string;
    acknowledgedSequence: number;
    pendingActions: string[];
    peerTasks: PeerTaskSnapshot[];
    peerTaskCount: number;
    bootId: string;
  }>;
  nextCursor?: string;
}

export interface Error {
  error: {
    code: 
      | "invalid_params"
      | "unauthenticated"
      | "forbidden"
      | "not_found"
      | "method_not_allowed"
      | "timeout"
      | "conflict"
      | "idempotency_conflict"
      | "binding_mismatch"
      | "gone"
      | "expired"
      | "too_large"
      | "unsupported_media_type"
      | "misdirected"
      | "limit_exceeded"
      | "header_too_large"
      | "internal"
      | "overloaded"
      | "unavailable"
      | "storage_full";
    message: string;
    details?: Record<string, unknown>;
  };
}

export interface Acceptance {
  kind: AcceptanceKind;
  name?: string;
}

export type AcceptanceKind = "artifact" | "evidence" | "children" | "delivery" | "statement";

export interface AcceptanceRead {
  kind: AcceptanceKind;
  name?: string;
}

export interface ActionSnapshot {
  actionId: string;
  sessionId: string;
  threadId: string;
  turnId: string;
  toolCallId?: string;
  subagentId?: string;
  subagent?: string;
  status: string;
  sequence?: number;
  actionType: string;
  prompt?: string;
  schema?: unknown;
  decisions?: string[];
  digest?: string;
  scopes?: string[];
  rules?: string[];
  toolName?: string;
  input?: unknown;
  cwd?: string;
  reason?: string;
  sandbox?: SandboxMode;
  outsideSandbox?: boolean;
  user?: string;
  network?: boolean;
  subcommands?: string[];
  destructive?: boolean;
  impact?: string;
  rollback?: string;
  executes?: ExecutedFile[];
  executesUnknown?: string;
  chain?: Verdict[];
  files?: PolicyFile[];
  server?: string;
  url?: string;
  expiresAt?: string;
  requiredAt: string;
  decision?: string;
  decisionSource?: string;
  answeredBy?: string;
  resolvedAt?: string;
}

export type AnswerScope = "once" | "session" | "always" | "channel";

export interface AttemptSnapshot {
  runId: string;
  attemptId: string;
  status: PublicStatus;
  nativeStatus: Status;
  attemptCount: number;
  worker?: TaskWorker;
  turnId?: string;
  startedAt?: string;
  endedAt?: string;
  lastError?: Failure;
  completionSummary?: string;
  outputRefs?: string[];
}

export interface CatalogTool {
  toolName: string;
  description: string;
  inputSchema: unknown;
  capabilities: string[];
  policy: string;
  runtimeOwner: string;
  isReadOnly: boolean;
  isConcurrencySafe: boolean;
  isDestructive: boolean;
  interruptBehavior: string;
}

export type Category =
  | "invalid_input"
  | "denied"
  | "unavailable"
  | "sandbox"
  | "timeout"
  | "cancelled"
  | "interrupted"
  | "lost"
  | "not_found"
  | "exit_nonzero"
  | "rate_limited"
  | "provider"
  | "internal";

export type ChannelCapability =
  | "streaming"
  | "resume"
  | "permissions"
  | "files"
  | "artifacts"
  | "task_delegation";

export interface ChannelSnapshot {
  channelId: string;
  sessionId: string;
  status: ChannelStatus;
  reason?: string;
  transport: Transport;
  peerRole: PeerRole;
  accountRef?: string;
  tokenId?: string;
  capabilities: string[];
  nativeProtocol?: string;
  nativeIds?: unknown;
  agentCardRef?: string;
  resumeTokenRef?: string;
  ackWindow?: number;
  heartbeatMs?: number;
  connectedAt: string;
  lastSeenAt: string;
  disconnectedAt?: string;
  expiresAt?: string;
  acknowledgedSequence: number;
  pendingActions: string[];
  peerTasks: PeerTaskSnapshot[];
  peerTaskCount: number;
  bootId: string;
}

export type ChannelStatus = "connected" | "disconnected" | "closed" | "stale";

export interface ChannelSummary {
  channels: ChannelSnapshot[];
}

export interface ChildCounts {
  total: number;
  open: number;
  completed: number;
}

export type ChildStatus =
  | "queued"
  | "running"
  | "waiting_input"
  | "waiting_permission"
  | "blocked"
  | "completed"
  | "failed"
  | "cancelled"
  | "closed";

export type CommandNetwork = "none" | "host";

export type CompactStatus = "accepted" | "queued" | "unchanged";

export interface ContextBoundary {
  summaryRef: string;
  continuationRef: string;
  coversThrough: number;
  sequence: number;
  sessionId?: string;
}

export type Decision = "allow" | "deny" | "ask" | "unavailable" | "sandboxed";

export type DecisionSource =
  | "mode"
  | "rule"
  | "hook"
  | "classifier"
  | "human"
  | "host_policy";

export interface DeliverySnapshot {
  status: DeliveryStatus;
}

export type DeliveryStatus =
  | "pending"
  | "delivered"
  | "queued"
  | "failed"
  | "parent_missing"
  | "not_applicable";

export interface Diagnostics {
  turns: number;
  unknownFacts: number;
  modelRequests?: number;
  retryAt?: string;
}

export type EdgeKind =
  | "parent"
  | "child"
  | "blocks"
  | "blocked_by"
  | "source_task"
  | "source_attempt"
  | "spawned_subagent"
  | "assigned_thread"
  | "produced_artifact"
  | "consumed_artifact"
  | "evidence";

export type EdgeStatus = "active" | "satisfied" | "removed";

export type EffectKind = "command" | "mcp_call" | "process" | "file";

export type EffectState =
  | "not_undoable"
  | "running"
  | "restorable"
  | "changed_since"
  | "unknown";

export interface EmptySummary {
  status: Honesty;
}

export interface EnvironmentSandbox {
  mode: SandboxMode;
  readRoots: string[];
  writeRoots: string[];
}

export interface ExecutedFile {
  path: string;
  digest?: string;
}

export interface ExecutionEnvironment {
  workspaceId: string;
  cwd: string;
  additionalRoots: string[];
  shell: string;
  os: string;
  arch: string;
  envRef: string;
  envNames: string[];
  sandboxProfile: EnvironmentSandbox;
  networkProfile: CommandNetwork;
  resourceLimits: ProcessLimits;
}

export interface Failure {
  category: Category;
  message: string;
  retryable: boolean;
}

export interface FailureRead {
  category: Category;
  message: string;
  retryable: boolean;
}

export interface FileToTrust {
  path: string;
  digest: string;
  trusted: boolean;
  effects?: string[];
}

export interface ForkPoint {
  sessionId: string;
  threadId: string;
  turnId: string;
  sequence: number;
  hash: string;
}

export type Honesty =
  | "unknown"
  | "unavailable"
  | "not_applicable"
  | "stale"
  | "blocked";

export interface Incident {
  sequence: number;
  at: string;
  kind: string;
  message: string;
  turnId: string;
}

export type InputKind = "text" | "file" | "output";

export interface InputPart {
  type: InputKind;
  text?: string;
  path?: string;
  ref?: string;
}

export type ItemKind =
  | "agent_message"
  | "reasoning"
  | "tool_call"
  | "command"
  | "file_change"
  | "web_search"
  | "todo"
  | "error";

export interface ItemSnapshot {
  stepId: string;
  kind: ItemKind;
  status: Status;
  toolCallId?: string;
  toolName?: string;
  text?: string;
  preview?: string;
  outputRef?: string;
  error?: Failure;
  firstSequence: number;
  startedAt: string;
  completedAt?: string;
}

export interface JobCounts {
  pending: number;
  running: number;
  completed: number;
  failed: number;
  reported: number;
}

export interface JobItemInput {
  jobItemId?: string;
  input: unknown;
}

export type JobItemStatus = "pending" | "running" | "completed" | "failed" | "reported";

export interface JobItemView {
  jobItemId: string;
  status: JobItemStatus;
  attemptCount: number;
  threadId?: string;
  lastError?: Failure;
  outputRef?: string;
  preview?: string;
}

export interface JobOptions {
  mode?: PermissionMode;
  sandbox?: SandboxMode;
  interactive?: boolean;
}

export interface JobRunner {
  kind: RunnerKind;
  command?: string;
  timeoutMs?: number;
  instruction?: string;
  model?: string;
  tools?: string[];
  outputSchema?: unknown;
}

export interface JobRunnerRead {
  kind: RunnerKind;
  command?: string;
  timeoutMs?: number;
  instruction?: string;
  model?: string;
  tools?: string[];
  outputSchema?: unknown;
}

export type JobStatus = "queued" | "running" | "completed" | "failed" | "cancelled";

export interface JobSummary {
  sessionId: string;
  jobId: string;
  taskId: string;
  status: JobStatus;
  runner: JobRunner;
  counts: JobCounts;
  items: number;
  concurrency: number;
  inputRef: string;
  createdAt: string;
  startedAt?: string;
  endedAt?: string;
  reason?: string;
  error?: Failure;
}

export type MessageDirection = "in" | "out";

export interface MissingCondition {
  kind: AcceptanceKind;
  name: string;
  reason: string;
}

export interface MissingServer {
  name: string;
  reason: string;
  remedy?: string;
}

export interface Outcome {
  turnId: string;
  status: Status;
  reason?: string;
  at: string;
}

export type PeerRecovery =
  | "running"
  | "idle"
  | "waiting"
  | "unreconciled"
  | "missing"
  | "unreachable";

export type PeerRole =
  | "client"
  | "host"
  | "worker"
  | "remote_runtime"
  | "peer_agent"
  | "tool_server";

export interface PeerTaskSnapshot {
  channelId: string;
  taskId: string;
  nativeProtocol?: string;
  remoteTaskId: string;
  remoteContextId?: string;
  agentCardRef?: string;
  remoteStatus?: string;
  recovery?: string;
  remoteArtifactRefs?: string[];
  error?: Failure;
  firstSequence: number;
  updatedAt: string;
}

export interface PeerTaskState {
  taskId: string;
  remoteTaskId: string;
  remoteStatus?: string;
  recovery?: string;
}

export type PermissionMode =
  | "default"
  | "untrusted"
  | "on_request"
  | "on_failure"
  | "never"
  | "plan"
  | "auto"
  | "bypass";

export interface PolicyFile {
  path: string;
  digest: string;
  trusted: boolean;
  changed: boolean;
  effects?: string[];
  trustedEffects?: string[];
}

export interface PolicyRule {
  effect: RuleEffect;
  rule: string;
  origin: RuleOrigin;
  cwd?: string;
  executes?: ExecutedFile[];
  grantedAt?: string;
  channelId?: string;
}

export type ProcessKeep = "keep" | "end";

export interface ProcessLimits {
  processes: number;
  openFiles: number;
  tmpBytes: number;
}

export interface ProcessSnapshot {
  processId: string;
  threadId: string;
  turnId: string;
  toolCallId: string;
  command: string;
  cwd?: string;
  tty: boolean;
  status: ProcessStatus;
  exitCode?: number;
  outputBytes: number;
  inputClosed: boolean;
  startedAt: string;
  endedAt?: string;
}

export type ProcessStatus =
  | "running"
  | "ending"
  | "completed"
  | "failed"
  | "terminated"
  | "unknown";

export interface ProgressNote {
  phase?: string;
  step?: string;
  counters?: unknown;
  validation?: unknown;
}

export interface ProgressNoteRead {
  phase?: string;
  step?: string;
  counters?: unknown;
  validation?: unknown;
}

export type PublicStatus =
  | "idle"
  | "queued"
  | "running"
  | "blocked"
  | "completed"
  | "failed"
  | "cancelled"
  | "stale"
  | "unknown";

export type QueueKeep = "keep" | "clear";

export type QueuePolicy = "enqueue" | "reject" | "interrupt";

export interface QueuedTurnSnapshot {
  turnId: string;
  taskId: string;
  position: number;
  inputPreview: string;
  source: string;
  submittedAt: string;
}

export interface RelationshipSnapshot {
  relationship: string;
  targetId: string;
  name?: string;
  status: EdgeStatus;
  reason?: string;
  createdAt: string;
  updatedAt: string;
}

export type Replay = "all" | "none";

export interface ReplayGap {
  fromSequence: number;
  toSequence: number;
  reason: string;
}

export interface ReplayRange {
  fromSequence: number;
  toSequence: number;
}

export type RestoreMode = "none" | "preview" | "files";

export interface RetryPolicy {
  maxAttempts: number;
  backoffMs?: number;
  backoffFactor?: number;
  backoffMaxMs?: number;
  nonRetryable?: Category[];
}

export interface RetryPolicyRead {
  maxAttempts: number;
  backoffMs?: number;
  backoffFactor?: number;
  backoffMaxMs?: number;
  nonRetryable?: Category[];
}

export interface RollbackEffect {
  kind: EffectKind;
  state: EffectState;
  turnId?: string;
  toolCallId?: string;
  processId?: string;
  toolName?: string;
  text?: string;
}

export interface RollbackFile {
  path: string;
  state: EffectState;
}

export interface RoutingLimitSummary {
  candidateCount?: number;
  singleCandidate?: boolean;
  selectedProvider?: string;
  selectedModel?: string;
  decisionReason?: string;
  limitState: Honesty;
}

export type RuleEffect = "allow" | "ask" | "deny";

export type RuleOrigin =
  | "managed"
  | "user"
  | "workspace"
  | "flag"
  | "session"
  | "always"
  | "channel";

export type RunnerKind = "command" | "turn";

export type SandboxMode = "read_only" | "workspace_write" | "full_access";

export type SessionOrder = "created" | "updated";

export interface SessionSnapshot {
  schemaVersion: string;
  runtimeId: string;
  sessionId: string;
  title?: string;
  cwd: string;
  additionalRoots?: string[];
  metadata?: unknown;
  archived: boolean;
  status: Status;
  createdAt: string;
  updatedAt: string;
  threads: ThreadSnapshot[];
  threadCount: number;
  threadsCursor?: string;
  tasks: TaskSnapshot[];
  taskSummary: TaskSummary;
  processes: ProcessSnapshot[];
  jobs: JobSummary[];
  subagents: SubagentSnapshot[];
  channelSummary: ChannelSummary;
  routingLimitSummary: RoutingLimitSummary;
  telemetrySummary: TelemetrySummary;
  evidenceRefs: string[];
  forkedFrom?: ForkPoint;
  contextBoundary?: ContextBoundary;
  history: TurnSnapshot[];
  historyCursor?: string;
  generation: string;
  asOfSequence: number;
}

export type Status =
  | "accepted"
  | "queued"
  | "preparing"
  | "running"
  | "waiting_input"
  | "waiting_permission"
  | "waiting_resource"
  | "blocked"
  | "streaming"
  | "retrying"
  | "lost"
  | "timed_out"
  | "completed"
  | "failed"
  | "cancelled"
  | "stale"
  | "idle";

export type SubagentKeep = "keep" | "end";

export interface SubagentSnapshot {
  subagentId: string;
  sessionId: string;
  threadId: string;
  parentThreadId: string;
  parentSubagentId?: string;
  parentTurnId?: string;
  depth: number;
  role: string;
  nickname?: string;
  status: ChildStatus;
  statusReason?: string;
  actionId?: string;
  taskId: string;
  delegations: number;
  openDelegations: number;
  mode?: PermissionMode;
  sandbox?: SandboxMode;
  tools?: string[];
  writeRoots?: string[];
  model?: string;
  lastMessageRef?: string;
  preview?: string;
  lastError?: Failure;
  ancestors: string[];
  spawnedAt: string;
  updatedAt: string;
  closedAt?: string;
}

export interface TaskArtifact {
  name: string;
  ref: string;
}

export interface TaskArtifactRead {
  name: string;
  ref: string;
}

export interface TaskConstraints {
  mode?: PermissionMode;
  sandbox?: SandboxMode;
  model?: string;
  tools?: string[];
  timeoutMs?: number;
  deadlineMs?: number;
  heartbeatMs?: number;
  cancelGraceMs?: number;
  repeatable?: boolean;
}

export interface TaskConstraintsRead {
  mode?: PermissionMode;
  sandbox?: SandboxMode;
  model?: string;
  tools?: string[];
  timeoutMs?: number;
  deadlineMs?: number;
  heartbeatMs?: number;
  cancelGraceMs?: number;
  repeatable?: boolean;
}

export interface TaskSnapshot {
  taskId: string;
  sessionId: string;
  parentTaskId?: string;
  rootTaskId?: string;
  threadId?: string;
  turnId?: string;
  title?: string;
  objective: string;
  taskKind: string;
  taskFamily?: string;
  visibility: Visibility;
  status: TaskStatus;
  statusReason?: string;
  priority?: string;
  requestedBy?: string;
  owner?: string;
  assignee?: string;
  scope?: unknown;
  constraints?: TaskConstraints;
  taskProfile?: unknown;
  acceptance?: Acceptance[];
  missing?: MissingCondition[];
  retryPolicy?: RetryPolicy;
  progress?: ProgressNote;
  currentRunId?: string;
  attemptCount?: number;
  attempts: AttemptSnapshot[];
  relationships?: RelationshipSnapshot[];
  blockers?: string[];
  children?: ChildCounts;
  artifacts?: TaskArtifact[];
  outputRefs?: string[];
  evidenceRefs?: string[];
  deliveryState?: DeliverySnapshot;
  lastError?: Failure;
  retryAt?: string;
  deadlineAt?: string;
  createdAt: string;
  updatedAt?: string;
  startedAt?: string;
  endedAt?: string;
  nextCursor?: string;
}

export type TaskStatus =
  | "draft"
  | "accepted"
  | "queued"
  | "preparing"
  | "running"
  | "waiting_input"
  | "waiting_permission"
  | "waiting_resource"
  | "blocked"
  | "paused"
  | "retrying"
  | "cancelling"
  | "cancelled"
  | "timed_out"
  | "failed"
  | "lost"
  | "completed"
  | "archived"
  | "stale"
  | "unknown";

export interface TaskSummary {
  active: number;
  completed: number;
  failed: number;
  cancelled: number;
}

export interface TaskWorker {
  kind: WorkerKind;
  threadId?: string;
  jobId?: string;
  name?: string;
}

export interface TaskWorkerRead {
  kind: WorkerKind;
  threadId?: string;
  jobId?: string;
  name?: string;
}

export interface TelemetrySummary {
  traceIds: string[];
  joinStatus: string;
  missing?: string[];
}

export interface ThreadSnapshot {
  threadId: string;
  status: PublicStatus;
  statusDetail: Status;
  statusReason?: string;
  resumable?: boolean;
  activeTurnId?: string;
  turns: TurnSnapshot[];
  pendingRequests: ActionSnapshot[];
  queuedTurns: QueuedTurnSnapshot[];
  subagents: SubagentSnapshot[];
  incidents: Incident[];
  evidenceSummary: EmptySummary;
  lastOutcome?: Outcome;
  forkedFrom?: ForkPoint;
  contextBoundary?: ContextBoundary;
}

export type Transport =
  | "websocket"
  | "sse"
  | "json_rpc"
  | "grpc"
  | "http_json"
  | "stdio"
  | "in_process"
  | "custom";

export interface TurnOptions {
  model?: string;
  fallback?: string[];
  mode?: PermissionMode;
  sandbox?: SandboxMode;
  cwd?: string;
  additionalRoots?: string[];
  interactive?: boolean;
  askTrust?: boolean;
  askTimeoutMs?: number;
  queuePolicy?: QueuePolicy;
  tools?: string[];
  resume?: boolean;
}

export interface TurnSnapshot {
  turnId: string;
  threadId: string;
  taskId: string;
  runId: string;
  attemptId: string;
  traceId: string;
  status: Status;
  reason?: string;
  resumable?: boolean;
  inputPreview: string;
  inputRef: string;
  outputPreview?: string;
  outputRef?: string;
  provider?: string;
  model?: string;
  modelRequests: number;
  usage?: Usage;
  error?: Failure;
  submittedAt: string;
  startedAt?: string;
  completedAt?: string;
  firstSequence: number;
  source?: string;
  lastSequence?: number;
  removed?: boolean;
}

export interface Usage {
  inputTokens: number;
  outputTokens: number;
  cachedTokens?: number;
  reasoningTokens?: number;
}

export interface Verdict {
  source: DecisionSource;
  verdict: Decision;
  rule?: string;
  reason?: string;
}

export type Visibility = "foreground" | "background" | "internal" | "hidden";

export type WaitMode = "all" | "any";

export interface WaitedSubagent {
  subagentId: string;
  status: ChildStatus;
  lastMessageRef?: string;
  preview?: string;
}

export type WorkerKind = "turn" | "job" | "external";

export interface SessionCreated {
  title?: string;
  cwd: string;
  additionalRoots?: string[];
  metadata?: unknown;
  paramsHash?: string;
}

export interface SessionUpdated {
  title?: string;
  metadata?: unknown;
  archived?: boolean;
}

export interface ThreadStarted {
  status: Status;
  forkedFrom?: ForkPoint;
  paramsHash?: string;
  inherited?: InheritedPart[];
  contextBoundary?: ContextBoundary;
}

export interface ThreadUpdated {
  status: Status;
  reason?: string;
  resumable?: boolean;
  bootId?: string;
  thread?: unknown;
}

export interface TurnSubmitted {
  status: Status;
  input: InputPart[];
  source: string;
  options: TurnOptions;
  metadata?: unknown;
  position?: number;
  paramsHash?: string;
  inputRef?: string;
  work?: string;
  instructions?: string;
  restore?: RestoreRange;
  parentSpanId?: string;
  traceSampled?: boolean;
}

export interface TurnStarted {
  status: Status;
  bootId: string;
  queuedMs?: number;
}

export interface TurnCompleted {
  status: Status;
  stopReason: StopReason;
  usage: Usage;
  durationMs: number;
}

export interface TurnFailed {
  status: Status;
  reason: string;
  error?: Failure;
  durationMs: number;
}

export interface QueueChanged {
  change: QueueChange;
  turnId: string;
  position: number;
  count: number;
}

export interface RunStatus {
  status: Status;
  phase: string;
  title: string;
  detail?: string;
  resumable?: boolean;
}

export interface TaskCreated {
  visibility: Visibility;
  status: TaskStatus;
  objective: string;
  taskKind: string;
  title?: string;
  taskFamily?: string;
  threadId?: string;
  priority?: string;
  requestedBy?: string;
  owner?: string;
  assignee?: string;
  scope?: unknown;
  constraints?: TaskConstraints;
  taskProfile?: unknown;
  acceptance?: Acceptance[];
  retryPolicy?: RetryPolicy;
  deliveryState?: DeliveryStatus;
  paramsHash?: string;
  blocked?: boolean;
}

export interface TaskStarted {
  status: TaskStatus;
}

export interface TaskBlocked {
  status: TaskStatus;
  reason: string;
  resumable: boolean;
  missing?: MissingCondition[];
}

export interface TaskWaiting {
  status: TaskStatus;
  reason?: string;
}

export interface TaskResumed {
  status: TaskStatus;
  reason: string;
}

export interface TaskCancelled {
  status: TaskStatus;
  reason: string;
}

export interface TaskFailed {
  status: TaskStatus;
  error: Failure;
}

export interface TaskCompleted {
  status: TaskStatus;
  summary?: string;
  outputRefs?: string[];
  artifacts?: TaskArtifact[];
  evidenceRefs?: string[];
  satisfied?: string[];
  deliveryState?: DeliveryStatus;
}

export interface TaskAttemptStarted {
  status: Status;
  attemptCount: number;
  bootId: string;
  worker?: TaskWorker;
}

export interface TaskAttemptCompleted {
  status: Status;
  summary?: string;
  outputRefs?: string[];
  durationMs?: number;
}

export interface TaskAttemptFailed {
  status: Status;
  error: Failure;
  durationMs?: number;
}

export interface TaskAccepted {
  status: TaskStatus;
  reason?: string;
}

export interface TaskQueued {
  status: TaskStatus;
  reason?: string;
  worker?: TaskWorker;
}

export interface TaskUpdated {
  status?: TaskStatus;
  title?: string;
  objective?: string;
  visibility?: Visibility;
  taskKind?: string;
  taskFamily?: string;
  threadId?: string;
  priority?: string;
  requestedBy?: string;
  owner?: string;
  assignee?: string;
  scope?: unknown;
  constraints?: TaskConstraints;
  taskProfile?: unknown;
  acceptance?: Acceptance[];
  retryPolicy?: RetryPolicy;
  deliveryState?: DeliveryStatus;
}

export interface TaskProgress {
  phase?: string;
  step?: string;
  counters?: unknown;
  validation?: unknown;
  outputRefs?: string[];
  deliveryState?: DeliveryStatus;
}

export interface TaskPaused {
  status: TaskStatus;
  reason?: string;
}

export interface TaskRetrying {
  status: TaskStatus;
  reason?: string;
  previousStatus?: TaskStatus;
  retryAt?: string;
  retryInMs?: number;
  worker?: TaskWorker;
  error?: Failure;
}

export interface TaskCancelRequested {
  status: TaskStatus;
  reason?: string;
  propagate?: boolean;
}

export interface TaskTimedOut {
  status: TaskStatus;
  reason?: string;
}

export interface TaskLost {
  status: TaskStatus;
  reason?: string;
}

export interface TaskArchived {
  status: TaskStatus;
  reason?: string;
}

export interface TaskDelegated {
  childTaskId: string;
  subagentId?: string;
  jobId?: string;
  assignee?: string;
}

export interface TaskDependencyUpdated {
  relationship: string;
  targetId?: string;
  targetTaskId?: string;
  name?: string;
  status?: string;
  reason?: string;
}

export interface SubagentSpawned {
  childThreadId: string;
  role?: string;
  nickname?: string;
  taskId: string;
  parentThreadId: string;
  childTurnId?: string;
  mode?: PermissionMode;
  sandbox?: SandboxMode;
  tools?: string[];
  writeRoots?: string[];
  model?: string;
  paramsHash?: string;
}

export interface SubagentStatus {
  childThreadId: string;
  taskId?: string;
  status: Status;
  reason?: string;
  actionId?: string;
}

export interface SubagentInput {
  childThreadId: string;
  taskId?: string;
  inputRef?: string;
  preview?: string;
}

export interface SubagentCompleted {
  childThreadId: string;
  taskId?: string;
  lastMessageRef?: string;
  preview?: string;
}

export interface SubagentFailed {
  childThreadId: string;
  taskId?: string;
  error?: Failure;
}

export interface SubagentClosed {
  childThreadId: string;
  reason?: string;
}

export interface ModelRequested {
  provider: string;
  model: string;
  modelName: string;
  requestRef: string;
  number: number;
  bootId: string;
  purpose?: string;
  requestDigest?: string;
}

export interface ModelDelta {
  text: string;
}

export interface ModelCompleted {
  text?: string;
  preview?: string;
  outputRef?: string;
  toolCalls: RequestedCall[];
  stopReason: StopReason;
  usage: Usage;
  provider: string;
  model: string;
  durationMs: number;
  rawRequestRef?: string;
  rawResponseRef?: string;
  providerState?: unknown;
  purpose?: string;
  firstTokenMs?: number;
}

export interface ModelFailed {
  error: Failure;
  providerStatus?: number;
  endedByProvider: boolean;
  retry?: ModelRetry;
  provider: string;
  model: string;
  durationMs: number;
  rawRequestRef?: string;
  rawResponseRef?: string;
  cause?: FaultCause;
  firstTokenMs?: number;
}

export interface ReasoningDelta {
  text: string;
}

export interface ReasoningSummary {
  text?: string;
  preview?: string;
  outputRef?: string;
}

export interface ContextResolved {
  cwd: string;
  instructionRefs: ContextRef[];
  workspaceRefs: ContextRef[];
  memoryRefs: ContextRef[];
  omitted: ContextRef[];
  missing: ContextRef[];
  environment?: RecordedEnvironment;
  surroundings?: Surroundings;
  message?: string;
  tokens?: ContextTokens;
  prefix?: ContextPrefix;
  instructionsDigest?: string;
  omittedThrough?: number;
  historyDigest?: string;
  inputDigest?: string;
  home?: string;
}

export interface ToolCatalogResolved {
  tools?: CatalogTool[];
  missing?: MissingServer[];
  sameAs?: string;
  digest?: string;
  count?: number;
  offeredDigest?: string;
}

export interface HistoryWindowLoaded {
  turns: number;
  omitted: number;
  fromSequence: number;
  toSequence: number;
}

export interface HistoryReconstructed {
  turnId: string;
  asOfSequence: number;
  source: string;
}

export interface TaskProfileResolved {
  kind: string;
  source: string;
  requiredCapabilities: string[];
  latencyTarget: string;
  budgetClass: string;
  fallbackPolicy: string;
  settingsSource: string;
}

export interface RoutingCandidatesResolved {
  candidateCount: number;
  candidates: Candidate[];
  excluded: ExcludedCandidate[];
  hardConstraints: string[];
  preferences: string[];
  defaultModel?: string;
  fallback?: string[];
}

export interface RoutingDecided {
  routingMode: string;
  decisionSource: string;
  decisionReason: string;
  selectedProvider?: string;
  selectedModel?: string;
  selectedName?: string;
  requestedModel?: string;
  candidateCount: number;
  fallbackChain: string[];
  capabilityGap: string[];
  requiresUserOverride: boolean;
}

export interface RoutingSingleCandidate {
  routingMode: string;
  decisionSource: string;
  decisionReason: string;
  selectedProvider?: string;
  selectedModel?: string;
  selectedName?: string;
  requestedModel?: string;
  candidateCount: number;
  fallbackChain: string[];
  capabilityGap: string[];
  requiresUserOverride: boolean;
}

export interface RoutingFallbackApplied {
  routingMode: string;
  decisionSource: string;
  decisionReason: string;
  selectedProvider?: string;
  selectedModel?: string;
  selectedName?: string;
  requestedModel?: string;
  candidateCount: number;
  fallbackChain: string[];
  capabilityGap: string[];
  requiresUserOverride: boolean;
  fromName?: string;
  fromProvider?: string;
  fromModel?: string;
  cause?: FaultCause;
  failedRequestId?: string;
}

export interface RoutingNotPossible {
  routingMode: string;
  decisionSource: string;
  decisionReason: string;
  selectedProvider?: string;
  selectedModel?: string;
  selectedName?: string;
  requestedModel?: string;
  candidateCount: number;
  fallbackChain: string[];
  capabilityGap: string[];
  requiresUserOverride: boolean;
}

export interface ItemStarted {
  kind: ItemKind;
  toolName?: string;
  args?: unknown;
}

export interface ItemUpdated {
  kind: ItemKind;
  textBytes: number;
  preview?: string;
}

export interface ItemCompleted {
  kind: ItemKind;
  status: Status;
  text?: string;
  preview?: string;
  outputRef?: string;
  error?: Failure;
}

export interface ToolStarted {
  toolName: string;
  safeArgs?: unknown;
  inputRef?: string;
  policy?: unknown;
  outsideSandbox?: boolean;
  bootId?: string;
}

export interface ToolArgs {
  delta: string;
}

export interface ToolProgress {
  preview?: string;
  outputRef?: string;
  stoppedBy?: string;
  exitCode?: number;
  change?: FileChange;
}

export interface ToolResult {
  preview?: string;
  outputRef?: string;
  structuredContentRef?: string;
  artifactRefs?: string[];
  isError: boolean;
  durationMs: number;
  toolName?: string;
}

export interface ToolFailed {
  error: Failure;
  errorRef?: string;
  durationMs: number;
  preview?: string;
  outputRefs?: string[];
  toolName?: string;
}

export interface ArtifactChanged {
  change?: string;
  path?: string;
  readRef?: string;
  versionId?: string;
  previousId?: string;
  previewRef?: string;
  diffRef?: string;
  linesAdded?: number;
  linesRemoved?: number;
  previousRef?: string;
  durationMs?: number;
}

export interface PermissionEvaluated {
  decision: Decision;
  decisionSource: DecisionSource;
  decisionReason?: string;
  ruleRefs?: string[];
  chain?: Verdict[];
  destructive?: boolean;
  impact?: string;
  rollback?: string;
  mode?: PermissionMode;
  subcommands?: string[];
  digest?: string;
  approvalActionId?: string;
}

export interface PermissionRequested {
  toolName?: string;
  reason?: string;
  digest?: string;
  expiresAt?: string;
}

export interface PermissionResolved {
  decision: Decision;
  decisionSource: DecisionSource;
  scope?: string;
  reason?: string;
  digest?: string;
}

export interface ActionRequired {
  actionType: string;
  prompt?: string;
  schema?: unknown;
  decisions?: string[];
  digest?: string;
  scope?: unknown;
  scopes?: string[];
  rules?: string[];
  policy?: unknown;
  toolName?: string;
  input?: unknown;
  cwd?: string;
  reason?: string;
  sandbox?: SandboxMode;
  outsideSandbox?: boolean;
  user?: string;
  network?: boolean;
  subcommands?: string[];
  destructive?: boolean;
  impact?: string;
  rollback?: string;
  executes?: ExecutedFile[];
  executesUnknown?: string;
  files?: PolicyFile[];
  server?: string;
  url?: string;
  expiresAt?: string;
  expiresInMs?: number;
}

export interface ActionResolved {
  decision: string;
  decisionSource: string;
  scope?: string;
  rule?: string;
  reason?: string;
  payload?: unknown;
  answeredBy?: string;
  durationMs?: number;
}

export interface PolicyChanged {
  change: string;
  source?: string;
  policy?: Policy;
  added?: PolicyRule[];
  removed?: PolicyRule[];
  mode?: PermissionMode;
  workspace?: string;
  files?: PolicyFile[];
  reason?: string;
  changedBy?: string;
}

export interface HookStarted {
  point: HookPoint;
  hookRunId?: string;
  command?: string;
  index?: number;
  bootId?: string;
}

export interface HookCompleted {
  point: HookPoint;
  hookRunId?: string;
  continue?: boolean;
  block?: boolean;
  decision?: Decision;
  reason?: string;
  updatedInputRef?: string;
  updatedInput?: unknown;
  additionalContextRefs?: string[];
  additionalContext?: string[];
  updatedToolOutputRef?: string;
  updatedToolOutput?: string;
  suppressOutput?: boolean;
  auditRefs?: string[];
  durationMs?: number;
}

export interface HookFailed {
  point: HookPoint;
  hookRunId?: string;
  error?: Failure;
  onFailure: OnFailure;
  durationMs?: number;
}

export interface SandboxApplied {
  mode?: SandboxMode;
  cwd?: string;
  readRoots?: string[];
  writeRoots?: string[];
  network?: unknown;
  environmentRef?: string;
  processLimits?: unknown;
  layers?: unknown;
}

export interface SandboxViolation {
  kind: ViolationKind;
  attempted: string;
  layer: string;
  advisory?: boolean;
}

export interface ProcessStarted {
  command: string;
  executed?: string;
  cwd?: string;
  tty?: boolean;
  pid?: number;
  startTicks?: number;
  argvDigest?: string;
  background?: boolean;
  timeoutMs?: number;
  bootId?: string;
}

export interface ProcessOutput {
  stream: OutputStream;
  text?: string;
  outputRef?: string;
  offset?: number;
  nextOffset?: number;
}

export interface ProcessInput {
  bytes?: number;
  preview?: string;
  inputRef?: string;
  closed?: boolean;
  signal?: string;
  reason?: string;
  rows?: number;
  columns?: number;
}

export interface ProcessCompleted {
  exitCode?: number;
  signal?: unknown;
  durationMs?: number;
  outputRefs?: string[];
}

export interface ProcessFailed {
  error?: Failure;
  durationMs?: number;
  neverRan?: boolean;
}

export interface ProcessTerminated {
  reason?: string;
  signal?: unknown;
  durationMs?: number;
}

export interface SnapshotUpdated {
  asOfSequence: number;
  foldVersion: number;
}

export interface SnapshotRepaired {
  asOfSequence: number;
  reason: string;
  gap?: ReplayGap;
}

export interface RuntimeWarning {
  code: string;
  message: string;
  bootId?: string;
}

export interface RuntimeError {
  code: string;
  message: string;
}

export interface OutputSpilled {
  outputRef: string;
  size: number;
  mediaType?: string;
  encoding?: string;
  preview?: string;
  digest?: string;
  truncated?: boolean;
  redacted?: boolean;
  expiresAt?: string;
}

export interface OutputTruncated {
  outputRef: string;
  size?: number;
  kept?: number;
}

export interface OutputRedacted {
  outputRef: string;
  reason?: string;
}

export interface OutputExpired {
  outputRef: string;
  reason?: string;
  size?: number;
  digest?: string;
  spilledSequence?: number;
}

export interface JobCreated {
  instructionRef?: string;
  inputRefs?: string[];
  items?: number;
  outputSchemaRef?: string;
  runner?: JobRunner;
  options?: JobOptions;
  retryPolicy?: RetryPolicy;
  concurrency?: number;
  maxRuntimeMs?: number;
  repeatable?: boolean;
  paramsHash?: string;
  toolName?: string;
  toolArgs?: unknown;
  status?: JobStatus;
}

export interface JobStarted {
  reason?: string;
  attemptCount?: number;
  job?: JobRecord;
}

export interface JobProgress {
  counts?: JobCounts;
  itemStatus?: JobItemStatus;
  item?: JobItemRecord;
  reason?: string;
  judgeAgain?: boolean;
  redoEnded?: boolean;
}

export interface JobItemStarted {
  attemptCount?: number;
  assignedThread?: string;
  at?: JobLine;
  toolCallId?: string;
}

export interface JobItemCompleted {
  outputRef?: string;
  preview?: string;
  attemptCount?: number;
}

export interface JobItemFailed {
  error?: Failure;
  attemptCount?: number;
  retryable?: boolean;
  retryAt?: string;
  outputRef?: string;
  preview?: string;
}

export interface JobCompleted {
  counts?: JobCounts;
}

export interface JobFailed {
  error?: Failure;
  counts?: JobCounts;
}

export interface JobCancelled {
  reason?: string;
  counts?: JobCounts;
}

export interface ContextCompactionStarted {
  trigger?: string;
  affectedTurns?: string[];
  affectedTurnCount?: number;
  coversThrough?: number;
  tokensBefore?: number;
  pieces?: number;
  omittedBytes?: number;
  pieceDigests?: string[];
  windowTokens?: number;
}

export interface ContextCompactionCompleted {
  summaryRef?: string;
  continuationRef?: string;
  coversThrough?: number;
  tokensBefore?: number;
  tokensAfter?: number;
  preservedActionIds?: string[];
  preservedIncidents?: string[];
  preservedRefs?: string[];
  usage?: Usage;
}

export interface ContextCompactionFailed {
  error?: Failure;
}

export interface HistoryRollbackStarted {
  targetTurnId: string;
}

export interface HistoryRollbackCompleted {
  targetTurnId: string;
  removedTurns?: string[];
  removedTurnCount?: number;
  cancelledActionIds?: string[];
  baselineSequence?: number;
  affected?: RollbackAffected;
  effects?: RollbackEffect[];
  effectCount?: number;
  restoreTurnId?: string;
  targetTurn?: TurnSnapshot;
  targetOptions?: TurnOptions;
  contextBoundary?: ContextBoundary;
}

export interface ChannelConnected {
  transport: Transport;
  peerRole: PeerRole;
  accountRef?: string;
  tokenId?: string;
  capabilities?: unknown;
  nativeProtocol?: string;
  nativeIds?: unknown;
  agentCardRef?: string;
  resumeTokenRef?: string;
  ackWindow?: number;
  heartbeatMs?: number;
  bootId: string;
}

export interface ChannelDisconnected {
  reason?: string;
  detail?: string;
  acknowledgedSequence?: number;
  lastSeenAt?: string;
  expiresAt?: string;
}

export interface ChannelResumed {
  transport?: Transport;
  afterSequence?: number;
  replayedTo?: number;
  gap?: ReplayGap;
  resumeTokenRef?: string;
  bootId: string;
}

export interface ChannelMessage {
  direction?: string;
  kind?: string;
  preview?: string;
  messageRef?: string;
  text?: string;
  payload?: unknown;
}

export interface ChannelPermissionForwarded {
  peer?: string;
  direction?: string;
  subject?: unknown;
  digest?: string;
  expiresAt?: string;
}

export interface ChannelPermissionReturned {
  decision: string;
  decidedBy?: string;
  source?: string;
  scope?: string;
  channelOnly?: boolean;
}

export interface ChannelPeerTaskLinked {
  nativeProtocol?: string;
  remoteTaskId: string;
  remoteContextId?: string;
  agentCardRef?: string;
}

export interface ChannelPeerTaskUpdated {
  nativeProtocol?: string;
  remoteTaskId?: string;
  remoteContextId?: string;
  agentCardRef?: string;
  linkedSequence?: number;
  remoteStatus?: string;
  recovery?: string;
  remoteArtifactRefs?: string[];
  error?: Failure;
}

export interface Candidate {
  name: string;
  provider: string;
  model: string;
  capabilities: string[];
  contextTokens?: number;
}

export interface ContextPrefix {
  status: string;
  reason?: string;
}

export interface ContextRef {
  ref: string;
  digest?: string;
  size?: number;
  reason?: string;
  outputRef?: string;
  mediaType?: string;
  outputDigest?: string;
}

export interface ContextTokens {
  used: number;
  limit: number;
  source: string;
}

export interface ExcludedCandidate {
  name: string;
  reason: string;
  remedy?: string;
}

export type FaultCause =
  | "server"
  | "overloaded"
  | "connection"
  | "timeout"
  | "stalled"
  | "empty"
  | "malformed"
  | "rate_limit"
  | "no_credit"
  | "credential"
  | "unknown_model"
  | "context_size"
  | "content"
  | "invalid";

export interface FileChange {
  path: string;
  kind: FileChangeKind;
  before?: string;
  after?: string;
  linesAdded: number;
  linesRemoved: number;
  diffRef?: string;
  previousRef?: string;
}

export type FileChangeKind = "create" | "update" | "restore";

export type HookDialect = "agentrt" | "claude";

export type HookPoint =
  | "session_start"
  | "user_prompt_submit"
  | "pre_tool_use"
  | "permission_request"
  | "post_tool_use"
  | "post_tool_failure"
  | "post_sampling"
  | "stop";

export interface HookSpec {
  point: HookPoint;
  matcher: string;
  command: string;
  timeoutMs: number;
  onFailure: OnFailure;
  origin: RuleOrigin;
  dialect: HookDialect;
}

export interface InheritedPart {
  threadId: string;
  upTo: number;
  sessionId?: string;
}

export interface JobCursor {
  line: number;
  offset: number;
}

export interface JobIds {
  job: string;
  task: string;
  run: string;
  attempt: string;
}

export interface JobItemRecord {
  jobId: string;
  at: JobLine;
  status: JobItemStatus;
  attemptCount: number;
  threadId?: string;
  lastError?: Failure;
  outputRef?: string;
  preview?: string;
  first: number;
}

export interface JobLine {
  id: string;
  line: number;
  offset: number;
  size: number;
  next: number;
}

export interface JobRecord {
  ids: JobIds;
  status: JobStatus;
  runner: JobRunner;
  options: JobOptions;
  retryPolicy?: RetryPolicy;
  concurrency: number;
  maxRuntimeMs?: number;
  repeatable: boolean;
  inputRef: string;
  items: number;
  cursor: JobCursor;
  counts: JobCounts;
  redo: number;
  redoBefore: number;
  attempts: number;
  threads: string[];
  first: number;
  createdAt: string;
  startedAt?: string;
  endedAt?: string;
  reason?: string;
  error?: Failure;
  paramsHash?: string;
  toolName?: string;
  toolArgs?: unknown;
  createdQueued?: boolean;
}

export interface ModelRetry {
  number: number;
  afterMs: number;
  at: string;
}

export type OnFailure = "closed" | "open";

export type OutputStream = "stdout" | "stderr" | "pty";

export interface Policy {
  mode: PermissionMode;
  modeOrigin?: RuleOrigin;
  sandbox: SandboxMode;
  network: boolean;
  rules: PolicyRule[];
  hooks: HookSpec[];
  files: PolicyFile[];
  ignored: string[];
}

export type QueueChange = "added" | "removed" | "promoted" | "started" | "cleared";

export interface RecordedEnvironment {
  sameAs?: string;
  digest?: string;
  workspaceId?: string;
  cwd?: string;
  additionalRoots?: string[];
  shell?: string;
  os?: string;
  arch?: string;
  envRef?: string;
  envNames?: string[];
  sandboxProfile?: EnvironmentSandbox;
  networkProfile?: CommandNetwork;
  resourceLimits?: ProcessLimits;
}

export interface RequestedCall {
  toolCallId: string;
  name: string;
  args: unknown;
  argsOmitted?: boolean;
  wrong?: string;
}

export interface RestoreRange {
  after: number;
  through: number;
}

export interface RollbackAffected {
  tools: string[];
  artifacts: string[];
  subagents: string[];
  jobs: string[];
  readModels: string[];
}

export type StopReason =
  | "end_turn"
  | "max_tokens"
  | "tool_use"
  | "content_filter"
  | "unknown";

export interface Surroundings {
  date: string;
  os: string;
  shell: string;
  folder: string;
  git?: string;
  sandbox: string;
  network: string;
  mode: string;
  approvals: string;
}

export type ViolationKind = "network" | "filesystem" | "process";

export interface ThreadRead {
  sessionId: string;
  threadId: string;
  status: Status;
  statusReason?: string;
  resumable?: boolean;
  resumeToken?: string;
  activeTurnId?: string;
  activeTurn?: TurnSnapshot;
  pendingRequests: ActionSnapshot[];
  queuedTurns: QueuedTurnSnapshot[];
  lastOutcome?: Outcome;
  incidents: Incident[];
  tasks: TaskSnapshot[];
  jobs: JobSummary[];
  subagents: SubagentSnapshot[];
  forkedFrom?: ForkPoint;
  contextBoundary?: ContextBoundary;
  diagnostics: Diagnostics;
  generation: string;
  asOfSequence: number;
}

export interface SessionSummary {
  sessionId: string;
  title?: string;
  cwd: string;
  status: Status;
  archived: boolean;
  threads: number;
  turns: number;
  processes?: number;
  preview?: string;
  createdAt: string;
  updatedAt: string;
  metadata?: unknown;
}
