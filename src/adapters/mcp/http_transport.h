// adapters/mcp/http_transport.h: the transport to an MCP server at a URL (Streamable HTTP, or the
// older HTTP+SSE).
//
// Each message is its own POST. The answer is JSON or an event stream; a stream that breaks before
// the answer is resumed after its last event. In addition, one GET receives the server's own
// messages, if the server supports that. If the server assigned a session, DELETE ends it.
// Redirects are not followed.
//
// Before each exchange, McpAuthorization gives the token to send. If the server answers 401, it is
// asked for another one, and the exchange is repeated once. If the server answers 403 because the
// token lacks scopes, only that request fails.
//
// A server reports an unknown session with 404. Many use 400, which also means a refused call, so a
// ping distinguishes the two: it succeeds if the session still exists.
//
// With an older server (HTTP+SSE) the GET comes first. Its first event names the URL for messages,
// all answers arrive in it, and its end is the end of the connection.
//
// Threads: as Transport. HTTP exchanges run on the thread of HttpStreams and post complete messages
// to the loop.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapters/http/http_streams.h"
#include "adapters/mcp/authorization.h"
#include "adapters/mcp/server.h"
#include "adapters/mcp/transport.h"
#include "base/event_stream.h"
#include "ports/loop.h"

namespace agentrt::adapters {

struct McpHttpLimits {
  std::size_t unsent_max = 256;              // messages queued behind an unfinished one
  std::size_t untaken_bytes_max = 64 << 20;  // received but not processed yet
  std::size_t message_bytes_max = kMcpMessageBytesMax;
  std::size_t resumes_max = 8;            // consecutive resumes of a stream without an event
  std::int64_t retry_ms = 1'000;          // default delay before a stream is resumed
  std::int64_t retry_min_ms = 100;        // minimum delay for the stream of an answer
  std::int64_t retry_max_ms = 60'000;     // maximum delay
  std::int64_t answered_wait_ms = 1'000;  // for the end of a stream after its answer
  std::int64_t listen_wait_ms = 1'000;    // for the server to accept the GET, before requests
  std::int64_t goodbye_wait_ms = 2'000;   // for the answer to DELETE
  std::int64_t check_wait_ms = 5'000;     // for the answer to the ping that checks a session
  std::int64_t stream_max_ms = 3'600'000;
  std::int64_t connection_max_ms = 24 * 3'600'000;  // stream of an older server
};

class HttpTransport final : public Transport {
 public:
  // `streams` must outlive every transport that uses it. `authorization`: null: the server gets no
  // tokens.
  HttpTransport(ports::Loop& loop, HttpStreams& streams, McpHttp server,
                TransportListener& listener, std::unique_ptr<McpAuthorization> authorization = {},
                McpHttpLimits limits = {});
  ~HttpTransport() override;

  void open() override;
  void send(std::string message, std::optional<std::uint64_t> request) override;
  void answered(std::uint64_t request) override;
  void forget(std::uint64_t request) override;
  void agreed(std::string_view protocol) override;
  void close(std::move_only_function<void()> closed) override;

 private:
  class Exchange;
  friend class Exchange;
  enum class Purpose { post, listen, check, goodbye };
  // The outcome of a finished exchange.
  struct Ending {
    HttpEnd end;
    HttpHead head;
    std::string body;  // of an answer that is not an event stream
    std::string last_id;
    std::optional<std::int64_t> retry_ms;
    bool heard = false;  // at least one event arrived
    bool too_large = false;
  };
  // One exchange, or the delay before it is resumed.
  struct Talk {
    Purpose purpose = Purpose::post;
    std::optional<std::uint64_t> request;  // the request it answers
    HttpStreams::Ticket ticket = 0;
    std::string last_id;
    std::size_t resumes = 0;
    bool resumed = false;  // resumed at least once
    std::string refusal;   // the error that started the session check
    HttpRequest sent;      // kept only with an authorization, to repeat it
    std::string token;     // that was sent
    bool repeated = false;
    std::optional<ports::Loop::TimerId> timer;
    bool answered = false;
  };

  void post(std::string message, std::optional<std::uint64_t> request);
  void begin(std::uint64_t talk, HttpRequest request);
  void begin_with(std::uint64_t talk, Result<std::optional<std::string>> token);
  void start(std::uint64_t talk, HttpRequest request);
  bool asks_again(std::uint64_t talk, const Ending& ending);
  void unauthorized(std::uint64_t talk, Error why);
  void listen(std::uint64_t talk);
  HttpRequest request_of(HttpMethod method) const;
  bool is_older() const { return server_.kind == McpHttpKind::older; }
  void ended(std::uint64_t talk, const Ending& ending);
  void post_ended(std::uint64_t talk, const Ending& ending);
  void listen_ended(std::uint64_t talk, const Ending& ending);
  void connection_ended(const Ending& ending);
  bool in_session() const;
  void check_session(std::uint64_t talk, const Ending& ending);
  void check_ended(std::uint64_t talk, const Ending& ending);
  void session_over(std::uint64_t talk, std::string_view refusal);
  std::string refusal_in(const Ending& ending) const;
  void answer_failed(const Talk& talk, std::string why);
  void answer_failed(const Talk& talk, Error why);
  void take_up(std::uint64_t talk, const Ending& ending);
  void drop(std::uint64_t talk);
  void next_message();
  void release(std::uint64_t talk);
  void began(std::uint64_t talk, const std::optional<std::string>& session);
  void heard(std::uint64_t talk, std::optional<std::uint64_t> within, StreamEvent event);
  void take_address(std::uint64_t talk, std::string_view named);
  std::optional<std::string> failure_in(const Ending& ending) const;
  void lost(std::string why, std::vector<std::uint64_t> refused = {});
  void lost(Error why, std::vector<std::uint64_t> refused = {});
  void finish();

  ports::Loop& loop_;
  HttpStreams& streams_;
  const McpHttp server_;
  TransportListener* listener_;  // null: no more callbacks
  const McpHttpLimits limits_;
  const std::unique_ptr<McpAuthorization> authorization_;
  std::string protocol_;
  std::string session_;
  std::string send_to_;  // empty: an older server has not sent it yet
  struct Unsent {
    std::string message;
    std::optional<std::uint64_t> request;
  };
  std::deque<Unsent> unsent_;              // queued behind a notification in flight
  std::optional<std::uint64_t> in_order_;  // the exchange that later messages wait for
  bool listens_ = false;
  std::map<std::uint64_t, Talk> talks_;
  std::uint64_t last_talk_ = 0;
  std::shared_ptr<std::atomic<std::size_t>> untaken_;
  std::move_only_function<void()> closed_;
  std::shared_ptr<bool> here_ = std::make_shared<bool>(true);  // destroyed: posted steps do nothing
};

}  // namespace agentrt::adapters
