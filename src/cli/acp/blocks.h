// cli/acp/blocks.h: the content blocks of a prompt. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "schema/json.h"

namespace agentrt::cli {

// One part of a prompt: a text, or bytes that have to be stored before they can be sent.
struct PromptPart {
  std::string text;
  std::string media_type;  // empty: a text
  std::string bytes;
};

inline constexpr std::size_t kPromptPartsMax = 100;

// Errors: invalid_params: a block that is not offered, or is malformed.
Result<std::vector<PromptPart>> read_blocks(const std::vector<schema::Json>& blocks);

}  // namespace agentrt::cli
