#include "tools/web_address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include <fmt/format.h>

namespace agentrt::tools {
namespace {

constexpr auto kNone = std::string_view::npos;
constexpr std::string_view kScheme = "https://";
constexpr std::size_t kHostBytesMax = 253;
constexpr std::size_t kLabelBytesMax = 63;

char lowered(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return lowered(c) >= 'a' && lowered(c) <= 'z'; }

std::unexpected<Error> wrong(std::string sentence) {
  return fail(Code::invalid_params, "url: " + std::move(sentence));
}

// Whether the text begins with a scheme such as `https:` or `mailto:`.
bool has_scheme(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == kNone || colon == 0 || !is_letter(text.front())) return false;
  return std::ranges::all_of(text.substr(0, colon), [](char c) {
    return is_letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.';
  });
}

// Percent-encodes what may not be written in a path or query. Fails on control characters and
// backslashes.
Result<std::string> encoded(std::string_view text) {
  constexpr std::string_view kEncoded = " \"<>^`{|}";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F || c == '\\')
      return wrong("must not contain a backslash or a control character");
    if (byte >= 0x80 || kEncoded.contains(c))
      out += fmt::format("%{:02X}", byte);
    else
      out += c;
  }
  return out;
}

Result<std::string> read_ipv6(std::string_view inside) {
  in6_addr bytes{};
  char text[INET6_ADDRSTRLEN];
  if (::inet_pton(AF_INET6, std::string(inside).c_str(), &bytes) != 1 ||
      ::inet_ntop(AF_INET6, &bytes, text, sizeof text) == nullptr)
    return wrong("has an invalid IPv6 address in brackets");
  return fmt::format("[{}]", text);
}

bool is_label(std::string_view label) {
  return !label.empty() && label.size() <= kLabelBytesMax && std::ranges::all_of(label, [](char c) {
    return is_letter(c) || is_digit(c) || c == '-' || c == '_';
  });
}

// Some programs take a host whose last label is a number, such as 127.1 or 0x7f000001, for an IPv4
// address.
bool looks_numeric(std::string_view host) {
  const std::string_view last = host.substr(host.rfind('.') + 1);
  return last.starts_with("0x") || std::ranges::all_of(last, is_digit);
}

Result<std::string> read_host(std::string_view host) {
  if (host.starts_with('[') && host.ends_with(']'))
    return read_ipv6(host.substr(1, host.size() - 2));
  if (host.ends_with('.')) host.remove_suffix(1);
  std::string out(host);
  std::ranges::transform(out, out.begin(), lowered);
  if (out.empty()) return wrong("has no host");
  if (out.size() > kHostBytesMax) return wrong("has a host name that is too long");
  for (std::size_t at = 0; at <= out.size();) {
    const std::size_t dot = std::min(out.find('.', at), out.size());
    if (!is_label(std::string_view(out).substr(at, dot - at)))
      return wrong(
          "has an invalid host name; write international names in their ASCII form (xn--…)");
    at = dot + 1;
  }
  in_addr bytes{};
  if (looks_numeric(out) && ::inet_pton(AF_INET, out.c_str(), &bytes) != 1)
    return wrong("has an invalid IPv4 address; write it as four decimal numbers");
  return out;
}

// HOST or HOST:PORT.
Result<WebAddress> read_authority(std::string_view authority) {
  if (authority.contains('@')) return wrong("must not contain a user name or password");
  WebAddress out;
  const std::size_t bracket = authority.starts_with('[') ? authority.find(']') : kNone;
  const std::size_t colon = authority.find(':', bracket == kNone ? 0 : bracket);
  TRY_ASSIGN(out.host, read_host(authority.substr(0, colon)));
  if (colon == kNone || colon + 1 == authority.size()) return out;
  const std::string_view port = authority.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), out.port);
  if (error != std::errc{} || end != port.data() + port.size() || out.port == 0)
    return wrong("has an invalid port");
  return out;
}

// Path and query without `.` and `..`, beginning with a slash.
std::string normal_target(std::string_view target) {
  const std::size_t query = std::min(target.find('?'), target.size());
  const std::string_view path = target.substr(0, query);
  std::vector<std::string_view> kept;
  for (std::size_t at = path.starts_with('/') ? 1 : 0; at <= path.size();) {
    const std::size_t slash = std::min(path.find('/', at), path.size());
    const std::string_view name = path.substr(at, slash - at);
    at = slash + 1;
    const bool last = slash == path.size();
    if (name == ".." && !kept.empty()) kept.pop_back();
    if (name != "." && name != "..")
      kept.push_back(name);
    else if (last)
      kept.emplace_back();
  }
  std::string out;
  for (const std::string_view name : kept) out.append("/").append(name);
  if (out.empty()) out = "/";
  return out.append(target.substr(query));
}

}  // namespace

std::string WebAddress::text() const {
  return port == kHttpsPort ? fmt::format("{}{}{}", kScheme, host, target)
                            : fmt::format("{}{}:{}{}", kScheme, host, port, target);
}

Result<WebAddress> read_web_address(std::string_view url) {
  if (url.size() > kWebAddressBytesMax)
    return wrong(fmt::format("must have at most {} bytes", kWebAddressBytesMax));
  const bool https = std::ranges::equal(url.substr(0, kScheme.size()), kScheme, {}, lowered);
  if (!https) return wrong("must begin with https://");
  const std::string_view rest = url.substr(kScheme.size());
  const std::size_t end = std::min(rest.find_first_of("/?#"), rest.size());
  TRY_ASSIGN(WebAddress out, read_authority(rest.substr(0, end)));
  const std::string_view after = rest.substr(end);
  TRY_ASSIGN(const std::string target, encoded(after.substr(0, after.find('#'))));
  out.target = normal_target(target);
  return out;
}

Result<WebAddress> resolve(const WebAddress& base, std::string_view reference) {
  if (has_scheme(reference)) return read_web_address(reference);
  if (reference.starts_with("//")) return read_web_address("https:" + std::string(reference));
  if (reference.size() > kWebAddressBytesMax) return read_web_address(reference);
  TRY_ASSIGN(std::string target, encoded(reference.substr(0, reference.find('#'))));
  WebAddress out = base;
  const std::string_view before = std::string_view(base.target).substr(0, base.target.find('?'));
  if (target.empty()) return out;
  if (target.starts_with('?'))
    target.insert(0, before);
  else if (!target.starts_with('/'))
    target.insert(0, before.substr(0, before.rfind('/') + 1));
  out.target = normal_target(target);
  if (out.text().size() > kWebAddressBytesMax) return read_web_address(out.text());
  return out;
}

std::optional<std::string> ip_literal(const WebAddress& address) {
  const std::string& host = address.host;
  if (host.starts_with('[')) return host.substr(1, host.size() - 2);
  if (looks_numeric(host)) return host;
  return std::nullopt;
}

}  // namespace agentrt::tools
