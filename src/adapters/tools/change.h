// adapters/tools/change.h: a change of a file, in two steps: worked out, and made.
//
// stage() touches nothing: it says what the file is now and would be. make_change() puts a new file
// in the place of the old one at once (rename), so whoever reads sees one or the other, and other
// names of the old file keep their bytes. Between the two the change is stored; after a crash
// find_state() says from the file alone whether it was made.
//
// Blocks; one thread at a time.
#pragma once

#include <string>

#include "adapters/tools/edit_text.h"
#include "adapters/tools/grounds.h"
#include "base/ids.h"
#include "policy/redaction.h"
#include "schema/file_tools.h"

namespace agentrt::adapters::tools {

struct StagedChange {
  Target target;
  schema::FileChange change;  // without the ref of its diff
  std::string bytes;          // of the file afterwards
  std::string diff;
};

Outcome<StagedChange> stage(const Grounds& grounds, const schema::WriteFileArgs& args,
                            const policy::Redactor* redactor);
Outcome<StagedChange> stage(const Grounds& grounds, const schema::EditFileArgs& args,
                            const policy::Redactor* redactor);

// The new bytes, on disk beside the file, under a name that the call gives them. Dropped before
// put_in_place(), nothing is left.
class StagedFile {
 public:
  static Outcome<StagedFile> write(const Grounds& grounds, StagedChange& staged,
                                   const ToolCallId& call);
  StagedFile(StagedFile&& other) noexcept = default;
  StagedFile& operator=(StagedFile&& other) = delete;
  ~StagedFile();

  // Fails when the file is no longer what it was. When it returns, the change is on disk.
  Outcome<void> put_in_place(const StagedChange& staged);

 private:
  StagedFile(Descriptor folder, std::string name)
      : folder_(std::move(folder)), name_(std::move(name)) {}

  Descriptor folder_;
  std::string name_;  // empty: it is in its place
};

enum class FileState { before, after, other };

// Which of the two the file is, of a change that was announced.
Outcome<FileState> find_state(const Grounds& grounds, const schema::FileChange& change);

// "Changed src/a.cc (+3 -1)."
std::string told(const Grounds& grounds, const schema::FileChange& change);

}  // namespace agentrt::adapters::tools
