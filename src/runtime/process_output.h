// runtime/process_output.h: finds the output of a background process for the model, in the log and
// in the process's spool files.
//
// The log has the beginning of the output, in the order in which it arrived. While the process
// runs, the rest is in its spool files; afterwards it is behind output refs.
#pragma once

#include <string>

#include "adapters/tools/process_text.h"
#include "store/store.h"

namespace agentrt::runtime {

inline constexpr std::size_t kProcessFactsMax = 200'000;  // of the session, searched for output

// `folder`: DATA/run. The store must outlive the result, which any thread may call.
adapters::tools::FindProcess process_outputs(store::Store& store, std::string folder);

}  // namespace agentrt::runtime
