// sim/watch.h: looks over the runtime's shoulder: at what it shows its engine, what it publishes
// and what it starts, each held against what the disk has at that moment.
//
// A Watch reads the disk through a store of its own, so it sees what a second process would. Its
// replicas are folds of the stored bytes; they advance with every commit. Core only.
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
#include "store/memory/memory_store.h"

namespace agentrt::sim {

class Watch {
 public:
  Watch(std::shared_ptr<store::MemoryDisk> disk, const control::Settings& settings,
        const kernel::Limits& limits, std::function<void(Violation)> broken)
      : store_(std::move(disk)), settings_(settings), limits_(limits), broken_(std::move(broken)) {}

  // --- as it happens ---

  void shown(const state::Session& view);
  void published(const std::vector<ports::FeedEvent>& batch);
  void model_started(const ports::ModelRequest& request, const BootId& boot);
  void hook_started(const std::string& run, const BootId& boot);
  void process_released(const ProcessId& process, const BootId& boot);
  void file_written(const ToolCallId& call);
  // The runtime is gone; what the disk has now is held against what was acknowledged.
  void restarted(const std::map<SessionId, std::vector<Acknowledged>>& acknowledged);

  // --- what the disk has ---

  std::optional<schema::StoredEvent> stored(const SessionId& session, Sequence sequence);
  std::string stored_text(const SessionId& session, Sequence sequence);
  Sequence head(const SessionId& session);
  std::vector<SessionId> sessions();
  std::uint64_t facts_stored();
  // A fold of everything stored.
  const state::Session& replayed(const SessionId& session);
  std::vector<std::pair<SessionId, ThreadId>> open_threads();
  // How many sessions wait for a person.
  std::size_t sessions_asking();
  // Calls in the middle of which a server asks a person.
  std::size_t servers_asking();

  // --- at the end ---

  using Seen = std::map<ProcessId, std::string>;  // see check_decisions
  using Real = std::map<ProcessId, RealProcess>;  // see check_outputs
  Checked check_at_rest(const SessionId& session, const Seen& seen, const Real& processes);
  // Everything that can be said of one session; adds its facts to `everything`.
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
  std::map<SessionId, Sequence> published_;           // the last one, in this boot
  std::map<ModelRequestId, schema::Fact> requested_;  // stored
  std::set<ModelRequestId> started_;
  std::map<std::string, BootId> hooks_;  // stored, with the boot that hears them
  std::set<std::string> hooks_started_;
  std::map<ProcessId, BootId> processes_;  // stored, with the boot that lets them go
};

}  // namespace agentrt::sim
