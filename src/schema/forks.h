// schema/forks.h: the index row of a thread that was forked from another session.
#pragma once

#include <string_view>

namespace agentrt::schema {

// Listed under its session, and in the list state::forks_term() of the other one.
inline constexpr std::string_view kForkKind = "fork";

}  // namespace agentrt::schema
