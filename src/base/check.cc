#include "base/check.h"

#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

namespace agentrt {

void stop(std::string_view reason, std::source_location where) {
  fmt::print(stderr, "agentrt: stopped: {} ({}:{})\n", reason, where.file_name(), where.line());
  std::fflush(stderr);
  std::abort();
}

}  // namespace agentrt
