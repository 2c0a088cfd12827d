// schema/facts/process.h: commands that run in the world, and the bytes they leave.
#pragma once

#include "schema/scope.h"
#include "schema/values.h"

namespace agentrt::schema {

BOOST_DEFINE_ENUM_CLASS(OutputStream, stdout_, stderr_, pty)

// Stored before the command is released to run.
struct ProcessStarted {
  static constexpr std::string_view kType = "process.started";
  std::string command;
  std::optional<std::string> cwd;
  std::optional<bool> tty;
  std::optional<std::int64_t> pid;
  std::optional<Timestamp> start_time;
  std::optional<std::string> argv_digest;
  std::optional<bool> background;

  bool operator==(const ProcessStarted&) const = default;
};
BOOST_DESCRIBE_STRUCT(ProcessStarted, (),
                      (command, cwd, tty, pid, start_time, argv_digest, background))

struct ProcessOutput {
  static constexpr std::string_view kType = "process.output";
  OutputStream stream = OutputStream::stdout_;
  std::optional<std::string> text;  // at most 4 kB; or output_ref
  std::optional<std::string> output_ref;
  std::optional<std::uint64_t> offset;  // into the spool

  bool operator==(const ProcessOutput&) const = default;
};
BOOST_DESCRIBE_STRUCT(ProcessOutput, (), (stream, text, output_ref, offset))

struct ProcessInput {
  static constexpr std::string_view kType = "process.input";
  std::optional<std::uint64_t> bytes;
  std::optional<std::string> preview;
  std::optional<std::string> input_ref;

  bool operator==(const ProcessInput&) const = default;
};
BOOST_DESCRIBE_STRUCT(ProcessInput, (), (bytes, preview, input_ref))

// It ended by itself, with any exit code or by a signal.
struct ProcessCompleted {
  static constexpr std::string_view kType = "process.completed";
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
  std::optional<Failure> error;
  std::optional<std::int64_t> duration_ms;

  bool operator==(const ProcessFailed&) const = default;
};
BOOST_DESCRIBE_STRUCT(ProcessFailed, (), (error, duration_ms))

// It was ended by us.
struct ProcessTerminated {
  static constexpr std::string_view kType = "process.terminated";
  std::optional<std::string> reason;
  std::optional<Json> signal;
  std::optional<std::int64_t> duration_ms;

  bool operator==(const ProcessTerminated&) const = default;
};
BOOST_DESCRIBE_STRUCT(ProcessTerminated, (), (reason, signal, duration_ms))

struct OutputSpilled {
  static constexpr std::string_view kType = "output.spilled";
  std::string output_ref;
  std::uint64_t size = 0;
  std::optional<std::string> media_type;
  std::optional<std::string> encoding;
  std::optional<std::string> preview;

  bool operator==(const OutputSpilled&) const = default;
};
BOOST_DESCRIBE_STRUCT(OutputSpilled, (), (output_ref, size, media_type, encoding, preview))

struct OutputTruncated {
  static constexpr std::string_view kType = "output.truncated";
  std::string output_ref;
  std::optional<std::uint64_t> size;
  std::optional<std::uint64_t> kept;

  bool operator==(const OutputTruncated&) const = default;
};
BOOST_DESCRIBE_STRUCT(OutputTruncated, (), (output_ref, size, kept))

struct OutputRedacted {
  static constexpr std::string_view kType = "output.redacted";
  std::string output_ref;
  std::optional<std::string> reason;

  bool operator==(const OutputRedacted&) const = default;
};
BOOST_DESCRIBE_STRUCT(OutputRedacted, (), (output_ref, reason))

struct OutputExpired {
  static constexpr std::string_view kType = "output.expired";
  std::string output_ref;
  std::optional<std::string> reason;

  bool operator==(const OutputExpired&) const = default;
};
BOOST_DESCRIBE_STRUCT(OutputExpired, (), (output_ref, reason))

}  // namespace agentrt::schema
