#include "launcher/guarded/names.h"

#include <algorithm>

namespace agentrt::launcher {
namespace {

constexpr std::string_view kLock = ".lock";

std::string_view take_name(std::string_view& path) {
  const std::size_t end = std::min(path.find('/'), path.size());
  const std::string_view name = path.substr(0, end);
  path.remove_prefix(std::min(end + 1, path.size()));
  return name;
}

// Matches one name; a pattern has at most one star per name.
bool is_named(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  if (star == pattern.npos) return pattern == name;
  const std::string_view head = pattern.substr(0, star), tail = pattern.substr(star + 1);
  return name.size() >= head.size() + tail.size() && name.starts_with(head) && name.ends_with(tail);
}

bool is_file_named(std::string_view pattern, std::string_view name, bool with_lock) {
  if (is_named(pattern, name)) return true;
  return with_lock && name.ends_with(kLock) &&
         is_named(pattern, name.substr(0, name.size() - kLock.size()));
}

struct Pattern {
  std::string_view path, content;
  bool only_new = false, has_content = false, folder = false;

  explicit Pattern(std::string_view text) : path(text) {
    only_new = path.starts_with('+');
    if (only_new) path.remove_prefix(1);
    const std::size_t equals = path.find('=');
    has_content = equals != path.npos;
    if (has_content) content = path.substr(equals + 1);
    path = path.substr(0, equals);
    folder = path.ends_with('/');
    if (folder) path.remove_suffix(1);
  }

  Access access_to(std::string_view asked) const {
    std::string_view left = path;
    while (!left.empty()) {
      if (asked.empty()) return Access::way;
      const std::string_view expected = take_name(left), name = take_name(asked);
      const bool file = left.empty() && !folder;
      if (file ? !is_file_named(expected, name, !only_new) : !is_named(expected, name))
        return Access::none;
    }
    if (!asked.empty() && !folder) return Access::none;
    return only_new ? Access::new_file : Access::everything;
  }
};

}  // namespace

Writable writable(const std::vector<std::string>& patterns, std::string_view path) {
  Writable most;
  for (const std::string& text : patterns) {
    const Pattern pattern(text);
    const Access access = pattern.access_to(path);
    if (access <= most.access) continue;
    most.access = access;
    most.content.reset();
    if (access == Access::new_file && pattern.has_content) most.content = pattern.content;
  }
  return most;
}

std::vector<std::string> whole_folders(const std::vector<std::string>& patterns) {
  std::vector<std::string> out;
  for (const std::string& text : patterns) {
    const Pattern pattern(text);
    if (pattern.folder && pattern.path.find_first_of("/*") == std::string_view::npos)
      out.emplace_back(pattern.path);
  }
  return out;
}

}  // namespace agentrt::launcher
