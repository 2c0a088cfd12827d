#include "policy/paths.h"

#include <algorithm>
#include <vector>

#include "policy/stars.h"

namespace agentrt::policy {
namespace {

constexpr auto kNone = std::string_view::npos;

std::vector<std::string_view> names_of(std::string_view path) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t slash = std::min(path.find('/', at), path.size());
    if (slash > at) out.push_back(path.substr(at, slash - at));
    at = slash + 1;
  }
  return out;
}

bool name_fits(std::string_view name, std::string_view pattern) {
  return row_fits(
      name, pattern, [](char c) { return c == '*'; },
      [](char a, char b) { return b == '?' || a == b; });
}

// Matches sequences of names; `**` is the star.
bool names_fit(const std::vector<std::string_view>& names,
               const std::vector<std::string_view>& pattern) {
  return row_fits(names, pattern, [](std::string_view name) { return name == "**"; }, name_fits);
}

}  // namespace

std::string normal_path(std::string_view path, std::string_view base, std::string_view home) {
  std::string whole;
  if (path == "~" || path.starts_with("~/"))
    whole = std::string(home) + "/" + std::string(path.substr(1));
  else if (path.starts_with('/'))
    whole = path;
  else
    whole = std::string(base) + "/" + std::string(path);
  std::vector<std::string_view> kept;
  for (const std::string_view name : names_of(whole)) {
    if (name == ".") continue;
    if (name != "..")
      kept.push_back(name);
    else if (!kept.empty())
      kept.pop_back();
  }
  std::string out;
  for (const std::string_view name : kept) out.append("/").append(name);
  return out.empty() ? "/" : out;
}

bool is_within(std::string_view path, std::string_view folder) {
  if (folder == "/" || path == folder) return true;
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

bool path_fits(std::string_view path, std::string_view pattern) {
  return names_fit(names_of(path), names_of(pattern));
}

bool is_pattern(std::string_view path) { return path.find_first_of("*?") != kNone; }

std::string host_of(std::string_view address) {
  const std::size_t scheme = address.find("://");
  if (scheme != kNone) address.remove_prefix(scheme + 3);
  // A backslash also ends the host, because browsers treat it as a slash.
  address = address.substr(0, address.find_first_of("/?#\\"));
  if (const std::size_t at = address.rfind('@'); at != kNone) address.remove_prefix(at + 1);
  if (address.starts_with('['))
    address = address.substr(0, address.find(']') + 1);
  else
    address = address.substr(0, address.find(':'));
  while (address.ends_with('.')) address.remove_suffix(1);
  std::string out(address);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  });
  return out;
}

bool host_fits(std::string_view host, std::string_view pattern) {
  if (host.empty()) return false;
  if (!pattern.starts_with("*.")) return host == pattern;
  return host.ends_with(pattern.substr(1)) && host.size() > pattern.size() - 1;
}

}  // namespace agentrt::policy
