// channels/request.h: an HTTP request and its reply as plain values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace agentrt::channels {

class AuthorizedUpload;

enum class Method { get, head, post, delete_, other };
enum class Keep { open, close };

// What stands before the body, as far as any rule or route looks at it.
struct Head {
  Method method = Method::other;
  std::string target;
  std::string host;      // empty: none was sent
  std::string repeated;  // a field that occurs once at most and was sent more often; empty: none
  std::optional<std::string> origin;
  std::optional<std::string> authorization;
  std::optional<std::string> content_type;
  std::optional<std::string> last_event_id;
  std::optional<std::string> range;
  std::optional<std::string> if_range;
  std::optional<std::string> if_none_match;
  std::string accept;
  std::string request_id;
  std::string traceparent;
  std::optional<std::uint64_t> content_length;
  bool has_body = false;
  bool expects_continue = false;
  bool http_1_0 = false;
  Keep keep = Keep::open;
};

// Names and values after the question mark, decoded.
using Query = std::vector<std::pair<std::string, std::string>>;

struct Request {
  Head head;
  Query query;
  std::vector<std::string> ids;  // what stands for each {…} of the route, decoded
  std::string body;
  std::shared_ptr<AuthorizedUpload> upload;  // of an upload: where the body went
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string_view cache_control = "no-store";
  std::string body;
  std::optional<std::uint64_t> length;                           // of a body that comes in pieces
  std::vector<std::pair<std::string_view, std::string>> fields;  // further header fields
  bool only_reads = false;  // may be refused where replies hold too many bytes
};

// {"error": {"code", "message", "details"?}} with the code's status, and Retry-After or
// WWW-Authenticate where the status asks for it.
Response error_response(const Error& error);
Response reply_response(Result<std::string> reply);

// The head of a reply on the wire, up to and with the empty line.
std::string response_head(const Response& response, const Head& request, Keep keep);
// The head of an endless reply, which ends with its connection.
std::string stream_head(const Head& request, std::string_view generation);

}  // namespace agentrt::channels
