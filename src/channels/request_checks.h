// channels/request_checks.h: checks every request before it is handled. Pure.
//
// A daemon on loopback is reachable from every web page that its user opens. Three rules keep web
// pages out, with or without a token. The Host must be one of ours, which defeats DNS rebinding. An
// Origin must equal the host that the request names. A body must be declared as JSON, which a page
// cannot do without a CORS preflight.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "channels/request.h"

namespace agentrt::channels {

// 127.0.0.1, localhost, [::1] or one of `names`, with or without a port.
bool host_allowed(std::string_view host, std::span<const std::string> names);
// Whether `origin` is http or https at exactly `host`.
bool origin_is_own(std::string_view origin, std::string_view host);
// Checks Host, then Origin, which may also be one of `origins`; sets head.foreign_origin. Fails
// with misdirected or forbidden.
Result<void> check_origin(Head& head, std::span<const std::string> names,
                          std::span<const std::string> origins = {});

// application/json, with or without parameters.
bool is_json(std::string_view content_type);
bool accepts_stream(std::string_view accept);
// Whether Accept-Encoding names gzip, or *, with a weight above 0.
bool accepts_gzip(std::string_view accept_encoding);
// The token in "Bearer TOKEN".
std::optional<std::string_view> bearer_token(std::string_view authorization);
// The token in the WebSocket subprotocols "agentrt.v1, bearer.TOKEN". A browser cannot send
// Authorization with a WebSocket.
std::optional<std::string_view> protocol_token(std::string_view protocols);
// Whether the subprotocols contain kWebSocketProtocol.
bool names_protocol(std::string_view protocols);
inline constexpr std::string_view kWebSocketProtocol = "agentrt.v1";
// A W3C traceparent.
std::optional<TraceContext> trace_of(std::string_view traceparent);

struct Target {
  std::vector<std::string> path;  // the decoded segments: /a/b -> a, b
  Query query;
};
// Fails with invalid_params if it is not a path or contains an invalid percent escape.
Result<Target> read_target(std::string_view target);

const std::string* find(const Query& query, std::string_view name);
// Parses a decimal integer; invalid_params names the parameter.
Result<std::uint64_t> read_number(std::string_view name, std::string_view text);
Result<std::optional<std::uint64_t>> find_number(const Query& query, std::string_view name);
// Checks a filter of event types: at most kEventTypesMax, each a well-formed name.
Result<void> check_types(const std::vector<std::string>& types);
// Event types, separated by commas.
Result<std::vector<std::string>> read_types(std::string_view text);
Result<std::optional<bool>> find_flag(const Query& query, std::string_view name);

}  // namespace agentrt::channels
