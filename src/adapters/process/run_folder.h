// adapters/process/run_folder.h: what a launcher leaves on disk about one command.
//
// stdout and stderr hold the beginning of each stream, up to half of the spool's bound; NAME.tail
// goes round and round behind it. exit.json is there, whole, once the command has ended. Blocking.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "schema/values.h"

namespace agentrt::adapters {

inline constexpr std::size_t kPreviewHalf = 2'048;  // of beginning and end
// Read beyond a cut, so that a secret is seen whole before it could be cut in two.
inline constexpr std::size_t kCutMargin = 4'096;

// Takes secrets out of a text.
using Redact = std::function<std::string(std::string)>;

// What a command wrote to one stream.
struct Spooled {
  std::uint64_t size = 0;  // bytes, whether they are in the spool or not
  // Bytes that reached the disk: all of them, unless it took no more. Later ones are lost. The
  // spool's own bound does not count here.
  std::uint64_t kept = 0;
  bool exact = true;  // false: there were at least `size` bytes

  bool whole() const { return exact && kept == size; }
  bool operator==(const Spooled&) const = default;
};

struct ExitRecord {
  std::optional<std::int64_t> code;
  std::optional<std::int64_t> signal;
  Spooled out, err;
  bool started = true;                       // it was let go
  bool abandoned = false;                    // ended because nobody was connected any more
  std::optional<schema::Failure> lost = {};  // there is no record: how it ended is not known
};

class RunFolder {
 public:
  RunFolder(std::string path, std::uint64_t spool_bytes)
      : path_(std::move(path)), half_(spool_bytes / 2) {}

  const std::string& path() const { return path_; }
  // What an earlier run of the same name left is removed; keep_state() or its launcher makes the
  // folder.
  Result<void> make_way() const;
  // The state of the workspace before the command (left_behind.h), for whoever hears of its end;
  // "" where none was kept.
  void keep_state(std::string_view state) const;
  std::string state() const;
  void remove() const;

  // Bytes of a stream that stand in its beginning, from `offset`, at most `bytes_max`.
  std::string read(std::string_view stream, std::uint64_t offset, std::size_t bytes_max) const;
  // Beginning and end of a stream of `size` bytes, with a line between that says what is missing.
  std::string preview(std::string_view stream, std::uint64_t size, const Redact& redact) const;
  // A file with all that was kept of a stream, in order; nothing when it cannot be made.
  std::optional<std::string> whole(std::string_view stream, std::uint64_t size) const;
  // Absent while the command runs, and for good when its launcher was killed.
  std::optional<ExitRecord> exit_record() const;
  // False: this process has no descriptors left, so that nothing in here can be told from what is
  // missing.
  bool can_be_read() const;
  // What the spool of a killed launcher holds of a stream.
  Spooled left_of(std::string_view stream) const;

 private:
  std::string tail(std::string_view stream, std::uint64_t size, std::size_t bytes_max) const;

  std::string path_;
  std::uint64_t half_;
};

// What the launcher says when a command has ended, also the text of exit.json. A refusal in there
// was meant for a runtime that is gone: nothing ran.
std::optional<ExitRecord> read_exit_record(std::string_view json);

}  // namespace agentrt::adapters
