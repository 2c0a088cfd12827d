// adapters/process/run_folder.h: reads the files that a launcher leaves on disk about one command.
//
// stdout and stderr hold the beginning of each stream, up to half of the spool's limit. NAME.tail
// is a ring buffer with the end. exit.json appears, complete, when the command has ended. Blocking.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "schema/values.h"

namespace agentrt::adapters {

inline constexpr std::size_t kPreviewHalf = 2'048;  // bytes shown of the beginning and of the end
// Extra bytes read beyond a cut, so that a secret at the cut is found before it is split.
inline constexpr std::size_t kCutMargin = 4'096;

// Removes secrets from a text.
using Redact = std::function<std::string(std::string)>;

// The sizes of one output stream.
struct Spooled {
  std::uint64_t size = 0;  // bytes written by the command, stored or not
  // Leading bytes that the disk accepted; less than `size` after a write error. Bytes that the ring
  // buffer overwrote still count.
  std::uint64_t kept = 0;
  bool exact = true;  // false: at least `size` bytes were written

  bool whole() const { return exact && kept == size; }
  bool operator==(const Spooled&) const = default;
};

struct ExitRecord {
  std::optional<std::int64_t> code;
  std::optional<std::int64_t> signal;
  Spooled out, err;
  bool started = true;                       // the command was released from its gate
  bool abandoned = false;                    // killed because its connection closed
  std::optional<schema::Failure> lost = {};  // set if there is no record and the end is unknown
};

class RunFolder {
 public:
  RunFolder(std::string path, std::uint64_t spool_bytes)
      : path_(std::move(path)), half_(spool_bytes / 2) {}

  const std::string& path() const { return path_; }
  // Removes a folder that an earlier run of the same name left. keep_state() or the launcher
  // creates the new one.
  Result<void> make_way() const;
  // Stores the snapshot of the workspace before the command (left_behind.h), and reads it back. "":
  // none was stored.
  void keep_state(std::string_view state) const;
  std::string state() const;
  void remove() const;

  // Reads from the head file of a stream: at most `bytes_max` bytes from `offset`.
  std::string read(std::string_view stream, std::uint64_t offset, std::size_t bytes_max) const;
  // The beginning and end of a stream of `size` bytes, with a line in between that says how much is
  // missing.
  std::string preview(std::string_view stream, std::uint64_t size, const Redact& redact) const;
  // The path of a file with all stored bytes of a stream, in order. nullopt: it cannot be created.
  std::optional<std::string> whole(std::string_view stream, std::uint64_t size) const;
  // nullopt while the command runs, and forever if its launcher was killed.
  std::optional<ExitRecord> exit_record() const;
  // False: this process has no free descriptors, so "not found" proves nothing.
  bool can_be_read() const;
  // The sizes of a stream in the spool of a killed launcher.
  Spooled left_of(std::string_view stream) const;

 private:
  std::string tail(std::string_view stream, std::uint64_t size, std::size_t bytes_max) const;

  std::string path_;
  std::uint64_t half_;
};

// Parses the launcher's `exited` report, which is also the content of exit.json. A `refused` report
// found there means that nothing ran.
std::optional<ExitRecord> read_exit_record(std::string_view json);

}  // namespace agentrt::adapters
