// ports/authorized.h: a request whose token was checked, and the caller that sent it.
//
// Only channels::Authorization can make an Authorized value. The kernel and the parts of a channel
// that hand out data accept nothing else, so no transport can reach them without that check.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/ids.h"
#include "schema/channels.h"
#include "schema/folders.h"

namespace agentrt::channels {
class Authorization;
}

namespace agentrt::ports {

// The channels of one connection: at most one per session. Any thread.
class ConnectionChannels {
 public:
  void put(const SessionId& session, const ChannelId& channel) {
    const std::lock_guard lock(mutex_);
    channels_[session] = channel;
  }
  // Removes the channel, unless the session has another one by now.
  void remove(const SessionId& session, const ChannelId& channel) {
    const std::lock_guard lock(mutex_);
    const auto found = channels_.find(session);
    if (found != channels_.end() && found->second == channel) channels_.erase(found);
  }
  // Empty: there is none.
  ChannelId of(const SessionId& session) const {
    const std::lock_guard lock(mutex_);
    const auto found = channels_.find(session);
    return found == channels_.end() ? ChannelId{} : found->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<SessionId, ChannelId> channels_;
};

// The sender of a request. The principal is the id of its token, so idempotency keys of different
// tokens never collide.
struct Caller {
  std::string principal;
  RequestId request;  // stored in every fact of the command; empty: one is generated
  std::optional<TraceContext> trace;  // the caller's traceparent
  schema::FolderGrant folders{};      // folders in which it may open a session
  // The only session that the token may access. A command may name an object without naming its
  // session; the kernel then compares the object's session with this one.
  std::optional<SessionId> session{};
  schema::Sender sender{};
  // The channel that the caller names for this command; empty: none. It must be of the session that
  // the command concerns.
  ChannelId channel{};
  // The channels of the connection; null: it has none. A command goes over that of its session.
  std::shared_ptr<const ConnectionChannels> channels{};
};

template <class Request>
class Authorized {
 public:
  struct Parts {
    Request request;
    Caller caller;
  };

  const Request& request() const { return parts_.request; }
  const Caller& caller() const { return parts_.caller; }
  Parts take() && { return std::move(parts_); }

 private:
  friend class channels::Authorization;
  Authorized(Request request, Caller caller) : parts_{std::move(request), std::move(caller)} {}

  Parts parts_;
};

}  // namespace agentrt::ports
