// runtime/turn_environments.h: the environment that each turn runs with.
//
// A client that submits or resumes a turn supplies it. The client that creates a task or a job may
// supply it under the id of that object; its turns and items get it. The variables that commands
// get are stored in DATA/environments/ (mode 0600) until the turn, task or job ends, so that an
// approved command runs unchanged after a restart, whichever client answered. Credentials and the
// models that follow from them stay in memory. A turn without a client's environment gets that of
// the runtime, which is stored in the same way when an approval is first bound to it.
//
// Any thread, unless a function says otherwise.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "adapters/models/catalog.h"
#include "config/environment.h"
#include "policy/redaction.h"
#include "ports/client_environments.h"
#include "ports/loop.h"
#include "state/session.h"
#include "state/tasks.h"

namespace agentrt::runtime {

class TurnEnvironments final : public ports::ClientEnvironments {
 public:
  static constexpr std::size_t kTurnsMax = 10'000;  // with an environment of their own
  // An environment whose turn was not submitted within this time makes way for another one.
  static constexpr std::int64_t kUnclaimedMs = 60'000;
  static constexpr std::size_t kSecretsMax = 1'000;  // distinct values, over all turns
  // A file whose turn, task or job was never seen to end is removed after this time, unless it is
  // in use.
  static constexpr std::int64_t kFilesKeptMs = 7LL * 24 * 3'600 * 1'000;

  using Variables = std::vector<ports::EnvironmentVariable>;
  enum class Store { no, yes };

  struct Parts {
    std::string folder;  // DATA/environments
    ports::Worker& worker;
    policy::Redactor& redactor;  // learns the credentials
    config::Environment own;     // of the runtime
    // The models that such a client has. Blocks.
    std::function<Result<adapters::ModelSet>(const ports::ClientEnvironment&)> models;
    // Whether the turn, task, job or subagent of this id has not ended. Blocks.
    std::function<bool(const std::string& id)> in_use = nullptr;
    // Milliseconds of a monotonic clock.
    std::function<std::int64_t()> now_ms = nullptr;
    std::size_t turns_max = kTurnsMax;
  };

  // Reads which turns have stored environments, and removes files that are too old. `taken_over`:
  // what the previous owner held in memory. Blocks.
  TurnEnvironments(Parts parts, const ports::HeldEnvironments& taken_over);

  void offer(TurnId turn, ports::ClientEnvironment environment, ports::ReplyTo reply_to) override;

  ports::HeldEnvironments held() const override;

  // The variables that the commands of the turn get. Blocks: it may read a file, and with
  // Store::yes write it.
  Variables variables_of(const TurnId& turn, Store store);
  // Null: the client of the turn supplied none.
  std::shared_ptr<const adapters::ModelSet> models_of(const TurnId& turn) const;
  // Before effects of a commit start: a subagent keeps the environment of the turn that spawned it,
  // and its turns get it; a turn or job that works on a task gets that of the task. Core.
  void inherit(const state::Session& view);
  // The record of the task was stored: its environment is kept until no attempt can follow. Core.
  void task_stored(const state::Task& task);
  // After a commit of the session: forgets the environments of its turns that have ended or
  // were removed from the queue. Core.
  void committed(const state::Session& view);

 private:
  struct Entry {
    std::optional<Variables> variables;  // absent: not read from its file yet
    bool stored = false;
    std::optional<TurnId> copy_of;    // whose file has the variables until its own is written
    ports::ClientEnvironment client;  // as it was supplied
    std::shared_ptr<const adapters::ModelSet> models;
    std::int64_t since_ms = 0;
    bool claimed = false;  // its turn was seen in a session
  };

  Result<std::string> accept(const TurnId& turn, const ports::ClientEnvironment& environment);
  Result<void> learn(const Variables& credentials);
  Variables own_variables() const;
  std::string path_of(const TurnId& turn) const;
  void copy(const TurnId& from, const TurnId& to);
  void inherit_task(const TaskId& task, const TurnId& to);
  void forget(const TurnId& turn);
  std::int64_t now_ms() const;
  // Removes environments that no turn has claimed in time. REQUIRES: mutex_ is held.
  void make_room();

  const Parts parts_;
  mutable std::mutex mutex_;  // guards the members below
  std::unordered_map<TurnId, Entry> entries_;
  std::unordered_set<std::string> secrets_;  // digests of the values that the redactor has learned
  // Core: the turns of each session that ran or were queued at its last commit and have an entry.
  std::unordered_map<SessionId, std::unordered_set<TurnId>> open_;
};

}  // namespace agentrt::runtime
