// adapters/tools/lines.h: the lines of a file or of a kept output, one after another, in bounded
// memory whatever their size.
//
// Secrets are replaced in the bytes before they are cut into lines, so one that has several lines
// is found too; lines that it covered are one line then. One thread at a time; blocks.
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

inline constexpr std::size_t kReadBytes = 128 * 1024;  // at once
// How long a worker waits for the next bytes of a kept output.
inline constexpr std::int64_t kOutputWaitMs = 30'000;

// Bytes from the first on.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Appends the next ones to `out`, at most kReadBytes. False: there are none.
  virtual Outcome<bool> read(std::string& out) = 0;
};

class FileBytes final : public ByteSource {
 public:
  // A descriptor with the right to read.
  explicit FileBytes(Descriptor file) : file_(std::move(file)) {}
  Outcome<bool> read(std::string& out) override;

 private:
  Descriptor file_;
};

// Of an output of the session. It must not be read on the worker that serves Outputs.
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
  std::string_view text;       // without its end; valid until the next one is asked for
  std::uint64_t left_out = 0;  // bytes beyond the longest that is shown
};

class LineReader {
 public:
  LineReader(ByteSource& source, const policy::Redactor* redactor, std::size_t line_bytes_max,
             const Until& until)
      : source_(source), redaction_(redactor), line_bytes_max_(line_bytes_max), until_(until) {}

  // The first bytes, as they stand there: what kind of bytes they are. Before the first next().
  Outcome<std::string_view> beginning();
  // False: there is none any more. A line end after the last line begins no further one. timeout:
  // the call may not go on.
  Outcome<bool> next(Line& line);

 private:
  Outcome<void> fill();
  void shorten();
  bool give(Line& line, std::string_view text);

  ByteSource& source_;
  policy::RedactingStream redaction_;
  const std::size_t line_bytes_max_;
  const Until& until_;
  std::string piece_;    // as read
  std::string pending_;  // redacted, from at_ on not given yet
  std::size_t at_ = 0;
  std::size_t looked_ = 0;  // up to here no line ends
  std::string head_;        // of a line that is too long, whose end is still to come
  std::uint64_t dropped_ = 0;
  bool in_long_line_ = false, piece_waits_ = false, ended_ = false;
};

}  // namespace agentrt::adapters::tools
