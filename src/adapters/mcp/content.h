// adapters/mcp/content.h: converts the result of an MCP tools/call into the end of a tool call.
//
// Text goes to the model. Images, audio and resources are stored as outputs, each with a line in
// the text that names its ref. Models that take images are sent the images of the result too
// (conversation/images.h). If there are any, or if the text is truncated, the full text is the
// first output. Blocking (stores bytes); call it on a worker.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "ports/outputs.h"
#include "ports/tools.h"

namespace agentrt::adapters {

inline constexpr std::size_t kMcpContentBlocksMax = 256;  // per result; the rest is only counted

// `result`: the result of tools/call. `output_schema`: the schema of its structured content.
ports::ToolEnd tool_end(const schema::Json& result,
                        const std::optional<schema::Json>& output_schema,
                        ports::OutputKeeper& keeper);

}  // namespace agentrt::adapters
