// cli/programs.h: finds programs that other commands would start.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace agentrt::cli {

// Whether a file that may be executed has this name in one of the folders of `path`, which are
// separated by colons.
inline bool is_installed(std::string_view program, std::string_view path) {
  while (true) {
    const std::size_t end = std::min(path.find(':'), path.size());
    const std::string file = std::string(path.substr(0, end)) + "/" + std::string(program);
    if (::access(file.c_str(), X_OK) == 0) return true;
    if (end == path.size()) return false;
    path.remove_prefix(end + 1);
  }
}

}  // namespace agentrt::cli
