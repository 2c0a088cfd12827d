// kernel/history/changed_files.h: the files that the turns of a thread have changed within a range
// of facts, and how each gets back the content that it had before.
//
// Only what file tools wrote is known: each change is a row with the digests of the old and the new
// content and the diff between them. The changes of a file must follow each other without a gap;
// otherwise something else has changed it in between. Blocks; on a worker.
#pragma once

#include <string>
#include <vector>

#include "schema/rollback.h"
#include "store/store.h"

namespace agentrt::kernel {

inline constexpr std::size_t kVersionsScannedMax = 100'000;  // changes within one range
inline constexpr std::size_t kSubagentsScannedMax = 10'000;  // below one thread
inline constexpr std::size_t kRestoreStepsMax = 256;         // diffs of one file

struct ChangedFile {
  ArtifactId artifact;
  // restorable, changed_since or unknown by the log alone: the file itself is not read.
  schema::EffectState state = schema::EffectState::unknown;
  schema::FileRestore restore;
};

// The files changed by turns of the thread, and by turns of subagents below it that began in the
// range, in the order of their paths. A file that has its old content again is left out. Errors:
// those of the store; limit_exceeded: one of the limits above.
Result<std::vector<ChangedFile>> changed_files(store::Store& store, const SessionId& session,
                                               const ThreadId& thread,
                                               const schema::RestoreRange& range);

}  // namespace agentrt::kernel
