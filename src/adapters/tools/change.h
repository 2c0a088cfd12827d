// adapters/tools/change.h: changes a file in two steps: stage the change, then make it.
//
// stage() writes nothing: it computes the file's current and new content. StagedFile then replaces
// the old file atomically (rename): a reader sees the old or the new file, and other hard links to
// the old file keep its bytes. The log stores the change between the two steps. After a crash,
// find_state() tells from the file alone whether the change was made.
//
// Blocks; one thread at a time.
#pragma once

#include <optional>
#include <string>

#include "adapters/tools/edit_text.h"
#include "adapters/tools/grounds.h"
#include "base/ids.h"
#include "policy/redaction.h"
#include "schema/file_tools.h"
#include "tools/edit_file.h"
#include "tools/write_file.h"

namespace agentrt::adapters::tools {

struct StagedChange {
  Target target;
  schema::FileChange change;  // without the ref of its diff
  std::string bytes;          // the new content of the file
  std::string diff;
  std::string before;  // the old content
};

Outcome<StagedChange> stage(const Grounds& grounds, const agentrt::tools::WriteFileArgs& args,
                            const policy::Redactor* redactor);
Outcome<StagedChange> stage(const Grounds& grounds, const agentrt::tools::EditFileArgs& args,
                            const policy::Redactor* redactor);

// A change from `before` to `after`; nullopt: there is no file.
StagedChange staged_change(const Grounds& grounds, Target target, std::optional<std::string> before,
                           std::optional<std::string> after);

std::string digest_of(std::string_view bytes);
// At most kFileBytesMax bytes.
Outcome<std::string> read_whole(const Opened& file);

// The new bytes, written to a temporary file beside the target and named after the call. Destroying
// it before put_in_place() deletes the temporary file.
class StagedFile {
 public:
  static Outcome<StagedFile> write(const Grounds& grounds, StagedChange& staged,
                                   const ToolCallId& call);
  StagedFile(StagedFile&& other) noexcept = default;
  StagedFile& operator=(StagedFile&& other) = delete;
  ~StagedFile();

  // Fails if the file has changed since stage(). When it returns, the change is durable.
  Outcome<void> put_in_place(const StagedChange& staged);

 private:
  StagedFile(Descriptor folder, std::string name)
      : folder_(std::move(folder)), name_(std::move(name)) {}

  Descriptor folder_;
  std::string name_;  // empty: already in place
};

enum class FileState { before, after, other };

// Whether the file is in the state before or after an announced change, or in neither.
Outcome<FileState> find_state(const Grounds& grounds, const schema::FileChange& change);

// Whether the diff and the new content give the old content.
bool is_reversible(const StagedChange& staged);

// A summary for the model, such as "Changed src/a.cc (+3 -1)."
std::string told(const Grounds& grounds, const schema::FileChange& change);

}  // namespace agentrt::adapters::tools
