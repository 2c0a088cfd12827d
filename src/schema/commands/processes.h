// schema/commands/processes.h: commands for background processes and their environment. The process
// id alone identifies a process; if a session is given, the process must belong to it.
#pragma once

#include "schema/command.h"
#include "schema/environment.h"
#include "schema/process_snapshot.h"

namespace agentrt::schema {

// Limit of one write_process_stdin, in bytes.
inline constexpr std::size_t kStdinBytesMax = 32 * 1024;
// Limit of a terminal's rows and columns.
inline constexpr std::uint64_t kTerminalSizeMax = 4'096;

// The reply to commands that write to, resize or terminate a process.
struct ProcessReply {
  SessionId session_id;
  ProcessId process_id;
  ProcessStatus status = ProcessStatus::running;
  Sequence sequence = 0;
};
BOOST_DESCRIBE_STRUCT(ProcessReply, (), (session_id, process_id, status, sequence))

struct WriteProcessStdin {
  static constexpr CommandTraits kTraits{"write_process_stdin", TokenScope::submit,
                                         CommandEffect::mutates};
  using Reply = ProcessReply;
  std::optional<SessionId> session_id;
  ProcessId process_id;
  std::string input;
  std::optional<bool> close;  // close standard input after this write
  std::optional<std::string> idempotency_key;

  bool operator==(const WriteProcessStdin&) const = default;
};
BOOST_DESCRIBE_STRUCT(WriteProcessStdin, (),
                      (session_id, process_id, input, close, idempotency_key))

struct ResizeProcess {
  static constexpr CommandTraits kTraits{"resize_process", TokenScope::submit,
                                         CommandEffect::mutates};
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
  static constexpr CommandTraits kTraits{"terminate_process", TokenScope::submit,
                                         CommandEffect::mutates};
  using Reply = ProcessReply;
  std::optional<SessionId> session_id;
  ProcessId process_id;
  std::optional<std::string> reason;
  std::optional<std::string> idempotency_key;

  bool operator==(const TerminateProcess&) const = default;
};
BOOST_DESCRIBE_STRUCT(TerminateProcess, (), (session_id, process_id, reason, idempotency_key))

// The reply to get_execution_environment. `environment` is absent before the thread's first turn.
struct EnvironmentSnapshot {
  SessionId session_id;
  std::optional<ThreadId> thread_id;  // the thread whose newest turn is described
  std::optional<TurnId> turn_id;
  std::optional<ExecutionEnvironment> environment;
  std::vector<ProcessSnapshot> processes;  // the background processes of the whole session
  GenerationId generation;
  Sequence as_of_sequence = 0;
};
BOOST_DESCRIBE_STRUCT(EnvironmentSnapshot, (),
                      (session_id, thread_id, turn_id, environment, processes, generation,
                       as_of_sequence))

struct GetExecutionEnvironment {
  static constexpr CommandTraits kTraits{"get_execution_environment", TokenScope::read,
                                         CommandEffect::reads};
  using Reply = EnvironmentSnapshot;
  SessionId session_id;
  std::optional<ThreadId> thread_id;  // default: the thread whose turn was prepared last

  bool operator==(const GetExecutionEnvironment&) const = default;
};
BOOST_DESCRIBE_STRUCT(GetExecutionEnvironment, (), (session_id, thread_id))

}  // namespace agentrt::schema
