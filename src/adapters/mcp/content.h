// adapters/mcp/content.h: from what a server gave for a call to the end of that call.
//
// Text is for the model. Images, sounds and resources are kept behind refs, each with a line in the
// text that names its ref; where there are any, or the text is cut, the whole text is the first
// output. Blocking: it stores bytes; on a worker.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "ports/outputs.h"
#include "ports/tools.h"

namespace agentrt::adapters {

inline constexpr std::size_t kMcpContentBlocksMax = 256;  // of one result; the rest is counted

// `result` as tools/call gave it. `output_schema`: of its structured content.
ports::ToolEnd tool_end(const schema::Json& result,
                        const std::optional<schema::Json>& output_schema,
                        ports::OutputKeeper& keeper);

// The bytes that a base64 text stands for, in either alphabet; nothing where it is none.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace agentrt::adapters
