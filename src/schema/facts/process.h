// schema/facts/process.h: commands that run in the world, and the bytes they leave.
#pragma once

#include "schema/scope.h"
#include "schema/values.h"

namespace agentrt::schema {

BOOST_DEFINE_ENUM_CLASS(OutputStream, stdout_, stderr_, pty)

// Stored before the command is released to run.
struct ProcessStarted {
  static constexpr std::string_view kType = "process.started";
  using Scope = ProcessScope;
  std::string command;                  // as the call has it
  std::optional<std::string> executed;  // its canonical form, where that ran in its place
  std::optional<std::string> cwd;
  std::optional<bool> tty;
  std::optional<std::int64_t> pid;
  std::optional<std::uint64_t> start_ticks;  // with the pid it names one process of this machine
  std::optional<std::string> argv_digest;
  std::optional<bool> background;  // it goes on when its call and its turn have ended
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
  std::optional<std::string> text;  // at most 4 kB; or output_ref
  std::optional<std::string> output_ref;
  std::optional<std::uint64_t> offset;  // into the spool
  // Into the spool too: where that begins which was not shown yet. Text may be longer or shorter
  // than the bytes it shows, so it does not follow from the offset.
  std::optional<std::uint64_t> next_offset;

  bool operator==(const ProcessOutput&) const = default;
};
BOOST_DESCRIBE_STRUCT(ProcessOutput, (), (stream, text, output_ref, offset, next_offset))

// Something is given to a process: bytes, the end of its input, a signal, another size of its
// terminal. Stored before it is given, and given once at most.
struct ProcessInput {
  static constexpr std::string_view kType = "process.input";
  using Scope = ProcessScope;
  std::optional<std::uint64_t> bytes;
  std::optional<std::string> preview;  // the input, where it is short
  std::optional<std::string> input_ref;
  std::optional<bool> closed;         // nothing more comes
  std::optional<std::string> signal;  // SIGTERM: it is asked to end, and ended when it does not
  std::optional<std::string> reason;
  std::optional<std::uint64_t> rows;
  std::optional<std::uint64_t> columns;

  bool operator==(const ProcessInput&) const = default;
};
BOOST_DESCRIBE_STRUCT(ProcessInput, (),
                      (bytes, preview, input_ref, closed, signal, reason, rows, columns))

// It ended by itself, with any exit code or by a signal.
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

// It could not run: spawn, sandbox, limit or transport.
struct ProcessFailed {
  static constexpr std::string_view kType = "process.failed";
  using Scope = ProcessScope;
  std::optional<Failure> error;
  std::optional<std::int64_t> duration_ms;
  std::optional<bool> never_ran;  // it was never let go, so its call may run it again

  bool operator==(const ProcessFailed&) const = default;
};
BOOST_DESCRIBE_STRUCT(ProcessFailed, (), (error, duration_ms, never_ran))

// It was ended by us.
struct ProcessTerminated {
  static constexpr std::string_view kType = "process.terminated";
  using Scope = ProcessScope;
  std::optional<std::string> reason;
  std::optional<Json> signal;
  std::optional<std::int64_t> duration_ms;

  bool operator==(const ProcessTerminated&) const = default;
};
BOOST_DESCRIBE_STRUCT(ProcessTerminated, (), (reason, signal, duration_ms))

// Bytes were stored behind a ref: the ref is this session's, and knowing it grants nothing.
struct OutputSpilled {
  static constexpr std::string_view kType = "output.spilled";
  using Scope = SessionScope;
  std::string output_ref;
  std::uint64_t size = 0;
  std::optional<std::string> media_type;
  std::optional<std::string> encoding;  // utf-8, binary
  std::optional<std::string> preview;   // how text begins
  std::optional<std::string> digest;    // sha256:… of the bytes behind the ref
  std::optional<bool> truncated;
  std::optional<bool> redacted;
  std::optional<Timestamp> expires_at;

  bool operator==(const OutputSpilled&) const = default;
};
BOOST_DESCRIBE_STRUCT(OutputSpilled, (),
                      (output_ref, size, media_type, encoding, preview, digest, truncated, redacted,
                       expires_at))

// Not all bytes were kept.
struct OutputTruncated {
  static constexpr std::string_view kType = "output.truncated";
  using Scope = SessionScope;
  std::string output_ref;
  std::optional<std::uint64_t> size;  // how many bytes there were
  std::optional<std::uint64_t> kept;

  bool operator==(const OutputTruncated&) const = default;
};
BOOST_DESCRIBE_STRUCT(OutputTruncated, (), (output_ref, size, kept))

// Values of secrets were replaced before the bytes were stored.
struct OutputRedacted {
  static constexpr std::string_view kType = "output.redacted";
  using Scope = SessionScope;
  std::string output_ref;
  std::optional<std::string> reason;

  bool operator==(const OutputRedacted&) const = default;
};
BOOST_DESCRIBE_STRUCT(OutputRedacted, (), (output_ref, reason))

// The ref leads nowhere from now on. Says again what the index row needs, so that the row follows
// from this fact alone.
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
