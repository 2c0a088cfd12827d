// base/check.h: assertions that stay enabled in release builds.
//
// check() reports bugs; never use it to validate input. A failed check prints the violated rule
// with its source location and aborts the process. Aborting is safe: every acknowledged command is
// already in the log.
#pragma once

#include <source_location>
#include <string_view>

namespace agentrt {

[[noreturn]] void stop(std::string_view reason,
                       std::source_location where = std::source_location::current());

inline void check(bool holds, std::string_view rule,
                  std::source_location where = std::source_location::current()) {
  if (!holds) [[unlikely]]
    stop(rule, where);
}

}  // namespace agentrt
