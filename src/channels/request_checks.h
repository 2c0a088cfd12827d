// channels/request_checks.h: what a request must look like before anything is done with it. PURE.
//
// A daemon on loopback is reachable from every web page its user opens. Three rules keep those out,
// token or not: the Host must be one of ours (a page cannot rebind a name of its own to us), an
// Origin must be the very host the request names, and a body must be declared as JSON (which a page
// cannot do without asking first).
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
// Host and Origin, in this order: misdirected, forbidden.
Result<void> check_origin(const Head& head, std::span<const std::string> names);

// application/json, with or without parameters.
bool is_json(std::string_view content_type);
bool accepts_stream(std::string_view accept);
// The token of "Bearer TOKEN".
std::optional<std::string_view> bearer_token(std::string_view authorization);
// The trace of a W3C traceparent.
std::optional<TraceId> trace_of(std::string_view traceparent);

struct Target {
  std::vector<std::string> path;  // the segments, decoded: /a/b -> a, b
  Query query;
};
// invalid_params: not a path, or a percent sign that encodes nothing.
Result<Target> read_target(std::string_view target);

const std::string* find(const Query& query, std::string_view name);
// A whole number in decimal digits; invalid_params names the parameter.
Result<std::uint64_t> read_number(std::string_view name, std::string_view text);
Result<std::optional<std::uint64_t>> find_number(const Query& query, std::string_view name);
Result<std::optional<bool>> find_flag(const Query& query, std::string_view name);

}  // namespace agentrt::channels
