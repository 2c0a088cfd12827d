// cli/client.h: an HTTP client for a runtime: requests, commands and live event streams.
//
// Plain HTTP/1.1, one connection per request, over DATA/agentrt.sock with the token in DATA/token,
// or to an address that the user named. Every wait has a timeout. A Client may be copied; a Stream
// has one reader. Use each from one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/event_stream.h"
#include "base/ids.h"
#include "base/result.h"
#include "cli/socket.h"

namespace agentrt::cli {

struct HttpReply {
  int status = 0;
  std::string body;
};

// One live stream of events.
class Stream {
 public:
  enum class What {
    events,  // events arrived
    woken,   // the watched descriptor became readable
    quiet,   // the timeout expired
    ended,   // the server closed the stream
  };
  struct Received {
    What what = What::quiet;
    std::vector<StreamEvent> events;
  };

  ~Stream();
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;

  // Waits for events for at most `timeout_ms` milliseconds (-1: no limit), or until the descriptor
  // `wake` becomes readable (-1: none).
  Result<Received> next(int timeout_ms, int wake);

 private:
  friend class Client;
  struct State;
  explicit Stream(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// A connection that has left HTTP.
struct Upgraded {
  Wire wire;
  std::string received;  // after the handshake
};

// The answer to a POST, which may be a stream of events.
struct LiveReply {
  int status = 0;
  std::string session;           // Mcp-Session-Id
  std::string body;              // if it is no stream
  std::optional<Stream> stream;  // absent: it is none
};

// Percent-encodes a query component or path segment.
std::string url_escaped(std::string_view text);

class Client {
 public:
  static constexpr int kReplyTimeoutMs = 30'000;
  static constexpr std::size_t kReplyBytesMax = 256 << 20;

  Client(std::string socket, std::string token)
      : endpoint_{std::move(socket), {}, {}, {}}, token_(std::move(token)) {}
  // With an empty token, no Authorization header is sent.
  Client(Endpoint endpoint, std::string token)
      : endpoint_(std::move(endpoint)), token_(std::move(token)) {}

  // Polled while a reply is pending; the request is abandoned when it returns true.
  void set_abandon(std::function<bool()> abandon) { abandon_ = std::move(abandon); }

  // The folder that the command runs in, for a runtime on this machine that has none of its own.
  void set_folder(std::string_view folder) { folder_ = url_escaped(folder); }

  // Fails with unavailable if the connection fails, and with timeout if no reply arrives within
  // kReplyTimeoutMs and `more_ms`. A reply with an error status is returned as an HttpReply.
  Result<HttpReply> request(std::string_view method, std::string_view target, std::string_view body,
                            int more_ms = 0) const;
  // Returns the body of a successful reply, or else the error that the server sent.
  Result<std::string> ask(std::string_view method, std::string_view target, std::string_view body,
                          int more_ms = 0) const;
  // ask() for a control-plane command. If `params` tell the runtime to wait (waitMs, timeoutMs), so
  // does the client.
  Result<std::string> call(std::string_view command, std::string_view params) const;
  // Streams the session's events after `after`.
  Result<Stream> follow(const SessionId& session, Sequence after) const;
  // Sends JSON. `fields`: further header fields, each with its line break.
  Result<LiveReply> converse(std::string_view target, std::string_view body,
                             std::string_view fields, int timeout_ms) const;
  // Opens a WebSocket. `transport`: how this process is used itself, for a runtime on this machine.
  Result<Upgraded> upgrade(std::string_view target, std::string_view transport) const;

 private:
  Endpoint endpoint_;
  std::string token_;
  std::string folder_;  // percent-encoded; empty: not sent
  std::function<bool()> abandon_;
};

// The error in the body of a reply, or one derived from its HTTP status.
Error error_of(const HttpReply& reply);

}  // namespace agentrt::cli
