// adapters/tools/edit_text.h: replaces one text with another, at its only occurrence or at each.
//
// Compares bytes exactly. If every line of the file ends with CRLF, line ends in both texts are
// treated as CRLF, because the model cannot see the difference. Pure.
#pragma once

#include <string>
#include <string_view>

#include "adapters/tools/outcome.h"
#include "tools/edit_file.h"

namespace agentrt::adapters::tools {

inline constexpr std::size_t kFileBytesMax = 16 << 20;  // of a file that is written or edited

// The bytes after the edit. A refusal describes what the file contains instead.
Outcome<std::string> edited(std::string_view bytes, const agentrt::tools::EditFileArgs& args);

}  // namespace agentrt::adapters::tools
