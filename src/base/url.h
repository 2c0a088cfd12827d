// base/url.h: http and https URLs: their parts, and percent-encoding.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace agentrt {

inline constexpr std::size_t kUrlBytesMax = 8'192;

struct Url {
  std::string scheme;  // http or https
  std::string host;    // lower case; an IPv6 address has its brackets
  std::uint16_t port = 0;
  std::string path;   // as written; empty or begins with /
  std::string query;  // without ?
  bool has_query = false;
  bool has_fragment = false;

  // scheme://host, with the port unless it is the usual one of the scheme.
  std::string origin() const;
  // The host without the brackets of an IPv6 address.
  std::string_view bare_host() const;

  bool operator==(const Url&) const = default;
};

// Parses an absolute http or https URL of at most kUrlBytesMax bytes. nullopt: anything else, a
// URL with a user name, or with a character that a URL cannot contain.
std::optional<Url> parse_url(std::string_view text);

// Whether the host is localhost or a loopback address, as written.
bool names_loopback(const Url& url);

// Encodes all but unreserved characters (RFC 3986).
std::string percent_encoded(std::string_view text);
// nullopt: an invalid escape.
std::optional<std::string> percent_decoded(std::string_view text);

// Names and values of application/x-www-form-urlencoded, which URLs use in their query.
using FormFields = std::vector<std::pair<std::string, std::string>>;
std::string form_encoded(const FormFields& fields);
// nullopt: an invalid escape.
std::optional<FormFields> form_decoded(std::string_view text);
// The first value of that name.
const std::string* find_field(const FormFields& fields, std::string_view name);

}  // namespace agentrt
