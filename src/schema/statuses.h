// schema/statuses.h: the closed word lists of the protocol. Wire spelling is the enumerator's name.
#pragma once

#include <boost/describe/enum.hpp>

namespace agentrt::schema {

// The status of a turn, a run or a thread. Only a thread can be `idle`.
BOOST_DEFINE_ENUM_CLASS(Status, accepted, queued, preparing, running, waiting_input,
                        waiting_permission, waiting_resource, blocked, streaming, retrying, lost,
                        timed_out, completed, failed, cancelled, stale, idle)

BOOST_DEFINE_ENUM_CLASS(TaskStatus, draft, accepted, queued, preparing, running, waiting_input,
                        waiting_permission, waiting_resource, blocked, paused, retrying, cancelling,
                        cancelled, timed_out, failed, lost, completed, archived, stale, unknown)

BOOST_DEFINE_ENUM_CLASS(Visibility, foreground, background, internal, hidden)

// Why an operation failed.
BOOST_DEFINE_ENUM_CLASS(Category, invalid_input, denied, unavailable, sandbox, timeout, cancelled,
                        interrupted, lost, not_found, exit_nonzero, rate_limited, provider,
                        internal)

BOOST_DEFINE_ENUM_CLASS(QueuePolicy, enqueue, reject, interrupt)
BOOST_DEFINE_ENUM_CLASS(QueueChange, added, removed, promoted, started, cleared)
BOOST_DEFINE_ENUM_CLASS(QueueKeep, keep, clear)
BOOST_DEFINE_ENUM_CLASS(ProcessKeep, keep, end)
BOOST_DEFINE_ENUM_CLASS(SubagentKeep, keep, end)

BOOST_DEFINE_ENUM_CLASS(ItemKind, agent_message, reasoning, tool_call, command, file_change,
                        web_search, todo, error)

BOOST_DEFINE_ENUM_CLASS(PermissionMode, default_, untrusted, on_request, on_failure, never, plan,
                        auto_, bypass)
BOOST_DEFINE_ENUM_CLASS(SandboxMode, read_only, workspace_write, full_access)

BOOST_DEFINE_ENUM_CLASS(StopReason, end_turn, max_tokens, tool_use, content_filter, unknown)

// True for a terminal status: only a retry or a reopening that names it may follow.
constexpr bool ended(Status status) {
  return status == Status::completed || status == Status::failed || status == Status::cancelled ||
         status == Status::timed_out || status == Status::lost;
}

}  // namespace agentrt::schema
