#include "channels/request_reader.h"

#include <fmt/format.h>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "base/check.h"

namespace agentrt::channels {
namespace {

namespace http = boost::beast::http;
using boost::beast::error_code;

std::unexpected<Error> malformed(std::string_view what) {
  return fail(Code::invalid_params, fmt::format("the request is not valid HTTP: {}", what));
}

std::unexpected<Error> too_large(std::uint64_t limit) {
  return fail(Code::too_large, fmt::format("the body is larger than {} bytes", limit));
}

Method method_of(http::verb verb) {
  switch (verb) {
    case http::verb::get:
      return Method::get;
    case http::verb::head:
      return Method::head;
    case http::verb::post:
      return Method::post;
    case http::verb::delete_:
      return Method::delete_;
    case http::verb::options:
      return Method::options;
    default:
      return Method::other;
  }
}

std::optional<std::string> field(const http::fields& fields, http::field name) {
  const auto found = fields.find(name);
  if (found == fields.end()) return std::nullopt;
  return std::string(found->value());
}

// Rejects framing that a proxy might interpret differently, which would allow request smuggling.
std::optional<std::string_view> ambiguous(const http::request_parser<http::string_body>& parser) {
  const auto& request = parser.get();
  const std::size_t codings = request.count(http::field::transfer_encoding);
  if (codings == 0) return std::nullopt;
  if (codings > 1 || !boost::beast::iequals(request[http::field::transfer_encoding], "chunked"))
    return "Transfer-Encoding is not exactly chunked";
  if (request.count(http::field::content_length) > 0)
    return "Transfer-Encoding and Content-Length together";
  if (request.version() == 10) return "Transfer-Encoding in HTTP/1.0";
  return std::nullopt;
}

std::string named_field(const http::fields& fields, std::string_view name) {
  const auto found = fields.find({name.data(), name.size()});
  return found == fields.end() ? std::string{} : std::string(found->value());
}

}  // namespace

struct RequestReader::Parser {
  std::optional<http::request_parser<http::string_body>> http;

  void renew(std::uint32_t header_bytes_max) {
    http.emplace();
    http->header_limit(header_bytes_max);
    http->body_limit(boost::none);  // accept_body() checks the length, after the head was checked
  }

  Head head() {
    const auto& request = http->get();
    Head out;
    out.method = method_of(request.method());
    out.target = request.target();
    out.host = field(request, http::field::host).value_or("");
    for (const http::field once : {http::field::host, http::field::origin,
                                   http::field::authorization, http::field::content_type})
      if (request.count(once) > 1) out.repeated = http::to_string(once);
    out.origin = field(request, http::field::origin);
    out.authorization = field(request, http::field::authorization);
    out.content_type = field(request, http::field::content_type);
    out.range = field(request, http::field::range);
    out.if_range = field(request, http::field::if_range);
    out.if_none_match = field(request, http::field::if_none_match);
    out.accept = field(request, http::field::accept).value_or("");
    out.accept_encoding = field(request, http::field::accept_encoding).value_or("");
    const auto last_event_id = request.find("Last-Event-ID");
    if (last_event_id != request.end()) out.last_event_id = last_event_id->value();
    out.request_id = named_field(request, "X-Request-Id");
    out.traceparent = named_field(request, "traceparent");
    out.client_folder = named_field(request, "Agentrt-Cwd");
    out.mcp_session = named_field(request, "Mcp-Session-Id");
    out.mcp_protocol = named_field(request, "MCP-Protocol-Version");
    out.a2a_version = named_field(request, "A2A-Version");
    out.channel = named_field(request, "Agentrt-Channel");
    out.upgrade = named_field(request, "Upgrade");
    out.websocket_key = named_field(request, "Sec-WebSocket-Key");
    out.websocket_version = named_field(request, "Sec-WebSocket-Version");
    out.websocket_protocols = named_field(request, "Sec-WebSocket-Protocol");
    out.transport = named_field(request, "Agentrt-Transport");
    if (const auto length = http->content_length()) out.content_length = *length;
    out.has_body = !http->is_done();
    out.http_1_0 = request.version() == 10;
    out.keep = http->keep_alive() ? Keep::open : Keep::close;
    const auto expect = field(request, http::field::expect);
    out.expects_continue = expect && boost::beast::iequals(*expect, "100-continue");
    return out;
  }
};

RequestReader::RequestReader(const HttpLimits& limits)
    : limits_(limits), parser_(std::make_unique<Parser>()) {
  parser_->renew(limits_.header_bytes_max);
}

RequestReader::~RequestReader() = default;

Result<std::size_t> RequestReader::put(std::string_view bytes) {
  if (stage_ == Stage::head) return put_head(bytes);
  if (stage_ == Stage::body) return put_body(bytes);
  return 0;
}

Result<std::size_t> RequestReader::put_head(std::string_view bytes) {
  // Skip empty lines that some clients send after a body.
  std::size_t skipped = 0;
  while (!parser_->http->got_some() && bytes.starts_with("\r\n")) {
    bytes.remove_prefix(2);
    skipped += 2;
  }
  if (bytes.empty() || (!parser_->http->got_some() && bytes == "\r")) return skipped;
  error_code error;
  const std::size_t used =
      parser_->http->put(boost::asio::buffer(bytes.data(), bytes.size()), error);
  head_bytes_ += used;
  const std::size_t waiting = bytes.size() - used;
  const bool whole = !error && parser_->http->is_header_done();
  // The parser's own limit covers only buffered bytes; count the fields already consumed.
  if (error == http::error::header_limit ||
      head_bytes_ + (whole ? 0 : waiting) > limits_.header_bytes_max)
    return fail(Code::header_too_large, fmt::format("the request header is larger than {} bytes",
                                                    limits_.header_bytes_max));
  if (error && error != http::error::need_more) return malformed(error.message());
  if (is_folded(bytes.substr(0, used)))
    return malformed("a header field is folded over two lines, which is not allowed");
  if (!whole) return skipped + used;
  if (const auto why = ambiguous(*parser_->http)) return malformed(*why);
  head_ = parser_->head();
  stage_ = head_.has_body ? Stage::headed : Stage::done;
  return skipped + used;
}

// Whether a line of the head starts with a blank (obsolete folding). Input arrives in chunks, so
// the position at a line start is remembered.
bool RequestReader::is_folded(std::string_view bytes) {
  for (const char c : bytes) {
    if (line_begins_ && (c == ' ' || c == '\t')) return true;
    line_begins_ = c == '\n';
  }
  return false;
}

Result<void> RequestReader::accept_body() {
  check(stage_ == Stage::headed, "a body is accepted after its head");
  if (head_.content_length.value_or(0) > limits_.body_bytes_max)
    return too_large(limits_.body_bytes_max);
  parser_->http->body_limit(limits_.body_bytes_max);
  parser_->http->eager(true);
  stage_ = Stage::body;
  return {};
}

void RequestReader::accept_parts() {
  check(stage_ == Stage::headed, "a body is accepted after its head");
  parser_->http->eager(true);
  stage_ = Stage::body;
}

std::string RequestReader::take_part() { return std::exchange(parser_->http->get().body(), {}); }

Result<std::size_t> RequestReader::put_body(std::string_view bytes) {
  if (bytes.empty()) return 0;
  error_code error;
  const std::size_t used =
      parser_->http->put(boost::asio::buffer(bytes.data(), bytes.size()), error);
  if (error == http::error::body_limit) return too_large(limits_.body_bytes_max);
  if (error && error != http::error::need_more) return malformed(error.message());
  if (parser_->http->is_done()) stage_ = Stage::done;
  // Only a chunk header or the trailer may wait for more bytes, and both are short.
  if (stage_ != Stage::done && bytes.size() - used > limits_.header_bytes_max)
    return malformed("a chunk header or trailer is too long");
  return used;
}

std::string RequestReader::take_body() { return std::move(parser_->http->get().body()); }

void RequestReader::reset() {
  parser_->renew(limits_.header_bytes_max);
  head_ = {};
  head_bytes_ = 0;
  line_begins_ = false;
  stage_ = Stage::head;
}

}  // namespace agentrt::channels
