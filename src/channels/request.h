// channels/request.h: HTTP requests and replies as plain values.
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

enum class Method { get, head, post, delete_, options, other };
enum class Keep { open, close };

// The head of a request: the parts that checks and routes use.
struct Head {
  Method method = Method::other;
  std::string target;
  std::string host;      // empty: absent
  std::string repeated;  // name of a header field that must be unique but was repeated; empty: none
  std::optional<std::string> origin;
  std::string foreign_origin;  // the origin, if it is another site that may call
  std::optional<std::string> authorization;
  std::optional<std::string> content_type;
  std::optional<std::string> last_event_id;
  std::optional<std::string> range;
  std::optional<std::string> if_range;
  std::optional<std::string> if_none_match;
  std::string accept;
  std::string accept_encoding;
  std::string request_id;
  std::string traceparent;
  std::string upgrade;  // empty: absent
  std::string websocket_key;
  std::string websocket_version;
  std::string websocket_protocols;
  std::string transport;      // Agentrt-Transport: how a local client says it is used itself
  std::string mcp_session;    // Mcp-Session-Id
  std::string mcp_protocol;   // MCP-Protocol-Version
  std::string a2a_version;    // A2A-Version
  std::string channel;        // Agentrt-Channel: the channel that the request goes over
  std::string client_folder;  // Agentrt-Cwd, percent-encoded: the folder that the client runs in
  std::optional<std::uint64_t> content_length;
  bool has_body = false;
  bool expects_continue = false;
  bool http_1_0 = false;
  Keep keep = Keep::open;
};

// The decoded query parameters.
using Query = std::vector<std::pair<std::string, std::string>>;

struct Request {
  Head head;
  Query query;
  std::vector<std::string> ids;  // decoded values of the route's {…} segments
  std::string body;
  std::shared_ptr<AuthorizedUpload> upload;  // of an upload: where the body went
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string_view cache_control = "no-store";
  std::string body;
  std::string_view embedded;            // instead of `body`: bytes that outlive the server
  std::optional<std::uint64_t> length;  // of a body that is sent in pieces
  std::vector<std::pair<std::string_view, std::string>> fields;  // further header fields
  bool only_reads = false;  // may be refused if pending replies hold too many bytes
};

// {"error": {"code", "message", "details"?}} with the code's HTTP status, and Retry-After or
// WWW-Authenticate if the status requires it.
Response error_response(const Error& error);
// To a preflight request from an origin that may call (CORS).
Response preflight_response();
// The fields that let a page of another origin read the response; empty: the request is not from
// one.
std::string cors_fields(const Head& request);
Response reply_response(Result<std::string> reply);

// The encoded head of a reply, including the empty line.
std::string response_head(const Response& response, const Head& request, Keep keep);
// The head of an endless reply, which ends when the connection closes.
std::string stream_head(const Head& request, std::string_view generation);

}  // namespace agentrt::channels
