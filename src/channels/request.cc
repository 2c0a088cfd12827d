#include "channels/request.h"

#include <fmt/format.h>

#include "base/ids.h"
#include "schema/json.h"

namespace agentrt::channels {
namespace {

constexpr std::string_view kNoSniff = "X-Content-Type-Options: nosniff\r\n";

std::string_view reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 204:
      return "No Content";
    case 206:
      return "Partial Content";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 416:
      return "Range Not Satisfiable";
    case 421:
      return "Misdirected Request";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    case 507:
      return "Insufficient Storage";
    default:
      return "Unknown";
  }
}

void append_request_id(std::string& out, const Head& request) {
  if (well_formed_id(request.request_id))
    fmt::format_to(std::back_inserter(out), "X-Request-Id: {}\r\n", request.request_id);
}

}  // namespace

Response error_response(const Error& error) {
  Response response;
  response.status = http_status(error.code);
  response.body = R"({"error":)";
  schema::write_error(response.body, error);
  response.body += '}';
  if (error.code == Code::unauthenticated)
    response.fields.emplace_back("WWW-Authenticate", "Bearer");
  if (error.code == Code::overloaded) response.fields.emplace_back("Retry-After", "1");
  return response;
}

Response preflight_response() {
  Response response;
  response.status = 204;
  response.fields.emplace_back("Access-Control-Allow-Methods", "GET, POST, DELETE");
  response.fields.emplace_back(
      "Access-Control-Allow-Headers",
      "Authorization, Content-Type, Accept, Last-Event-ID, Agentrt-Channel, A2A-Version, "
      "Mcp-Session-Id, MCP-Protocol-Version, X-Request-Id, traceparent, Range");
  response.fields.emplace_back("Access-Control-Max-Age", "600");
  return response;
}

// Never Access-Control-Allow-Credentials: a page sends a token, and no cookie.
std::string cors_fields(const Head& request) {
  if (request.foreign_origin.empty()) return {};
  return fmt::format(
      "Access-Control-Allow-Origin: {}\r\nAccess-Control-Expose-Headers: Mcp-Session-Id, "
      "X-Request-Id, X-Agentrt-Generation, ETag, Content-Range, Retry-After, "
      "WWW-Authenticate\r\nVary: Origin\r\n",
      request.foreign_origin);
}

Response reply_response(Result<std::string> reply) {
  if (!reply) return error_response(reply.error());
  Response response;
  response.body = *std::move(reply);
  return response;
}

std::string response_head(const Response& response, const Head& request, Keep keep) {
  std::string out;
  out.reserve(256);
  auto to = std::back_inserter(out);
  fmt::format_to(to, "HTTP/1.1 {} {}\r\n", response.status, reason(response.status));
  if (response.status != 204 && response.status != 304)
    fmt::format_to(to, "Content-Type: {}\r\nContent-Length: {}\r\n", response.content_type,
                   response.length.value_or(response.embedded.size() + response.body.size()));
  fmt::format_to(to, "Cache-Control: {}\r\n{}", response.cache_control, kNoSniff);
  out += cors_fields(request);
  append_request_id(out, request);
  for (const auto& [name, value] : response.fields) fmt::format_to(to, "{}: {}\r\n", name, value);
  if (keep == Keep::close)
    out += "Connection: close\r\n";
  else if (request.http_1_0)
    out += "Connection: keep-alive\r\n";
  out += "\r\n";
  return out;
}

std::string stream_head(const Head& request, std::string_view generation) {
  std::string out =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
      "Cache-Control: no-store\r\n";
  out += kNoSniff;
  out += cors_fields(request);
  append_request_id(out, request);
  // X-Accel-Buffering stops proxies from buffering the stream.
  fmt::format_to(std::back_inserter(out),
                 "X-Agentrt-Generation: {}\r\nX-Accel-Buffering: no\r\nConnection: close\r\n\r\n"
                 ": ok\n\n",
                 generation);
  return out;
}

}  // namespace agentrt::channels
