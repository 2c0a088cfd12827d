// sim/node.h: one runtime (kernel, engine, store) in a simulated world, that can be crashed and
// started again on the same disk.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "channels/authorization.h"
#include "engine/engine.h"
#include "kernel/kernel.h"
#include "sim/fakes/fake_governance.h"
#include "sim/fakes/fake_processes.h"
#include "sim/fakes/fake_tools.h"
#include "sim/fakes/fake_world.h"
#include "sim/virtual_time.h"
#include "store/memory/memory_store.h"

namespace agentrt::sim {

class Node {
 public:
  // What stands between the runtime and its world; each may be absent.
  struct Seams {
    // Between kernel and store, made for each boot.
    std::function<std::unique_ptr<store::Store>(store::MemoryStore&)> store;
    // Instead of models that play Options::answers.
    std::function<std::unique_ptr<ports::Models>(ports::Loop&)> models;
    std::function<void(const ports::FeedBatch&)> published;
    std::function<void(const state::Session&)> shown;
  };
  struct Options {
    std::uint64_t seed = 1;
    std::vector<FakeAnswer> answers;
    control::Settings settings;
    kernel::Limits limits;
    schema::Policy policy = {};  // of every workspace
    Seams seams = {};
  };

  explicit Node(Options options);
  ~Node();

  // Starts a runtime on what the disk holds, under a boot id of its own.
  void start();
  // Ends it between two steps: everything that was not committed is gone.
  void crash();

  bool up() const { return kernel_ != nullptr; }

  bool step() { return time_.step(boot_); }
  bool step_until(std::int64_t until_ms) { return time_.step_until(boot_, until_ms); }
  // Runs until nothing is left to do but far timers; at most `steps_max` steps.
  void settle(std::size_t steps_max = 20'000);

  // Sends a command by name; the slot gets the reply once there is one.
  using Slot = std::shared_ptr<std::optional<ports::Reply>>;
  Slot send(const std::string& command, const std::string& params,
            const std::string& principal = "p");
  // The same with a continuation of the caller's, which a crash drops.
  void call(const std::string& command, const std::string& params, const std::string& principal,
            ports::ReplyTo reply_to);
  // Sends, settles, and gives the reply.
  ports::Reply ask(const std::string& command, const std::string& params);
  // The same with a token of this identity; the commands above have every scope.
  ports::Reply ask_as(const channels::Identity& identity, const std::string& command,
                      const std::string& params);

  // Every fact of the session, read from the store.
  std::vector<schema::StoredEvent> log(const SessionId& session);
  // Facts as they were published, in order, over all boots.
  const std::vector<schema::StoredEvent>& published() const { return published_; }
  // The view that a fold of the whole log gives.
  state::Session replayed(const SessionId& session);

  store::MemoryStore& store() { return *store_; }
  kernel::Kernel& kernel() { return *kernel_; }
  engine::Engine& engine() { return *engine_; }
  VirtualTime& time() { return time_; }
  VirtualTime::Boot& boot() { return boot_; }
  const BootId& boot_id() const { return boot_id_; }
  std::shared_ptr<store::MemoryDisk> disk() { return disk_; }
  ports::Metrics& metrics() { return metrics_; }
  FakeMachine& machine() { return machine_; }
  FakeProcesses& processes() { return *processes_; }
  FakeFiles& files() { return files_; }
  FakeGovernance& governance() { return governance_; }
  std::size_t model_requests() const {
    return model_requests_ + (fake_models_ ? fake_models_->started() : 0);
  }
  // The last view that the engine was shown in this boot; nullptr: none.
  const state::Session* shown(const SessionId& session) const;

 private:
  void call_as(const channels::Identity& identity, const std::string& command,
               const std::string& params, ports::ReplyTo reply_to);
  ports::Reply await(const Slot& slot);

  Options options_;
  VirtualTime time_;
  SeededEntropy entropy_;
  ports::Metrics metrics_;
  std::shared_ptr<store::MemoryDisk> disk_;
  NoFiles workspace_;
  VirtualTime::Boot boot_;
  BootId boot_id_;
  std::unique_ptr<store::MemoryStore> store_;
  std::unique_ptr<store::Store> seam_;  // over *store_, where there is one
  std::unique_ptr<kernel::Kernel> kernel_;
  std::unique_ptr<ports::Models> models_;
  FakeModels* fake_models_ = nullptr;  // *models_, unless a seam made them
  FakeMachine machine_;
  std::unique_ptr<FakeProcesses> processes_;
  FakeFiles files_;
  std::unique_ptr<FakeTools> tools_;
  FakeGovernance governance_;
  FakePolicies policies_{governance_};
  FakeInspector inspector_{governance_};
  std::unique_ptr<FakeHooks> hooks_;
  std::unique_ptr<engine::Engine> engine_;
  std::vector<schema::StoredEvent> published_;
  std::map<SessionId, state::Session> shown_;
  std::size_t model_requests_ = 0;
};

}  // namespace agentrt::sim
