// adapters/tools/lines.h: reads a file or stored output line by line, in bounded memory for any
// line length.
//
// Secrets are redacted before the bytes are split into lines, so multi-line secrets are found too;
// the lines of such a secret become one line. One thread at a time; blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "adapters/tools/outcome.h"
#include "adapters/tools/until.h"
#include "base/descriptor.h"
#include "policy/redaction.h"
#include "ports/outputs.h"

namespace agentrt::adapters::tools {

inline constexpr std::size_t kReadBytes = 128 * 1024;  // per read
// Timeout for the next bytes of a stored output.
inline constexpr std::int64_t kOutputWaitMs = 30'000;

// A sequential source of bytes.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Appends the next bytes to `out`, at most kReadBytes. False: end of input.
  virtual Outcome<bool> read(std::string& out) = 0;
};

class FileBytes final : public ByteSource {
 public:
  // `file` must be open for reading.
  explicit FileBytes(Descriptor file) : file_(std::move(file)) {}
  Outcome<bool> read(std::string& out) override;

 private:
  Descriptor file_;
};

// Reads an output of the session. Must not run on the worker that serves Outputs.
class OutputBytes final : public ByteSource {
 public:
  static Outcome<std::unique_ptr<OutputBytes>> open(ports::Outputs& outputs, const std::string& ref,
                                                    const SessionId& session);
  Outcome<bool> read(std::string& out) override;
  std::uint64_t size() const { return output_->record().size; }

 private:
  explicit OutputBytes(std::shared_ptr<ports::OpenOutput> output) : output_(std::move(output)) {}

  std::shared_ptr<ports::OpenOutput> output_;
  std::uint64_t offset_ = 0;
};

struct Line {
  std::string_view text;       // without its line end; valid until the next call of next()
  std::uint64_t left_out = 0;  // bytes beyond the line limit
};

class LineReader {
 public:
  LineReader(ByteSource& source, const policy::Redactor* redactor, std::size_t line_bytes_max,
             const Until& until)
      : source_(source), redaction_(redactor), line_bytes_max_(line_bytes_max), until_(until) {}

  // The first bytes, before redaction, to detect the file type. Call it before the first next().
  Outcome<std::string_view> beginning();
  // False: no more lines. A line end after the last line does not start another line. timeout: the
  // call was cancelled or its time is up.
  Outcome<bool> next(Line& line);

 private:
  Outcome<void> fill();
  void shorten();
  bool give(Line& line, std::string_view text);

  ByteSource& source_;
  policy::RedactingStream redaction_;
  const std::size_t line_bytes_max_;
  const Until& until_;
  std::string piece_;    // raw bytes
  std::string pending_;  // redacted bytes; those from at_ on are unread
  std::size_t at_ = 0;
  std::size_t looked_ = 0;  // no line end before this position
  std::string head_;        // start of an overlong line whose end is not read yet
  std::uint64_t dropped_ = 0;
  bool in_long_line_ = false, piece_waits_ = false, ended_ = false;
};

}  // namespace agentrt::adapters::tools
