// adapters/mcp/http_transport.h: a server behind a URL.
//
// Each message is a POST of its own. Its answer is JSON or a stream of events; a stream that breaks
// off before the answer is taken up again from its last event. Beside those, one GET listens to
// what the server says on its own, where the server offers that. Whoever gave us a session is told
// its end with DELETE. Redirects are not followed.
//
// A server that does not know a session any more says so with 404. Many say 400, as they do for a
// call that they refuse, so a ping tells the two apart: in a session that is there it is answered.
//
// With an older server that GET comes first: its first event names the address that messages are
// sent to, all answers come in it, and its end is that of the connection.
//
// Thread rule: as Transport; the exchanges with the server live on the thread of HttpStreams and
// hand over whole messages.
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
#include "adapters/mcp/server.h"
#include "adapters/mcp/transport.h"
#include "base/event_stream.h"
#include "ports/loop.h"

namespace agentrt::adapters {

struct McpHttpLimits {
  std::size_t unsent_max = 256;              // messages that wait for one before them
  std::size_t untaken_bytes_max = 64 << 20;  // that came and nobody has looked at yet
  std::size_t message_bytes_max = kMcpMessageBytesMax;
  std::size_t resumes_max = 8;         // of one stream, in a row without an event
  std::int64_t retry_ms = 1'000;       // before a stream is taken up again, where nothing is said
  std::int64_t retry_min_ms = 100;     // however soon the server says, for an answer
  std::int64_t retry_max_ms = 60'000;  // however long
  std::int64_t answered_wait_ms = 1'000;  // for the end of a stream that has given its answer
  std::int64_t listen_wait_ms = 1'000;    // for the server to take the GET, before it is asked
  std::int64_t goodbye_wait_ms = 2'000;   // for the answer to DELETE
  std::int64_t check_wait_ms = 5'000;     // for the answer to a ping in a session that may be over
  std::int64_t stream_max_ms = 3'600'000;
  std::int64_t connection_max_ms = 24 * 3'600'000;  // the stream of an older server
};

class HttpTransport final : public Transport {
 public:
  // `streams` outlives every transport on it.
  HttpTransport(ports::Loop& loop, HttpStreams& streams, McpHttp server,
                TransportListener& listener, McpHttpLimits limits = {});
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
  // What was learned of a stream, when it ended.
  struct Ending {
    HttpEnd end;
    HttpHead head;
    std::string body;  // of an answer that is no stream
    std::string last_id;
    std::optional<std::int64_t> retry_ms;
    bool heard = false;  // an event came
    bool too_large = false;
  };
  // One exchange, or the wait before it is taken up again.
  struct Talk {
    Purpose purpose = Purpose::post;
    std::optional<std::uint64_t> request;  // that it is the answer to
    HttpStreams::Ticket ticket = 0;
    std::string last_id;
    std::size_t resumes = 0;
    bool resumed = false;  // it was a stream once
    std::string refusal;   // what its check was begun for
    std::optional<ports::Loop::TimerId> timer;
    bool answered = false;
  };

  void post(std::string message, std::optional<std::uint64_t> request);
  void begin(std::uint64_t talk, HttpRequest request);
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
  void take_up(std::uint64_t talk, const Ending& ending);
  void drop(std::uint64_t talk);
  void next_message();
  void release(std::uint64_t talk);
  void began(std::uint64_t talk, const std::optional<std::string>& session);
  void heard(std::uint64_t talk, std::optional<std::uint64_t> within, StreamEvent event);
  void take_address(std::uint64_t talk, std::string_view named);
  std::optional<std::string> failure_in(const Ending& ending) const;
  void lost(std::string why, std::vector<std::uint64_t> refused = {});
  void finish();

  ports::Loop& loop_;
  HttpStreams& streams_;
  const McpHttp server_;
  TransportListener* listener_;  // null: it hears nothing more
  const McpHttpLimits limits_;
  std::string protocol_;
  std::string session_;
  std::string send_to_;  // empty: an older server has not said it yet
  struct Unsent {
    std::string message;
    std::optional<std::uint64_t> request;
  };
  std::deque<Unsent> unsent_;              // behind a notification that is under way
  std::optional<std::uint64_t> in_order_;  // the talk that the others wait for
  bool listens_ = false;
  std::map<std::uint64_t, Talk> talks_;
  std::uint64_t last_talk_ = 0;
  std::shared_ptr<std::atomic<std::size_t>> untaken_;
  std::move_only_function<void()> closed_;
  std::shared_ptr<bool> here_ = std::make_shared<bool>(true);  // for steps that are posted
};

}  // namespace agentrt::adapters
