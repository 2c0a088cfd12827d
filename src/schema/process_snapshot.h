// schema/process_snapshot.h: the read model of a background process, also stored in its index row.
#pragma once

#include "schema/values.h"

namespace agentrt::schema {

// `unknown`: an earlier run of the runtime started the process and this run has not found it yet;
// it may still exist.
BOOST_DEFINE_ENUM_CLASS(ProcessStatus, running, ending, completed, failed, terminated, unknown)

inline constexpr std::string_view kProcessKind = "process";  // of its index row

struct ProcessSnapshot {
  ProcessId process_id;
  ThreadId thread_id;
  TurnId turn_id;
  ToolCallId tool_call_id;
  std::string command;  // truncated
  std::optional<std::string> cwd;
  bool tty = false;
  ProcessStatus status = ProcessStatus::running;
  std::optional<std::int64_t> exit_code;
  std::uint64_t output_bytes = 0;  // recorded in events
  bool input_closed = false;
  Timestamp started_at;
  std::optional<Timestamp> ended_at;

  bool operator==(const ProcessSnapshot&) const = default;
};
BOOST_DESCRIBE_STRUCT(ProcessSnapshot, (),
                      (process_id, thread_id, turn_id, tool_call_id, command, cwd, tty, status,
                       exit_code, output_bytes, input_closed, started_at, ended_at))

}  // namespace agentrt::schema
