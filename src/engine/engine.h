// engine/engine.h: performs what plan() names, through ports, and reports what became of it.
//
// After each commit the engine plans the session anew: effects that are not under way are started,
// those that the view no longer calls for are cancelled. It holds handles of running effects, and
// of turns that run the files they were prepared with; outcomes go back as reports. While a commit
// is under way it only begins what its view will call for and what stays without consequences until
// advance() is told that it is stored. Core only.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <unordered_map>

#include "engine/plan.h"
#include "ports/control_plane.h"
#include "ports/hooks.h"
#include "ports/inspection.h"
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

inline constexpr std::int64_t kGatherMs = 25;  // at most this long a fragment waits for others
inline constexpr std::int64_t kRetryWaitMaxMs = 300'000;       // whatever the wall clock says
inline constexpr std::size_t kModelOutputBytesMax = 16 << 20;  // of one request; more is a failure
// Of the files that turns were prepared with. What is more is read again for every request.
inline constexpr std::size_t kFilesKeptBytesMax = 16 << 20;

class Engine {
 public:
  struct Parts {
    ports::ReportSink& reports;
    ports::Loop& loop;
    ports::Worker& worker;  // files and history: blocking reads
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
    std::string home = "/nonexistent";           // what ~ in rules stands for
    const policy::Redactor* redactor = nullptr;  // outlives the engine
    ports::OutputKeeper* keeper = nullptr;       // the same; none: raw exchanges are not kept
  };

  explicit Engine(Parts parts);
  ~Engine();

  // The view that a commit will leave which has just begun, and up to where it is stored:
  // advance() or take_back() follows.
  void foresee(const state::Session& view, Sequence stored);
  void take_back(const SessionId& session);
  // Ends every effect of the session; processes in the background keep running.
  void end(const SessionId& session);
  // Brings what runs in line with the view, which a commit has just left.
  void advance(const state::Session& view);
  // Gives to a process what the log says was given to it. Commands about anything else do nothing.
  void give(const schema::Command& command);
  // Effects under way that a turn waits for, over all sessions: what goes on in the background is
  // not among them. Any thread.
  std::size_t running() const { return running_count_; }

 private:
  class Running;  // one effect under way; its destructor ends it
  class Preparing;
  class Asking;
  class Waiting;
  class RunningTool;
  class MakingCall;
  class Hearing;
  class Inspecting;
  class Expiring;

  enum class Log { has_it, will_have_it };  // the view that calls for an effect
  std::unique_ptr<Running> start(const state::Session& view, const Effect& effect, Log log);

  struct OfSession {
    std::unordered_map<std::string, std::unique_ptr<Running>> effects;  // by key
    std::vector<std::string> foreseen;                                  // keys: not stored yet
    std::size_t awaited = 0;                                            // of them, by turns
    std::unordered_map<TurnId, std::shared_ptr<const conversation::TurnFiles>> files;
  };

  void keep_files(const SessionId& session, const TurnId& turn,
                  std::shared_ptr<const conversation::TurnFiles> files);
  std::shared_ptr<const conversation::TurnFiles> files_of(const SessionId& session,
                                                          const TurnId& turn) const;
  void drop_files(const state::Session& view, OfSession& session);
  void drop_all_files(OfSession& session);

  Parts parts_;
  std::unordered_map<SessionId, OfSession> running_;
  std::size_t files_bytes_ = 0;  // of all sessions
  std::atomic<std::size_t> running_count_{0};
};

}  // namespace agentrt::engine
