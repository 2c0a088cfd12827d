// channels/desk/in_process.h: commands and events for the program that embeds the runtime.
//
// The program has the rights of the first token. What it sends passes the same checks and the same
// desk as requests over a socket; only the encoding of a transport is missing.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "channels/exchange.h"

namespace agentrt::channels {

// Called on the network thread with the JSON of each event; it must not block.
using OnEvent = std::function<void(std::string_view event)>;

// Ends when it is destroyed: then no callback runs, and none follows. Not from within the callback.
class EventFeed {
 public:
  virtual ~EventFeed() = default;
  // Why no further event follows; nullopt: they do. Any thread.
  virtual std::optional<Error> ended() const = 0;
};

class InProcess {
 public:
  explicit InProcess(Services& services);

  // Any thread; `reply_to` is called once, on some other thread.
  void call(std::string command, std::string params, ports::ReplyTo reply_to);
  // The events of a session after `after`, stored ones first. Any thread; `done` is called once, on
  // the network thread.
  using Opened = std::move_only_function<void(Result<std::unique_ptr<EventFeed>>)>;
  void subscribe(SessionId session, Sequence after, OnEvent on_event, Opened done);

 private:
  void run(const std::string& command, const std::string& params, ports::ReplyTo reply_to);

  Services& services_;
  const std::shared_ptr<const Identity> identity_;
};

}  // namespace agentrt::channels
