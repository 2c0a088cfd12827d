// validate/channel_rules.h: rules for the channels to peers: their connections, what they resume
// from, the permissions that are forwarded over them, and the tasks of peers.
#pragma once

#include "schema/provisional.h"
#include "validate/rule_context.h"

namespace agentrt::validate {

class ChannelRules {
 public:
  explicit ChannelRules(RuleContext& hearing) : hearing_(hearing) {}

  void operator()(const schema::ChannelConnected& p);
  void operator()(const schema::ChannelDisconnected& p);
  void operator()(const schema::ChannelResumed& p);
  void operator()(const schema::ChannelMessage& p);
  void operator()(const schema::ChannelPermissionForwarded& p);
  void operator()(const schema::ChannelPermissionReturned& p);
  void operator()(const schema::ChannelPeerTaskLinked& p);
  void operator()(const schema::ChannelPeerTaskUpdated& p);
  void operator()(const schema::SnapshotRepaired& p);
  void operator()(const schema::TaskCompleted& p);
  void operator()(const schema::TaskFailed& p);
  void operator()(const schema::TaskCancelled& p);
  void operator()(const schema::TaskTimedOut& p);

 private:
  struct Channel {
    bool known = false;
    bool connected = false;
    bool closed = false;          // by a final disconnection
    std::uint64_t forwarded = 0;  // permissions not yet returned
    std::uint64_t acknowledged = 0;
  };
  // The newest disconnection of a session, while the events that it may have caused follow.
  struct Disconnection {
    std::string channel;  // empty: none
    std::string timestamp;
    std::string request;
    std::uint64_t sequence = 0;
  };
  struct Session {
    std::optional<schema::ReplayGap> gap;  // of the newest snapshot.repaired
    Disconnection disconnection;
  };

  Channel& channel();
  Channel& connected_channel();
  void check_open(const Channel& channel);
  void check_gap(const schema::ChannelResumed& p);
  // Whether the event belongs to the same append as a disconnection of the channel.
  const std::string* disconnected_with();
  void task_ends();
  Key peer_task(const std::string& channel) const;

  RuleContext& hearing_;
  Table<Channel> channels_;
  Table<std::uint64_t> permissions_;  // forwarded and not returned, by channel and action
  Table<bool> peer_tasks_;
  Table<Session> sessions_;
};

}  // namespace agentrt::validate
