// control/safe_args.h: the arguments of a call as tool.started and tool.args show them.
//
// tool.started has the arguments with long texts shortened, so that a client can show the call at
// once. If that changes them, tool.args has them in full. Pure.
#pragma once

#include "control/turn_facts.h"

namespace agentrt::control {

inline constexpr std::size_t kShownTextBytesMax = 256;       // of one text in shortened arguments
inline constexpr std::size_t kArgsDeltaBytesMax = 16 << 10;  // per tool.args

// The arguments, with long texts cut if they exceed kSafeArgsBytesMax. Always valid JSON, of the
// same type. If that is not enough, an empty object.
schema::Json safe_args(const schema::Json& args);

// Adds the tool.args of a call whose arguments safe_args() shortens.
void add_full_args(Facts& facts, const schema::ToolScope& call, const schema::Json& args);

}  // namespace agentrt::control
