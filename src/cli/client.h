// cli/client.h: a client of a runtime: requests, commands and live event streams.
//
// Plain HTTP/1.1, one connection a request: over DATA/agentrt.sock with the token of DATA/token, or
// to an address that the user named.
// Every wait has a limit. A Client is a value that may be copied; a Stream is a resource with one
// reader. One thread each.
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
    events,  // some arrived
    woken,   // the descriptor to watch became readable
    quiet,   // neither, for as long as was asked
    ended,   // the server closed it
  };
  struct Received {
    What what = What::quiet;
    std::vector<StreamEvent> events;
  };

  ~Stream();
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;

  // Waits for events, at most `timeout_ms`; -1: for ever. `wake` is watched beside it (-1:
  // nothing).
  Result<Received> next(int timeout_ms, int wake);

 private:
  friend class Client;
  struct State;
  explicit Stream(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

class Client {
 public:
  static constexpr int kReplyTimeoutMs = 30'000;
  static constexpr std::size_t kReplyBytesMax = 256 << 20;

  Client(std::string socket, std::string token)
      : endpoint_{std::move(socket), {}, {}}, token_(std::move(token)) {}
  // No Authorization is sent with an empty token.
  Client(Endpoint endpoint, std::string token)
      : endpoint_(std::move(endpoint)), token_(std::move(token)) {}

  // Asked now and then while a reply is awaited; true gives the request up.
  void set_abandon(std::function<bool()> abandon) { abandon_ = std::move(abandon); }

  // unavailable: nobody answers at the socket; timeout: no reply in time. An answer with an error
  // status is an HttpReply too.
  Result<HttpReply> request(std::string_view method, std::string_view target,
                            std::string_view body) const;
  // The body of a reply that went well, else the error that the server sent.
  Result<std::string> ask(std::string_view method, std::string_view target,
                          std::string_view body) const;
  // ask() for a command of the control plane.
  Result<std::string> call(std::string_view command, std::string_view params) const;
  // The session's events after `after`, live.
  Result<Stream> follow(const SessionId& session, Sequence after) const;

 private:
  Endpoint endpoint_;
  std::string token_;
  std::function<bool()> abandon_;
};

// The error in the body of a reply, or one made from its status.
Error error_of(const HttpReply& reply);
// A query component or path segment, escaped.
std::string url_escaped(std::string_view text);

}  // namespace agentrt::cli
