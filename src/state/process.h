// state/process.h: a background process in the view.
#pragma once

#include <optional>
#include <string>

#include "schema/process_snapshot.h"
#include "schema/scope.h"

namespace agentrt::state {

// A background process. It keeps running after the end of its call, its turn and the runtime.
struct Process {
  ProcessId id;
  schema::TurnIds turn;
  StepId step;
  ToolCallId call;
  std::string command;  // the beginning of the command
  std::optional<std::string> cwd;
  bool tty = false;
  BootId boot;         // the runtime that follows it
  Sequence first = 0;  // sequence of process.started
  Timestamp started_at;
  std::optional<std::uint64_t> timeout_ms;
  // Bytes of each stream that are already in facts.
  std::uint64_t out_shown = 0;
  std::uint64_t err_shown = 0;
  bool input_closed = false;
  std::optional<std::string> ending;  // why it was asked to terminate
  schema::ProcessStatus status = schema::ProcessStatus::running;
  std::optional<std::int64_t> exit_code;
  std::optional<Timestamp> ended_at;

  bool operator==(const Process&) const = default;
};
BOOST_DESCRIBE_STRUCT(Process, (),
                      (id, turn, step, call, command, cwd, tty, boot, first, started_at, timeout_ms,
                       out_shown, err_shown, input_closed, ending, status, exit_code, ended_at))

}  // namespace agentrt::state
