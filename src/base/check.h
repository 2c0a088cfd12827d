// base/check.h: assertions that stay on in release.
//
// check() is for bugs, never for input: it prints the broken rule with its place and stops the
// process. Stopping is safe here, since everything acknowledged is already in the log.
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
