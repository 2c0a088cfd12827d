#include "adapters/mcp/tool_names.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/digest.h"

namespace agentrt::adapters {
namespace {

constexpr std::size_t kMarkBytes = 9;  // _ and eight hexadecimal digits

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

bool fits(std::string_view text, std::size_t bytes_max) {
  return !text.empty() && text.size() <= bytes_max && std::ranges::all_of(text, is_plain);
}

std::string marked(std::string_view text, std::size_t bytes_max) {
  std::string out(text.substr(0, bytes_max - kMarkBytes));
  std::ranges::replace_if(out, [](char c) { return !is_plain(c); }, '_');
  while (out.find("__") != std::string::npos) out.erase(out.find("__"), 1);
  while (out.ends_with('_')) out.pop_back();
  return fmt::format("{}_{}", out, hex(bytes_of(sha256(text))).substr(0, kMarkBytes - 1));
}

}  // namespace

std::string mcp_server_part(std::string_view name) {
  const bool plain = fits(name, kMcpServerPartBytesMax) && !name.ends_with('_') &&
                     name.find("__") == std::string_view::npos;
  return plain ? std::string(name) : marked(name, kMcpServerPartBytesMax);
}

std::string mcp_tool_name(std::string_view server_part, std::string_view tool) {
  const std::string before = fmt::format("{}{}__", kMcpPrefix, server_part);
  const std::size_t room = kProviderNameBytesMax - before.size();
  return before + (fits(tool, room) ? std::string(tool) : marked(tool, room));
}

std::optional<std::string> server_part_of(std::string_view tool_name) {
  if (!tool_name.starts_with(kMcpPrefix)) return std::nullopt;
  tool_name.remove_prefix(kMcpPrefix.size());
  const std::size_t end = tool_name.find("__");
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  return std::string(tool_name.substr(0, end));
}

}  // namespace agentrt::adapters
