// adapters/tools/restore.h: stages the return of a file to an earlier content, or its removal.
//
// The earlier content comes from stored diffs, applied backwards, and its digest is checked. A file
// that something else has changed since is refused. Blocks; one thread at a time.
#pragma once

#include "adapters/tools/change.h"
#include "ports/outputs.h"
#include "tools/restore_file.h"

namespace agentrt::adapters::tools {

// `outputs` must not be served by the calling worker.
Outcome<StagedChange> stage(const Grounds& grounds, const agentrt::tools::RestoreFileArgs& args,
                            ports::Outputs& outputs, const SessionId& session);

}  // namespace agentrt::adapters::tools
