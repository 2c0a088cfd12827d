// adapters/tools/edit_text.h: one text put in place of another, at its only place or at each.
//
// Bytes are compared as they are. Where every line of the file ends with CRLF, line ends of both
// texts are read as CRLF, since nobody who was shown the lines could have told. Pure.
#pragma once

#include <string>
#include <string_view>

#include "adapters/tools/outcome.h"
#include "schema/file_tools.h"

namespace agentrt::adapters::tools {

inline constexpr std::size_t kFileBytesMax = 16 << 20;  // of a file that is written or edited

// The bytes with the edit. A refusal says what stands there instead.
Outcome<std::string> edited(std::string_view bytes, const schema::EditFileArgs& args);

}  // namespace agentrt::adapters::tools
