#include "adapters/mcp/address.h"

#include <algorithm>

#include <fmt/format.h>

namespace agentrt::adapters {
namespace {

std::string_view until(std::string_view text, const char* any_of) {
  return text.substr(0, text.find_first_of(any_of));
}

bool has_scheme(std::string_view text) {
  const std::string_view scheme = until(text, ":/?#");
  return scheme.size() < text.size() && text[scheme.size()] == ':';
}

// Scheme, host and port; empty: none.
std::string_view origin_of(std::string_view url) {
  const std::size_t host = url.find("://");
  if (host == url.npos) return {};
  return url.substr(0, host + 3 + until(url.substr(host + 3), "/?#").size());
}

// Normalized for comparison: lower case, without the default port.
std::string plain(std::string_view origin) {
  std::string out(origin);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  const std::string_view usual = out.starts_with("https:") ? ":443" : ":80";
  if (out.ends_with(usual)) out.resize(out.size() - usual.size());
  return out;
}

// The folder that a relative URL is resolved against.
std::string_view folder_of(std::string_view url, std::string_view origin) {
  const std::string_view path = until(url, "?#");
  return path.substr(0, std::max(path.rfind('/') + 1, origin.size()));
}

}  // namespace

Result<std::string> address_beside(std::string_view url, std::string_view named) {
  const auto odd = [](char c) { return c <= ' ' || c == 0x7f || c == '\\'; };
  if (named.empty() || named.size() > kMcpAddressBytesMax || std::ranges::any_of(named, odd))
    return fail(Code::invalid_params, "its endpoint event has no valid address");
  const std::string_view origin = origin_of(url);
  if (!has_scheme(named) && !named.starts_with("//")) {
    if (named.front() == '/') return fmt::format("{}{}", origin, named);
    const std::string_view folder = folder_of(url, origin);
    return fmt::format("{}{}{}", folder, folder.ends_with('/') ? "" : "/", named);
  }
  const std::string whole =
      has_scheme(named) ? std::string(named) : fmt::format("{}:{}", until(url, ":"), named);
  if (plain(origin_of(whole)) != plain(origin))
    return fail(Code::invalid_params,
                fmt::format("its endpoint event names an address on another server ({})",
                            origin_of(whole)));
  return whole;
}

}  // namespace agentrt::adapters
