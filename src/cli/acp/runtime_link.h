// cli/acp/runtime_link.h: one WebSocket to the runtime for many calls and subscriptions at once.
//
// When the owner of the data folder leaves, the link connects to the next one, or starts it. Calls
// that were in flight are sent again, so each must be repeatable: a read, or a command with an id
// or key of its own. Subscriptions continue after the last event that arrived. Nothing blocks
// except connecting. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include "base/websocket.h"
#include "cli/attach.h"
#include "schema/codec.h"

namespace agentrt::cli {

class RuntimeLink {
 public:
  static constexpr std::size_t kMessageBytesMax = std::size_t{1} << 30;  // of the owner, trusted
  static constexpr int kLostMax = 5;  // reconnects without any message in between

  using Done = std::move_only_function<void(Result<schema::Json>)>;
  // An event of a subscription, as JSON.
  using OnEvent = std::function<void(const std::string& event)>;

  explicit RuntimeLink(Attachment& attachment) : attachment_(attachment) {}

  // Errors: those of connecting.
  Result<void> open();
  // `done` is called later, once.
  void call(std::string_view command, const std::string& params, Done done);
  // Follows a session. Replaces an earlier subscription to it.
  void follow(const SessionId& session, Sequence after, OnEvent on_event);
  void unfollow(const SessionId& session);
  // Called after the link has moved to another owner.
  void on_moved(std::function<void()> moved) { moved_ = std::move(moved); }

  int descriptor() const { return wire_ ? wire_->descriptor() : -1; }
  // What the socket must be ready for.
  short waits_for() const { return static_cast<short>(receive_waits_for_ | send_waits_for_); }
  // Reads and writes what is possible now. Errors: unavailable: no owner could be reached.
  Result<void> step(bool ready);
  const Client& client() const { return attachment_.client(); }

 private:
  static constexpr short kReadable = 1;  // POLLIN

  struct Call {
    std::string command;
    std::string params;
    Done done;
  };
  struct Following {
    Sequence after = 0;
    OnEvent on_event;
    std::string id;  // of the subscription; empty: not confirmed
  };

  Result<void> connect();
  Result<void> reconnect();
  void send_text(std::string_view text);
  void send_call(std::uint64_t id);
  void subscribe(const SessionId& session);
  Result<void> flush();
  Result<void> receive();
  void take(const std::string& text);
  void take_event(const schema::Json& params);
  void take_end(const schema::Json& params);

  Attachment& attachment_;
  std::optional<Wire> wire_;
  std::optional<websocket::Reader> reader_;
  std::string unsent_;
  short send_waits_for_ = 0;
  short receive_waits_for_ = kReadable;
  bool closed_ = false;
  int lost_ = 0;
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, Call> calls_;
  std::map<SessionId, Following> following_;
  std::function<void()> moved_;
  std::mt19937 random_{std::random_device{}()};
};

}  // namespace agentrt::cli
