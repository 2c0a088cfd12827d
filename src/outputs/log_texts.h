// outputs/log_texts.h: texts that are stored only as fragments in the log, and named by the range
// of their facts: log:FIRST-LAST. Earlier versions stored long answers this way.
#pragma once

#include <string>

#include "store/store.h"

namespace agentrt::outputs {

inline constexpr std::size_t kLogTextBytesMax = 32 << 20;  // a longer text is refused

inline bool is_log_ref(std::string_view ref) { return ref.starts_with("log:"); }

// The text of the model request whose fragments begin and end the range. Blocks. Errors: not_found:
// the ref names no fragments; too_large.
Result<std::string> log_text(store::Store& store, const SessionId& session, std::string_view ref);

}  // namespace agentrt::outputs
