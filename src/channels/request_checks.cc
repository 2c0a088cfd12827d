#include "channels/request_checks.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "base/url.h"
#include "channels/limits.h"

namespace agentrt::channels {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower, lower);
}

bool is_port(std::string_view text) {
  return !text.empty() && text.size() <= 5 &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// The host without its port; nullopt if the port is malformed.
std::optional<std::string_view> without_port(std::string_view host) {
  const std::size_t from = host.starts_with('[') ? host.find(']') : 0;
  if (from == std::string_view::npos) return std::nullopt;
  const std::size_t colon = host.find(':', from);
  if (colon == std::string_view::npos) return host;
  if (!is_port(host.substr(colon + 1))) return std::nullopt;
  return host.substr(0, colon);
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Removes the part of `text` before `separator` and returns it.
std::string_view next_part(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

bool is_hex(std::string_view text, std::size_t size) {
  return text.size() == size && text.find_first_not_of("0123456789abcdef") == text.npos;
}

bool all_zero(std::string_view text) { return text.find_first_not_of('0') == text.npos; }

}  // namespace

bool host_allowed(std::string_view host, std::span<const std::string> names) {
  constexpr std::array<std::string_view, 3> kOwn{"127.0.0.1", "localhost", "[::1]"};
  const auto name = without_port(host);
  if (!name) return false;
  const auto is_it = [&](std::string_view own) { return equal_ignoring_case(own, *name); };
  return std::ranges::any_of(kOwn, is_it) || std::ranges::any_of(names, is_it);
}

bool origin_is_own(std::string_view origin, std::string_view host) {
  for (const std::string_view scheme : {"http://", "https://"})
    if (origin.starts_with(scheme)) return equal_ignoring_case(origin.substr(scheme.size()), host);
  return false;
}

Result<void> check_origin(Head& head, std::span<const std::string> names,
                          std::span<const std::string> origins) {
  if (!head.repeated.empty())
    return fail(Code::invalid_params,
                fmt::format("the request has more than one {} field", head.repeated));
  if (!host_allowed(head.host, names))
    return fail(Code::misdirected,
                "this daemon does not answer for that Host; use 127.0.0.1 or localhost, or start "
                "it with --host NAME");
  if (!head.origin || origin_is_own(*head.origin, head.host)) return {};
  const auto same = [&](const std::string& listed) {
    return equal_ignoring_case(listed, *head.origin);
  };
  if (std::ranges::none_of(origins, same))
    return fail(Code::forbidden,
                "requests from web pages of another origin are refused; [server] origins lists "
                "those that may call");
  head.foreign_origin = *head.origin;
  return {};
}

bool is_json(std::string_view content_type) {
  return equal_ignoring_case(trimmed(next_part(content_type, ';')), "application/json");
}

bool accepts_stream(std::string_view accept) {
  while (!accept.empty()) {
    std::string_view kind = next_part(accept, ',');
    if (equal_ignoring_case(trimmed(next_part(kind, ';')), "text/event-stream")) return true;
  }
  return false;
}

bool accepts_gzip(std::string_view accept_encoding) {
  while (!accept_encoding.empty()) {
    std::string_view entry = next_part(accept_encoding, ',');
    const std::string_view coding = trimmed(next_part(entry, ';'));
    if (!equal_ignoring_case(coding, "gzip") && coding != "*") continue;
    const std::string_view weight = trimmed(entry);
    return weight.find_first_not_of("qQ=0. ") != weight.npos || weight.empty();
  }
  return false;
}

std::optional<std::string_view> bearer_token(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (!equal_ignoring_case(authorization.substr(0, kScheme.size()), kScheme)) return std::nullopt;
  const std::string_view token = trimmed(authorization.substr(kScheme.size()));
  if (token.empty()) return std::nullopt;
  return token;
}

namespace {

// Calls `visit` with each element of a comma-separated list, without blanks around it.
template <class Visit>
void for_each_element(std::string_view list, Visit&& visit) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string_view each = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    while (each.starts_with(' ') || each.starts_with('\t')) each.remove_prefix(1);
    while (each.ends_with(' ') || each.ends_with('\t')) each.remove_suffix(1);
    visit(each);
  }
}

}  // namespace

std::optional<std::string_view> protocol_token(std::string_view protocols) {
  constexpr std::string_view kBearer = "bearer.";
  std::optional<std::string_view> token;
  for_each_element(protocols, [&](std::string_view each) {
    if (each.starts_with(kBearer) && !token) token = each.substr(kBearer.size());
  });
  return token;
}

bool names_protocol(std::string_view protocols) {
  bool found = false;
  for_each_element(protocols, [&](std::string_view each) { found |= each == kWebSocketProtocol; });
  return found;
}

std::optional<TraceContext> trace_of(std::string_view traceparent) {
  const std::string_view version = next_part(traceparent, '-');
  const std::string_view trace = next_part(traceparent, '-');
  const std::string_view parent = next_part(traceparent, '-');
  if (!is_hex(version, 2) || version == "ff" || !is_hex(trace, 32) || !is_hex(parent, 16))
    return std::nullopt;
  if (all_zero(trace) || all_zero(parent)) return std::nullopt;
  const std::string_view flags = next_part(traceparent, '-');
  // The lowest bit: the caller records its trace.
  const bool sampled = is_hex(flags, 2) && std::string_view("13579bdf").contains(flags[1]);
  return TraceContext{TraceId{std::string(trace)}, SpanId{std::string(parent)}, sampled};
}

Result<Target> read_target(std::string_view target) {
  if (!target.starts_with('/'))
    return fail(Code::invalid_params, "the request target is not a path");
  std::string_view path = next_part(target, '?');
  Target out;
  path.remove_prefix(1);
  while (!path.empty()) {
    auto segment = percent_decoded(next_part(path, '/'));
    if (!segment) return fail(Code::invalid_params, "the path has an invalid percent-encoding");
    out.path.push_back(*std::move(segment));
  }
  auto query = form_decoded(target);
  if (!query) return fail(Code::invalid_params, "the query has an invalid percent-encoding");
  out.query = *std::move(query);
  return out;
}

const std::string* find(const Query& query, std::string_view name) {
  return find_field(query, name);
}

Result<std::uint64_t> read_number(std::string_view name, std::string_view text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stopped != end)
    return fail(Code::invalid_params, fmt::format("{}: expected a whole number, 0 or more", name));
  return number;
}

Result<std::optional<std::uint64_t>> find_number(const Query& query, std::string_view name) {
  const std::string* const text = find(query, name);
  if (!text) return std::nullopt;
  TRY_ASSIGN(const std::uint64_t number, read_number(name, *text));
  return number;
}

Result<void> check_types(const std::vector<std::string>& types) {
  if (types.size() > kEventTypesMax)
    return fail(Code::invalid_params,
                fmt::format("types: expected at most {} event types", kEventTypesMax));
  for (const std::string& type : types)
    if (!well_formed_id(type))
      return fail(Code::invalid_params,
                  "types: expected exact names of event types, such as turn.completed");
  return {};
}

Result<std::vector<std::string>> read_types(std::string_view text) {
  std::vector<std::string> types;
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    types.emplace_back(text.substr(0, comma));
    if (comma == text.size()) break;
    text.remove_prefix(comma + 1);
  }
  TRY(check_types(types));
  return types;
}

Result<std::optional<bool>> find_flag(const Query& query, std::string_view name) {
  const std::string* const text = find(query, name);
  if (!text) return std::nullopt;
  if (*text == "true" || *text == "1") return true;
  if (*text == "false" || *text == "0") return false;
  return fail(Code::invalid_params, fmt::format("{}: expected true or false", name));
}

}  // namespace agentrt::channels
