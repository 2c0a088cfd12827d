// kernel/channels/channels.h: the part of channels that is not decided: acknowledgements, which are
// stored beside the log; the snapshots in the replies of connect_channel and reconnect_channel;
// notices for connections; and the end of channels that nobody resumes.
//
// An acknowledgement needs no lane and loads no session: it is checked against the rows of its
// channel and its session's head, and written by the committer. Those of one channel are stored one
// after the other, so that a reply never names less than an earlier one. Core only, except the
// functions that say otherwise.
#pragma once

#include <deque>
#include <functional>
#include <unordered_map>

#include "kernel/channels/channel_reads.h"
#include "kernel/claims.h"
#include "kernel/committer.h"
#include "kernel/lanes.h"
#include "ports/channels.h"

namespace agentrt::kernel {

// Claimed while the acknowledgement of a channel is read and stored.
inline std::string acknowledgement_claim(const ChannelId& channel) {
  return "ack " + channel.text();
}

class Channels {
 public:
  struct Parts {
    store::Store& store;
    ports::Loop& loop;
    ports::Worker& readers;
    ports::Metrics& metrics;
    Claims& claims;
    Committer& committer;
    Lanes& lanes;
    const control::Settings& settings;
    const Limits& limits;
  };

  explicit Channels(Parts parts) : parts_(parts) {}

  // Starts to close channels that were disconnected for too long. Call once.
  void start();

  // `reply_to` is called once, on the core or on a worker.
  void acknowledge(schema::AckEvents command, ports::Caller caller, ports::ReplyTo reply_to);

  // Whether the channel may be resumed now. Counts the attempt.
  bool may_resume(const ChannelId& channel);
  // The refusal if it may not.
  Error resumed_too_often(const ChannelId& channel) const;
  // Completes the reply of a stored connect_channel or reconnect_channel for `session`.
  ports::ReplyTo with_snapshot(SessionId session, ports::ReplyTo reply_to);

  void listen(std::function<void(const ports::ChannelNotice&)> listener);
  // Called with the facts of each commit.
  void published(const ports::FeedBatch& batch);

  // Reports the end of every open channel of the token.
  void close_of(const std::string& token);

 private:
  struct Acknowledging;

  void look_up(const std::shared_ptr<Acknowledging>& what);
  // On a worker. The answer, if there is nothing to store.
  std::optional<ports::Reply> check(Acknowledging& what) const;
  void store_ack(const std::shared_ptr<Acknowledging>& what);

  void add_snapshot(const SessionId& session, schema::StartedChannel started,
                    std::shared_ptr<ports::ReplyTo> reply_to, std::size_t attempt);
  // On a worker.
  Result<std::string> completed(const state::Session& view, schema::StartedChannel started) const;

  // Reports every open channel with the term, page after page.
  using Of = std::function<std::optional<schema::Report>(const schema::ChannelSnapshot&)>;
  void for_each(std::string term, Of report_of, std::optional<store::IndexEntry> after = {});
  void close_old();

  Parts parts_;
  std::function<void(const ports::ChannelNotice&)> listener_;
  // The resumptions of the last minute, with failed ones. Entries without any are dropped.
  std::unordered_map<ChannelId, std::deque<Timestamp>> resumes_;
};

}  // namespace agentrt::kernel
