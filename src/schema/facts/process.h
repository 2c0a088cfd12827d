// schema/facts/process.h: processes of commands, and their output.
#pragma once

#include "schema/scope.h"
#include "schema/values.h"

namespace agentrt::schema {

BOOST_DEFINE_ENUM_CLASS(OutputStream, stdout_, stderr_, pty)

// Stored before the command is released to run.
struct ProcessStarted {
  static constexpr std::string_view kType = "process.started";
  using Scope = ProcessScope;
  std::string command;                  // as given in the call
  std::optional<std::string> executed;  // the canonical form, if that was run instead
  std::optional<std::string> cwd;
  std::optional<bool> tty;
  std::optional<std::int64_t> pid;
  std::optional<std::uint64_t> start_ticks;  // with the pid, identifies the process on this machine
  std::optional<std::string> argv_digest;
  std::optional<bool> background;  // keeps running after its call and turn have ended
  std::optional<std::uint64_t> timeout_ms;
  std::optional<BootId> boot_id;

  bool operator==(const ProcessStarted&) const = default;
};
BOOST_DESCRIBE_STRUCT(ProcessStarted, (),
                      (command, executed, cwd, tty, pid, start_ticks, argv_digest, background,
                       timeout_ms, boot_id))

struct ProcessOutput {
  static constexpr std::string_view kType = "process.output";
  using Scope = ProcessScope;
  OutputStream stream = OutputStream::stdout_;
  std::optional<std::string> text;  // at most 4 kB; absent if output_ref is given
  std::optional<std::string> output_ref;
  std::optional<std::uint64_t> offset;  // of the text's first byte in the spool
  // Spool offset of the first byte after this text. It cannot be computed from `offset`, because
  // text may be longer or shorter than its bytes.
  std::optional<std::uint64_t> next_offset;

  bool operator==(const ProcessOutput&) const = default;
};
BOOST_DESCRIBE_STRUCT(ProcessOutput, (), (stream, text, output_ref, offset, next_offset))

// Input for a process: bytes, end of input, a signal, or a terminal size. Stored before it is
// delivered; delivered at most once.
struct ProcessInput {
  static constexpr std::string_view kType = "process.input";
  using Scope = ProcessScope;
  std::optional<std::uint64_t> bytes;
  std::optional<std::string> preview;  // the input, if it is short
  std::optional<std::string> input_ref;
  std::optional<bool> closed;         // standard input is closed
  std::optional<std::string> signal;  // SIGTERM: asked to terminate; killed if it does not
  std::optional<std::string> reason;
  std::optional<std::uint64_t> rows;
  std::optional<std::uint64_t> columns;

  bool operator==(const ProcessInput&) const = default;
};
BOOST_DESCRIBE_STRUCT(ProcessInput, (),
                      (bytes, preview, input_ref, closed, signal, reason, rows, columns))

// The process ended by itself, with any exit code or by a signal.
struct ProcessCompleted {
  static constexpr std::string_view kType = "process.completed";
  using Scope = ProcessScope;
  std::optional<std::int64_t> exit_code;
  std::optional<Json> signal;
  std::optional<std::int64_t> duration_ms;
  std::optional<std::vector<std::string>> output_refs;

  bool operator==(const ProcessCompleted&) const = default;
};
BOOST_DESCRIBE_STRUCT(ProcessCompleted, (), (exit_code, signal, duration_ms, output_refs))

// The process failed: spawn, sandbox, limit or transport.
struct ProcessFailed {
  static constexpr std::string_view kType = "process.failed";
  using Scope = ProcessScope;
  std::optional<Failure> error;
  std::optional<std::int64_t> duration_ms;
  std::optional<bool> never_ran;  // never released, so the call may run it again

  bool operator==(const ProcessFailed&) const = default;
};
BOOST_DESCRIBE_STRUCT(ProcessFailed, (), (error, duration_ms, never_ran))

// The runtime terminated the process.
struct ProcessTerminated {
  static constexpr std::string_view kType = "process.terminated";
  using Scope = ProcessScope;
  std::optional<std::string> reason;
  std::optional<Json> signal;
  std::optional<std::int64_t> duration_ms;

  bool operator==(const ProcessTerminated&) const = default;
};
BOOST_DESCRIBE_STRUCT(ProcessTerminated, (), (reason, signal, duration_ms))

// Bytes were stored behind a ref, which belongs to this session. Knowing a ref grants no access.
struct OutputSpilled {
  static constexpr std::string_view kType = "output.spilled";
  using Scope = SessionScope;
  std::string output_ref;
  std::uint64_t size = 0;
  std::optional<std::string> media_type;
  std::optional<std::string> encoding;  // utf-8, binary
  std::optional<std::string> preview;   // the beginning of a text
  std::optional<std::string> digest;    // sha256:… of the stored bytes
  std::optional<bool> truncated;
  std::optional<bool> redacted;
  std::optional<Timestamp> expires_at;

  bool operator==(const OutputSpilled&) const = default;
};
BOOST_DESCRIBE_STRUCT(OutputSpilled, (),
                      (output_ref, size, media_type, encoding, preview, digest, truncated, redacted,
                       expires_at))

// Not all bytes were stored.
struct OutputTruncated {
  static constexpr std::string_view kType = "output.truncated";
  using Scope = SessionScope;
  std::string output_ref;
  std::optional<std::uint64_t> size;  // total number of bytes written
  std::optional<std::uint64_t> kept;

  bool operator==(const OutputTruncated&) const = default;
};
BOOST_DESCRIBE_STRUCT(OutputTruncated, (), (output_ref, size, kept))

// Secret values were replaced before the bytes were stored.
struct OutputRedacted {
  static constexpr std::string_view kType = "output.redacted";
  using Scope = SessionScope;
  std::string output_ref;
  std::optional<std::string> reason;

  bool operator==(const OutputRedacted&) const = default;
};
BOOST_DESCRIBE_STRUCT(OutputRedacted, (), (output_ref, reason))

// The ref has expired. Repeats the members of the index row, so that the row can be derived from
// this fact alone.
struct OutputExpired {
  static constexpr std::string_view kType = "output.expired";
  using Scope = SessionScope;
  std::string output_ref;
  std::optional<std::string> reason;  // age, room
  std::optional<std::uint64_t> size;
  std::optional<std::string> digest;
  std::optional<Sequence> spilled_sequence;

  bool operator==(const OutputExpired&) const = default;
};
BOOST_DESCRIBE_STRUCT(OutputExpired, (), (output_ref, reason, size, digest, spilled_sequence))

}  // namespace agentrt::schema
