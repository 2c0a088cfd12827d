// tools/web_address.h: the addresses that web_fetch accepts: https URLs in one strict form.
//
// Programs disagree about unusual URLs: backslashes, user names, numbers as hosts. Here such a URL
// is an error, and the accepted ones have one canonical text. Rules are compared with that text,
// the person sees it, and exactly that text is requested.
//
// PURE. Safe on any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace agentrt::tools {

inline constexpr std::size_t kWebAddressBytesMax = 4'096;
inline constexpr std::uint16_t kHttpsPort = 443;

struct WebAddress {
  std::string host;  // lower case; IPv4 as four numbers, IPv6 in brackets
  std::uint16_t port = kHttpsPort;
  std::string target = "/";  // path and query; bytes that are not ASCII are percent-encoded

  // The canonical URL.
  std::string text() const;
  bool same_origin(const WebAddress& other) const {
    return host == other.host && port == other.port;
  }
  bool operator==(const WebAddress&) const = default;
};

// The fragment of the URL is dropped. The error says what to write instead.
Result<WebAddress> read_web_address(std::string_view url);

// The address that a Location header or a link of the page at `base` names: a URL, or a reference
// relative to `base`.
Result<WebAddress> resolve(const WebAddress& base, std::string_view reference);

// The host if it is a number: without brackets. Absent: it is a name.
std::optional<std::string> ip_literal(const WebAddress& address);

}  // namespace agentrt::tools
