// kernel/kernel.h: the kernel: admit -> decide -> fold -> append -> publish. No other module
// appends to the log.
//
// The number of commands in flight is bounded; further ones are answered `overloaded`. A command is
// admitted (kernel/admission.h) and queued on its session's lane (kernel/lanes.h). There it is
// decided, stored with others in one sync, and only then answered. The kernel also maintains the
// store in the background: it packs runs of fragments (pieces of
// streamed text) into compressed blobs, and it deletes old idempotency keys.
//
// The kernel owns the lanes and thereby all views. Everything runs on the core, except blocking
// functions, which run on a worker. The runtime creates one kernel, and so does each node of the
// simulation.
#pragma once

#include <atomic>
#include <functional>
#include <unordered_set>

#include "kernel/admission.h"
#include "kernel/channels/channels.h"
#include "kernel/claims.h"
#include "kernel/committer.h"
#include "kernel/lanes.h"
#include "kernel/limits.h"
#include "kernel/read_commands.h"
#include "kernel/task_clock.h"
#include "ports/channels.h"
#include "ports/control_plane.h"
#include "ports/file_digests.h"
#include "ports/folders.h"
#include "ports/policies.h"
#include "ports/workspace.h"

namespace agentrt::kernel {

class Kernel final : public ports::CommandSink,
                     public ports::ReportSink,
                     public ports::ClaimedReports,
                     public ports::ChannelPlane,
                     public ports::FactFeed,
                     public ports::History {
 public:
  struct Parts {
    store::Store& store;
    ports::Loop& loop;
    ports::Worker& readers;  // for blocking reads
    ports::Worker& writer;   // for commits: one at a time, in order
    ports::Entropy& entropy;
    ports::Metrics& metrics;
    control::Settings settings;
    Limits limits;
    BootId boot;
    const policy::Redactor* redactor =
        nullptr;  // must outlive the kernel; null: nothing is redacted
    // Must outlive the kernel; called on a reader. Null: reads about policy must not be given.
    ports::Policies* policies = nullptr;
    // Must outlive the kernel; called on a reader. Null: folders are accepted as named.
    ports::Folders* folders = nullptr;
    // For reads of the past, which may take seconds. Null: the readers.
    ports::Worker* past_readers = nullptr;
  };

  explicit Kernel(Parts parts);

  // Call before anything runs.
  void observe(Observers observers);
  // The input of jobs; must outlive the kernel. Call before anything runs; otherwise create_job is
  // refused.
  void set_job_inputs(ports::JobInputs& inputs);
  // What is in workspace files; must outlive the kernel. Call before anything runs; otherwise it is
  // unknown.
  void set_file_digests(ports::FileDigests& files) { lanes_.set_file_digests(files); }
  // Loads every session that an earlier boot left with open work, a few at a time. Until a session
  // is recovered, lists report its status as stale. Runs `done` when all are recovered. Call once
  // at start: it also starts the regular deletion of old idempotency keys.
  void recover(ports::Step done);

  // See ports/control_plane.h and ports/channels.h; window() is in ports/workspace.h.
  void call(ports::Authorized<schema::Command> command, ports::ReplyTo reply_to) override;
  void report(SessionId session, schema::Report report, ports::Step taken) override;
  void report_claimed(SessionId session, std::string claim, Make make, ports::Caller caller,
                      ports::ReplyTo reply_to) override;
  void listen(std::function<void(const ports::FeedBatch&)> listener) override;
  void listen_channels(std::function<void(const ports::ChannelNotice&)> listener) override;
  void channel_lost(SessionId session, schema::ReportChannelLost report,
                    ports::Step stored) override;
  void close_channels_of(std::string token) override;
  void read(ports::PageQuery query, ports::PageTo page_to) override;
  const GenerationId& generation() const override { return parts_.store.generation(); }
  Result<ports::HistoryWindow> window(const ports::HistoryQuery& query) override;
  Result<std::vector<schema::FileRestore>> restores(const ports::RestoreQuery& query) override;
  // Drops the conversations of a session from memory, because its log was changed by an erasure or
  // deleted. Any thread.
  void discard_conversations(const SessionId& session) { conversations_.discard(session); }
  // Ends reads of the past with an error, so that their worker can be stopped. Any thread.
  void stop_past_reads() { reads_.stop_past_reads(); }
  // Timers of tasks that the process must stay alive for. Any thread.
  std::size_t armed_timers() const { return clock_.armed(); }

 private:
  void recover_next();
  void refold_after(std::uint64_t order);
  void forget_old_keys();
  // Packs runs of fragments (store::Store::pack) on the writer after this delay.
  void pack_after(std::int64_t delay_ms);

  Parts parts_;
  conversation::KeptConversations conversations_{parts_.limits.history.kept_bytes};
  Committer committer_;
  Claims claims_;
  std::function<void(const ports::FeedBatch&)> listener_;
  Observers observers_;
  TaskClock clock_;
  Lanes lanes_;
  std::vector<SessionId> to_recover_;
  std::unordered_set<SessionId> unrecovered_;
  SubagentWaits waits_;
  Channels channels_;
  ReadCommands reads_;
  Admission admission_;
  std::atomic<std::size_t> in_flight_{0};
  ports::Step recovered_;  // the `done` of recover(); empty once it has run
  bool packing_ = false;   // packing is running or scheduled
};

}  // namespace agentrt::kernel
