#include "base/url.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace agentrt {
namespace {

constexpr std::uint16_t kHttpPort = 80, kHttpsPort = 443;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_unreserved(char c) {
  return (lower(c) >= 'a' && lower(c) <= 'z') || is_digit(c) || c == '-' || c == '.' || c == '_' ||
         c == '~';
}

bool is_odd(char c) {
  return static_cast<unsigned char>(c) <= ' ' || static_cast<unsigned char>(c) >= 0x7f ||
         std::string_view("\\\"<>^`{|}").contains(c);
}

std::uint16_t usual_port(std::string_view scheme) {
  return scheme == "https" ? kHttpsPort : kHttpPort;
}

// A name, an IPv4 address, or an IPv6 address in brackets.
bool is_host(std::string_view host) {
  if (host.starts_with('['))
    return host.size() > 2 && host.ends_with(']') &&
           host.substr(1, host.size() - 2).find_first_not_of("0123456789abcdefABCDEF:.") ==
               host.npos;
  return !host.empty() && std::ranges::all_of(host, is_unreserved);
}

std::optional<std::uint16_t> read_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  return lower(c) >= 'a' && lower(c) <= 'f' ? lower(c) - 'a' + 10 : -1;
}

enum class Plus { stays, is_space };

std::optional<std::string> decode(std::string_view text, Plus plus) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus == Plus::is_space) {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = hex_digit(text[i + 1]);
      const int low = hex_digit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return out;
}

}  // namespace

std::string Url::origin() const {
  return port == usual_port(scheme) ? fmt::format("{}://{}", scheme, host)
                                    : fmt::format("{}://{}:{}", scheme, host, port);
}

std::string_view Url::bare_host() const {
  std::string_view out = host;
  if (out.starts_with('[')) out = out.substr(1, out.size() - 2);
  return out;
}

std::optional<Url> parse_url(std::string_view text) {
  if (text.size() > kUrlBytesMax || std::ranges::any_of(text, is_odd)) return std::nullopt;
  Url url;
  const std::size_t scheme = text.find("://");
  if (scheme == text.npos) return std::nullopt;
  url.scheme = text.substr(0, scheme);
  std::ranges::transform(url.scheme, url.scheme.begin(), lower);
  if (url.scheme != "http" && url.scheme != "https") return std::nullopt;
  std::string_view rest = text.substr(scheme + 3);
  std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  rest.remove_prefix(authority.size());
  const std::size_t after_host = authority.starts_with('[') ? authority.find(']') : 0;
  if (after_host == authority.npos) return std::nullopt;
  const std::size_t colon = authority.find(':', after_host);
  url.port = usual_port(url.scheme);
  if (colon != authority.npos && colon + 1 < authority.size()) {
    const auto port = read_port(authority.substr(colon + 1));
    if (!port) return std::nullopt;
    url.port = *port;
  }
  url.host = authority.substr(0, colon);
  std::ranges::transform(url.host, url.host.begin(), lower);
  if (!is_host(url.host)) return std::nullopt;
  url.has_fragment = rest.contains('#');
  rest = rest.substr(0, rest.find('#'));
  const std::size_t question = rest.find('?');
  url.has_query = question != rest.npos;
  if (url.has_query) url.query = rest.substr(question + 1);
  url.path = rest.substr(0, question);
  return url;
}

bool names_loopback(const Url& url) {
  if (url.host == "localhost" || url.host == "[::1]") return true;
  return url.host.starts_with("127.") &&
         std::ranges::all_of(url.host, [](char c) { return is_digit(c) || c == '.'; });
}

std::string percent_encoded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (is_unreserved(c))
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  return decode(text, Plus::stays);
}

std::string form_encoded(const FormFields& fields) {
  std::string out;
  for (const auto& [name, value] : fields)
    out += fmt::format("{}{}={}", out.empty() ? "" : "&", percent_encoded(name),
                       percent_encoded(value));
  return out;
}

std::optional<FormFields> form_decoded(std::string_view text) {
  FormFields out;
  while (!text.empty()) {
    const std::string_view field = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(field.size() + 1, text.size()));
    if (field.empty()) continue;
    const std::size_t equals = std::min(field.find('='), field.size());
    auto name = decode(field.substr(0, equals), Plus::is_space);
    auto value = decode(field.substr(std::min(equals + 1, field.size())), Plus::is_space);
    if (!name || !value) return std::nullopt;
    out.emplace_back(*std::move(name), *std::move(value));
  }
  return out;
}

const std::string* find_field(const FormFields& fields, std::string_view name) {
  for (const auto& [each, value] : fields)
    if (each == name) return &value;
  return nullptr;
}

}  // namespace agentrt
