#include "schema/catalogue.h"

#include <algorithm>

namespace agentrt::schema {
namespace {

using Word = std::string_view;
using enum Layer;

// The correlation ids that events must carry, by scope.
constexpr Word kOfSession[] = {"sessionId"};
constexpr Word kOfThread[] = {"sessionId", "threadId"};
constexpr Word kOfTurn[] = {"sessionId", "threadId", "turnId"};
constexpr Word kOfStep[] = {"sessionId", "threadId", "turnId", "stepId"};
constexpr Word kOfToolCall[] = {"sessionId", "threadId", "turnId", "stepId", "toolCallId"};
constexpr Word kOfAction[] = {"sessionId", "threadId", "turnId", "actionId"};
constexpr Word kOfTask[] = {"sessionId", "taskId"};
constexpr Word kOfAttempt[] = {"sessionId", "taskId", "runId", "attemptId"};
constexpr Word kOfArtifact[] = {"sessionId", "artifactId"};
constexpr Word kOfEvidence[] = {"sessionId", "evidenceId"};
constexpr Word kOfSubagent[] = {"sessionId", "subagentId"};
constexpr Word kOfProcess[] = {"sessionId", "processId"};
constexpr Word kOfChannel[] = {"sessionId", "channelId"};
constexpr Word kOfPeerTask[] = {"sessionId", "channelId", "taskId"};
constexpr Word kOfJob[] = {"sessionId", "jobId"};
constexpr Word kOfJobItem[] = {"sessionId", "jobId", "jobItemId"};

constexpr EventType kEventTypes[] = {
    {"session.created", "session", standard, kOfSession},
    {"session.updated", "session", standard, kOfSession},
    {"thread.started", "thread", standard, kOfThread},
    {"thread.updated", "thread", standard, kOfThread},
    {"turn.submitted", "turn", standard, kOfTurn},
    {"turn.started", "turn", standard, kOfTurn},
    {"turn.completed", "turn", standard, kOfTurn},
    {"turn.failed", "turn", standard, kOfTurn},
    {"task.created", "task", standard, kOfTask},
    {"task.accepted", "task", standard, kOfTask},
    {"task.queued", "task", standard, kOfTask},
    {"task.started", "task", standard, kOfTask},
    {"task.updated", "task", standard, kOfTask},
    {"task.progress", "task", standard, kOfTask},
    {"task.waiting", "task", standard, kOfTask},
    {"task.blocked", "task", standard, kOfTask},
    {"task.paused", "task", standard, kOfTask},
    {"task.resumed", "task", standard, kOfTask},
    {"task.retrying", "task", standard, kOfTask},
    {"task.cancel_requested", "task", standard, kOfTask},
    {"task.cancelled", "task", standard, kOfTask},
    {"task.timed_out", "task", standard, kOfTask},
    {"task.failed", "task", standard, kOfTask},
    {"task.lost", "task", standard, kOfTask},
    {"task.completed", "task", standard, kOfTask},
    {"task.archived", "task", standard, kOfTask},
    {"run.status", "run", standard, kOfTurn},
    {"model.requested", "model", standard, kOfTurn},
    {"model.delta", "model", standard, kOfTurn},
    {"model.completed", "model", standard, kOfTurn},
    {"model.failed", "model", standard, kOfTurn},
    {"reasoning.delta", "reasoning", standard, kOfTurn},
    {"reasoning.summary", "reasoning", standard, kOfTurn},
    {"tool.catalog.resolved", "tool", standard, kOfTurn},
    {"tool.started", "tool", standard, kOfToolCall},
    {"tool.args", "tool", standard, kOfToolCall},
    {"tool.progress", "tool", standard, kOfToolCall},
    {"tool.result", "tool", standard, kOfToolCall},
    {"tool.failed", "tool", standard, kOfToolCall},
    {"action.required", "action", standard, kOfAction},
    {"action.resolved", "action", standard, kOfAction},
    {"queue.changed", "queue", standard, kOfThread},
    {"context.resolved", "context", standard, kOfTurn},
    {"context.compaction.started", "context", standard, kOfTurn},
    {"context.compaction.completed", "context", standard, kOfTurn},
    {"context.compaction.failed", "context", standard, kOfTurn},
    {"artifact.changed", "artifact", standard, kOfArtifact},
    {"evidence.changed", "evidence", standard, kOfEvidence},
    {"subagent.spawned", "subagent", standard, kOfSubagent},
    {"subagent.status", "subagent", standard, kOfSubagent},
    {"subagent.input", "subagent", standard, kOfSubagent},
    {"subagent.completed", "subagent", standard, kOfSubagent},
    {"subagent.failed", "subagent", standard, kOfSubagent},
    {"subagent.closed", "subagent", standard, kOfSubagent},
    {"limit.changed", "limit", standard, kOfSession},
    {"snapshot.updated", "snapshot", standard, kOfSession},
    {"runtime.warning", "runtime", standard, kOfSession},
    {"runtime.error", "runtime", standard, kOfSession},
    {"permission.evaluated", "permission", expanded, kOfTurn},
    {"permission.requested", "permission", expanded, kOfTurn},
    {"permission.resolved", "permission", expanded, kOfTurn},
    {"sandbox.applied", "sandbox", expanded, kOfTurn},
    {"sandbox.violation", "sandbox", expanded, kOfTurn},
    {"hook.started", "hook_policy", expanded, kOfTurn},
    {"hook.completed", "hook_policy", expanded, kOfTurn},
    {"hook.failed", "hook_policy", expanded, kOfTurn},
    {"policy.changed", "hook_policy", expanded, kOfSession},
    {"process.started", "process", expanded, kOfProcess},
    {"process.output", "process", expanded, kOfProcess},
    {"process.input", "process", expanded, kOfProcess},
    {"process.completed", "process", expanded, kOfProcess},
    {"process.failed", "process", expanded, kOfProcess},
    {"process.terminated", "process", expanded, kOfProcess},
    {"task.profile.resolved", "routing", expanded, kOfTask},
    {"routing.candidates.resolved", "routing", expanded, kOfTurn},
    {"routing.decided", "routing", expanded, kOfTurn},
    {"routing.fallback.applied", "routing", expanded, kOfTurn},
    {"routing.not_possible", "routing", expanded, kOfTurn},
    {"routing.single_candidate", "routing", expanded, kOfTurn},
    {"task.delegated", "task_orchestration", expanded, kOfTask},
    {"task.dependency.updated", "task_orchestration", expanded, kOfTask},
    {"task.attempt.started", "task_orchestration", expanded, kOfAttempt},
    {"task.attempt.completed", "task_orchestration", expanded, kOfAttempt},
    {"task.attempt.failed", "task_orchestration", expanded, kOfAttempt},
    {"cost.estimated", "cost_limits", expanded, kOfTurn},
    {"cost.recorded", "cost_limits", expanded, kOfTurn},
    {"rate_limit.hit", "cost_limits", expanded, kOfTurn},
    {"quota.low", "cost_limits", expanded, kOfTurn},
    {"quota.blocked", "cost_limits", expanded, kOfTurn},
    {"channel.connected", "channel", expanded, kOfChannel},
    {"channel.disconnected", "channel", expanded, kOfChannel},
    {"channel.resumed", "channel", expanded, kOfChannel},
    {"channel.message", "channel", expanded, kOfChannel},
    {"channel.permission_forwarded", "channel", expanded, kOfChannel},
    {"channel.permission_returned", "channel", expanded, kOfChannel},
    {"job.created", "jobs", expanded, kOfJob},
    {"job.started", "jobs", expanded, kOfJob},
    {"job.progress", "jobs", expanded, kOfJob},
    {"job.item.started", "jobs", expanded, kOfJobItem},
    {"job.item.completed", "jobs", expanded, kOfJobItem},
    {"job.item.failed", "jobs", expanded, kOfJobItem},
    {"job.completed", "jobs", expanded, kOfJob},
    {"job.failed", "jobs", expanded, kOfJob},
    {"job.cancelled", "jobs", expanded, kOfJob},
    {"output.spilled", "output", expanded, kOfSession},
    {"output.truncated", "output", expanded, kOfSession},
    {"output.redacted", "output", expanded, kOfSession},
    {"output.expired", "output", expanded, kOfSession},
    {"history.window.loaded", "history", expanded, kOfThread},
    {"history.reconstructed", "history", expanded, kOfThread},
    {"history.rollback.started", "history", expanded, kOfThread},
    {"history.rollback.completed", "history", expanded, kOfThread},
    {"snapshot.repaired", "history", expanded, kOfSession},
    {"channel.peer_task.linked", "channel", expanded, kOfPeerTask},
    {"channel.peer_task.updated", "channel", expanded, kOfPeerTask},
    {"item.started", "item", expanded, kOfStep},
    {"item.updated", "item", expanded, kOfStep},
    {"item.completed", "item", expanded, kOfStep},
};

constexpr CatalogueCommand kCommands[] = {
    {"submit_turn", "turn", true},
    {"interrupt_turn", "turn", true},
    {"resume_thread", "turn", true},
    {"remove_queued_turn", "turn", true},
    {"promote_queued_turn", "turn", true},
    {"create_task", "task", true},
    {"update_task", "task", true},
    {"start_task", "task", true},
    {"append_task_progress", "task", true},
    {"pause_task", "task", true},
    {"resume_task", "task", true},
    {"cancel_task", "task", true},
    {"retry_task", "task", true},
    {"complete_task", "task", true},
    {"fail_task", "task", true},
    {"list_tasks", "task", false},
    {"get_task", "task", false},
    {"link_tasks", "task", true},
    {"unlink_tasks", "task", true},
    {"respond_action", "action", true},
    {"evaluate_permission", "action", true},
    {"resolve_permission", "action", true},
    {"get_session", "read", false},
    {"get_thread_read", "read", false},
    {"get_tool_inventory", "read", false},
    {"get_execution_environment", "read", false},
    {"spawn_subagent", "subagent", true},
    {"send_subagent_input", "subagent", true},
    {"wait_subagents", "subagent", false},
    {"resume_subagent", "subagent", true},
    {"close_subagent", "subagent", true},
    {"list_subagents", "subagent", false},
    {"write_process_stdin", "process", true},
    {"terminate_process", "process", true},
    {"create_job", "job", true},
    {"list_jobs", "job", false},
    {"get_job", "job", false},
    {"cancel_job", "job", true},
    {"reconnect_channel", "channel", true},
    {"ack_events", "channel", true},
    {"export_evidence", "export", true},
    {"export_replay", "export", true},
    {"export_review", "export", true},
};

constexpr Word kEnvelopeMembers[] = {
    "type",      "eventId",    "schemaVersion", "timestamp",  "sequence",  "runtimeId",
    "sessionId", "threadId",   "turnId",        "taskId",     "runId",     "attemptId",
    "stepId",    "toolCallId", "actionId",      "subagentId", "processId", "channelId",
    "jobId",     "jobItemId",  "artifactId",    "evidenceId", "requestId", "modelRequestId",
    "traceId",   "spanId",     "payload",       "refs"};
constexpr Word kReadModels[] = {"session_snapshot",
                                "thread_read_model",
                                "tool_inventory_snapshot",
                                "queue_snapshot",
                                "task_snapshot",
                                "context_boundary_snapshot",
                                "artifact_checkpoint_summary",
                                "evidence_summary",
                                "permission_sandbox_summary",
                                "execution_environment_snapshot",
                                "routing_limit_summary",
                                "subagent_job_summary",
                                "channel_summary"};
constexpr Word kStatuses[] = {
    "accepted",         "queued",  "preparing", "running",  "waiting_input", "waiting_permission",
    "waiting_resource", "blocked", "streaming", "retrying", "lost",          "timed_out",
    "completed",        "failed",  "cancelled", "stale"};
constexpr Word kTaskStatuses[] = {
    "draft",         "accepted",           "queued",           "preparing", "running",
    "waiting_input", "waiting_permission", "waiting_resource", "blocked",   "paused",
    "retrying",      "cancelling",         "cancelled",        "timed_out", "failed",
    "lost",          "completed",          "archived",         "stale",     "unknown"};
constexpr Word kHonestyWords[] = {"unknown", "unavailable", "not_applicable", "stale", "blocked"};
constexpr Word kItemKinds[] = {"agent_message", "reasoning",  "tool_call", "command",
                               "file_change",   "web_search", "todo",      "error"};
constexpr Word kTransports[] = {"websocket", "sse",   "json_rpc",   "grpc",
                                "http_json", "stdio", "in_process", "custom"};
constexpr Word kPeerRoles[] = {"client",         "host",       "worker",
                               "remote_runtime", "peer_agent", "tool_server"};

}  // namespace

std::span<const EventType> event_types() { return kEventTypes; }
std::span<const CatalogueCommand> catalogue_commands() { return kCommands; }

const EventType* find_event_type(std::string_view type) {
  const auto* found = std::ranges::find(kEventTypes, type, &EventType::type);
  return found == std::ranges::end(kEventTypes) ? nullptr : found;
}

const CatalogueCommand* find_catalogue_command(std::string_view name) {
  const auto* found = std::ranges::find(kCommands, name, &CatalogueCommand::name);
  return found == std::ranges::end(kCommands) ? nullptr : found;
}

std::span<const std::string_view> envelope_members() { return kEnvelopeMembers; }
std::span<const std::string_view> read_models() { return kReadModels; }
std::span<const std::string_view> statuses() { return kStatuses; }
std::span<const std::string_view> task_statuses() { return kTaskStatuses; }
std::span<const std::string_view> honesty_words() { return kHonestyWords; }
std::span<const std::string_view> item_kinds() { return kItemKinds; }
std::span<const std::string_view> transports() { return kTransports; }
std::span<const std::string_view> peer_roles() { return kPeerRoles; }

}  // namespace agentrt::schema
