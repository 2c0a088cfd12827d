// engine/engine.h: performs the effects that plan() lists, through ports, and reports their
// outcomes.
//
// After each commit the engine plans the session again: missing effects are started, and effects
// that the view no longer calls for are cancelled. It holds handles of running effects, and the
// files that running turns were prepared with. Outcomes go back as reports. While a commit is in
// flight, it only starts effects that have no consequences until advance() says that the commit is
// stored. Core only.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "engine/plan.h"
#include "ports/control_plane.h"
#include "ports/hooks.h"
#include "ports/inspection.h"
#include "ports/job_inputs.h"
#include "ports/loop.h"
#include "ports/metrics.h"
#include "ports/models.h"
#include "ports/outputs.h"
#include "ports/policies.h"
#include "ports/processes.h"
#include "ports/tools.h"
#include "ports/workspace.h"

namespace agentrt::policy {
class RuleSets;
class Redactor;
}  // namespace agentrt::policy

namespace agentrt::conversation {
struct TurnFiles;
}

namespace agentrt::engine {

inline constexpr std::int64_t kGatherMs = 25;  // longest time that fragments are batched
// A call that the model writes for this long is shown meanwhile, and then this often.
inline constexpr std::int64_t kWritingShownMs = 50;
inline constexpr std::int64_t kWritingEveryMs = 200;
inline constexpr std::int64_t kRetryWaitMaxMs = 300'000;       // even if the wall clock jumps
inline constexpr std::size_t kModelOutputBytesMax = 16 << 20;  // per request; more is a failure
// Total size of cached turn files. Files beyond it are read again for every request.
inline constexpr std::size_t kFilesKeptBytesMax = 16 << 20;

class Engine {
 public:
  struct Parts {
    ports::ReportSink& reports;
    ports::Loop& loop;
    ports::Worker& worker;  // for blocking reads of files and history
    ports::Models& models;
    ports::Workspace& workspace;
    ports::History& history;
    ports::Processes& processes;
    ports::Tools& tools;
    ports::Policies& policies;
    ports::Hooks& hooks;
    ports::Inspector& inspector;
    ports::Metrics& metrics;
    policy::RuleSets& rule_sets;  // those that decisions use: an unchanged set is not compiled anew
    BootId boot;
    std::string home = "/nonexistent";           // replaces ~ in rules
    const policy::Redactor* redactor = nullptr;  // must outlive the engine
    // Must outlive the engine; null: raw exchanges are not stored.
    ports::OutputKeeper* keeper = nullptr;
    // Must outlive the engine, and be served by another worker than `worker`; null: images in tool
    // results cannot be read.
    ports::Outputs* outputs = nullptr;
    // How conversations are kept within the context window.
    struct Context {
      bool compacts = true;                   // by itself, within the turn that needs it
      std::optional<std::string> model = {};  // that writes summaries; absent: that of the turn
      std::int64_t timeout_ms = 120'000;      // per request for a summary
    } context = {};
    // Must outlive the engine; null: there are no jobs.
    ports::JobInputs* job_inputs = nullptr;
  };

  explicit Engine(Parts parts);
  ~Engine();

  // Called when a commit that will result in this view is in flight; `stored` is the last stored
  // sequence. advance() or take_back() follows.
  void foresee(const state::Session& view, Sequence stored);
  void take_back(const SessionId& session);
  // Ends every effect of the session. Background processes keep running.
  void end(const SessionId& session);
  // Starts and cancels effects according to the view of a successful commit.
  void advance(const state::Session& view);
  // Delivers stored input to a process. Ignores other commands.
  void give(const schema::Command& command);
  // The number of running effects that turns wait for, over all sessions, without background
  // processes. Any thread.
  std::size_t running() const { return running_count_; }
  // Sessions that need the process that owns the data folder (plan.h). Any thread.
  std::size_t sessions_in_need() const { return in_need_count_; }

 private:
  class Running;  // one running effect; its destructor ends it
  class Preparing;
  class Asking;
  class Waiting;
  class RunningProcess;
  class RunningCall;
  class RunningHook;
  class Inspecting;
  class Expiring;
  class Feeding;
  class JudgingItem;
  class JobTimer;
  class AwaitingSubagents;
  class Compacting;
  class Restoring;

  // Whether the log has stored the view that calls for an effect.
  enum class Log { has_it, will_have_it };
  std::unique_ptr<Running> start(const state::Session& view, const Effect& effect, Log log);

  struct OfSession {
    std::unordered_map<std::string, std::unique_ptr<Running>> effects;  // by key
    std::vector<std::string> foreseen;                                  // keys: not stored yet
    std::size_t awaited = 0;                                            // of them, by turns
    std::unordered_map<TurnId, std::shared_ptr<const conversation::TurnFiles>> files;
    // The approved files of running jobs, by the call that was approved. They are kept as long as
    // the job runs, so that every item executes the same bytes.
    std::unordered_map<ToolCallId, std::shared_ptr<const ports::HeldFiles>> held;
  };

  void note_need(const SessionId& session, bool needed);
  void keep_files(const SessionId& session, const TurnId& turn,
                  std::shared_ptr<const conversation::TurnFiles> files);
  std::shared_ptr<const conversation::TurnFiles> files_of(const SessionId& session,
                                                          const TurnId& turn) const;
  void drop_files(const state::Session& view, OfSession& session);
  std::shared_ptr<const ports::HeldFiles> held_by(const SessionId& session,
                                                  const ToolCallId& approved) const;
  static void drop_held(const state::Session& view, OfSession& session);
  void drop_all_files(OfSession& session);

  Parts parts_;
  std::unordered_map<SessionId, OfSession> running_;
  std::size_t files_bytes_ = 0;  // of all sessions
  std::atomic<std::size_t> running_count_{0};
  std::unordered_set<SessionId> in_need_;
  std::atomic<std::size_t> in_need_count_{0};
};

}  // namespace agentrt::engine
