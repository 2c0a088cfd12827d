// sim/watch.h: observes the runtime: compares the views, published facts and started effects with
// what is stored on disk at that moment.
//
// A Watch reads the disk through its own store, like a second process. It folds the stored bytes
// into its own views, which advance with every commit. Core only.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "kernel/limits.h"
#include "ports/control_plane.h"
#include "ports/models.h"
#include "sim/checks.h"
#include "sim/model_checks.h"
#include "store/memory/memory_store.h"

namespace agentrt::sim {

class Watch {
 public:
  Watch(std::shared_ptr<store::MemoryDisk> disk, const control::Settings& settings,
        const kernel::Limits& limits, std::function<void(Violation)> broken)
      : store_(std::move(disk)), settings_(settings), limits_(limits), broken_(std::move(broken)) {}

  // --- events ---

  void shown(const state::Session& view);
  void published(const std::vector<ports::FeedEvent>& batch);
  void model_started(const ports::ModelRequest& request, const BootId& boot);
  void hook_started(const std::string& run, const BootId& boot);
  void process_released(const ProcessId& process, const BootId& boot);
  // The turn of a process that was released, by the log.
  TurnId turn_of(const ProcessId& process) const;
  void file_written(const ToolCallId& call);
  // The runtime has crashed: checks that the disk has everything acknowledged.
  void restarted(const std::map<SessionId, std::vector<Acknowledged>>& acknowledged);

  // --- stored data ---

  std::optional<schema::StoredEvent> stored(const SessionId& session, Sequence sequence);
  std::string stored_text(const SessionId& session, Sequence sequence);
  Sequence head(const SessionId& session);
  std::vector<SessionId> sessions();
  std::uint64_t facts_stored();
  // The view folded from all stored facts.
  const state::Session& replayed(const SessionId& session);
  std::vector<std::pair<SessionId, ThreadId>> open_threads();
  // The number of sessions that wait for a user's answer.
  std::size_t sessions_asking();
  // The number of running calls whose MCP server waits for a user's answer.
  std::size_t servers_asking();

  // --- final checks ---

  using Seen = std::map<ProcessId, std::string>;  // see check_decisions
  using Real = std::map<ProcessId, RealProcess>;  // see check_outputs
  Checked check_at_rest(const SessionId& session, const Seen& seen, const Real& processes);
  // Compares what the runtime returned for this session with what it returns for that time now.
  Checked check_past(const SessionId& session, const Ask& ask);
  // Runs all per-session checks; appends the session's facts to `everything`.
  Checked check_finally(const SessionId& session,
                        const std::map<SessionId, std::vector<Acknowledged>>& acknowledged,
                        Facts& everything);

 private:
  Log log(const SessionId& session);
  Facts facts(const SessionId& session);
  void check_asked(const ports::ModelRequest& request, const schema::Fact& requested);
  void fail(std::string_view invariant, std::string what) {
    broken_({std::string(invariant), std::move(what)});
  }

  store::MemoryStore store_;
  const control::Settings& settings_;
  const kernel::Limits& limits_;
  std::function<void(Violation)> broken_;
  std::map<SessionId, state::Session> replicas_;
  std::map<SessionId, ModelSamples> samples_;
  std::map<SessionId, Sequence> published_;           // the last sequence in this boot
  std::map<ModelRequestId, schema::Fact> requested_;  // in the log
  std::set<ModelRequestId> started_;
  std::map<std::string, BootId> hooks_;  // hook runs in the log, with their boot
  std::set<std::string> hooks_started_;
  std::map<ProcessId, BootId> processes_;  // in the log, with the boot that released them
  std::map<ProcessId, TurnId> turns_of_processes_;
};

}  // namespace agentrt::sim
