// schema/commands/processes.h: commands for processes in the background, and the environment they
// run in. A process is found by its id alone; where a session is named, it must be its own.
#pragma once

#include "schema/command.h"
#include "schema/environment.h"
#include "schema/process_snapshot.h"

namespace agentrt::schema {

// Of one write_process_stdin.
inline constexpr std::size_t kStdinBytesMax = 32 * 1024;
// Of a terminal, in rows or columns.
inline constexpr std::uint64_t kTerminalSizeMax = 4'096;

// The reply to the commands that give something to a process.
struct ProcessReply {
  SessionId session_id;
  ProcessId process_id;
  ProcessStatus status = ProcessStatus::running;
  Sequence sequence = 0;
};
BOOST_DESCRIBE_STRUCT(ProcessReply, (), (session_id, process_id, status, sequence))

struct WriteProcessStdin {
  static constexpr CommandTraits kTraits{"write_process_stdin", TokenScope::submit,
                                         Effect::mutates};
  using Reply = ProcessReply;
  std::optional<SessionId> session_id;
  ProcessId process_id;
  std::string input;
  std::optional<bool> close;  // its input ends after this
  std::optional<std::string> idempotency_key;

  bool operator==(const WriteProcessStdin&) const = default;
};
BOOST_DESCRIBE_STRUCT(WriteProcessStdin, (),
                      (session_id, process_id, input, close, idempotency_key))

struct ResizeProcess {
  static constexpr CommandTraits kTraits{"resize_process", TokenScope::submit, Effect::mutates};
  using Reply = ProcessReply;
  std::optional<SessionId> session_id;
  ProcessId process_id;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::optional<std::string> idempotency_key;

  bool operator==(const ResizeProcess&) const = default;
};
BOOST_DESCRIBE_STRUCT(ResizeProcess, (), (session_id, process_id, rows, columns, idempotency_key))

struct TerminateProcess {
  static constexpr CommandTraits kTraits{"terminate_process", TokenScope::submit, Effect::mutates};
  using Reply = ProcessReply;
  std::optional<SessionId> session_id;
  ProcessId process_id;
  std::optional<std::string> reason;
  std::optional<std::string> idempotency_key;

  bool operator==(const TerminateProcess&) const = default;
};
BOOST_DESCRIBE_STRUCT(TerminateProcess, (), (session_id, process_id, reason, idempotency_key))

// The reply of get_execution_environment. `environment` is absent before a thread's first turn was
// prepared.
struct EnvironmentSnapshot {
  SessionId session_id;
  std::optional<ThreadId> thread_id;  // whose newest turn it is
  std::optional<TurnId> turn_id;
  std::optional<ExecutionEnvironment> environment;
  std::vector<ProcessSnapshot> processes;  // in the background, of the whole session
  GenerationId generation;
  Sequence as_of_sequence = 0;
};
BOOST_DESCRIBE_STRUCT(EnvironmentSnapshot, (),
                      (session_id, thread_id, turn_id, environment, processes, generation,
                       as_of_sequence))

struct GetExecutionEnvironment {
  static constexpr CommandTraits kTraits{"get_execution_environment", TokenScope::read,
                                         Effect::reads};
  using Reply = EnvironmentSnapshot;
  SessionId session_id;
  std::optional<ThreadId> thread_id;  // absent: the one whose turn was prepared last

  bool operator==(const GetExecutionEnvironment&) const = default;
};
BOOST_DESCRIBE_STRUCT(GetExecutionEnvironment, (), (session_id, thread_id))

}  // namespace agentrt::schema
