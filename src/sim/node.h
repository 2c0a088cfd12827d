// sim/node.h: one runtime (kernel, engine, store) with fake ports, which can be crashed and
// restarted on the same disk.
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
#include "sim/fakes/fake_job_inputs.h"
#include "sim/fakes/fake_processes.h"
#include "sim/fakes/fake_tools.h"
#include "sim/fakes/fake_world.h"
#include "sim/virtual_time.h"
#include "store/memory/memory_store.h"

namespace agentrt::sim {

class Node {
 public:
  // Replacements for parts of the runtime's surroundings; each is optional.
  struct Seams {
    // A store between the kernel and the memory store, created per boot.
    std::function<std::unique_ptr<store::Store>(store::MemoryStore&)> store;
    // Models used instead of those that play Options::answers.
    std::function<std::unique_ptr<ports::Models>(ports::Loop&)> models;
    // The history that the engine reads instead of the kernel's, created per boot.
    std::function<std::unique_ptr<ports::History>(ports::History&)> history;
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

  // Starts a runtime on the data of the disk, with a new boot id.
  void start();
  // Ends the runtime between two steps; uncommitted data is lost.
  void crash();

  bool up() const { return kernel_ != nullptr; }
  // Whether every session that an earlier boot left with open work has been loaded.
  bool recovered() const { return recovered_; }

  bool step() { return time_.step(boot_); }
  bool step_until(std::int64_t until_ms) { return time_.step_until(boot_, until_ms); }
  // Runs until only distant timers are left; at most `steps_max` steps.
  void settle(std::size_t steps_max = 20'000);

  // Sends a command by name. The slot receives the reply.
  using Slot = std::shared_ptr<std::optional<ports::Reply>>;
  Slot send(const std::string& command, const std::string& params,
            const std::string& principal = "p");
  // The same with a callback, which a crash drops.
  void call(const std::string& command, const std::string& params, const std::string& principal,
            ports::ReplyTo reply_to);
  // Sends a command, runs until it is answered, and returns the reply.
  ports::Reply ask(const std::string& command, const std::string& params);
  // The same with a token of this identity; the commands above have every scope.
  ports::Reply ask_as(const channels::Identity& identity, const std::string& command,
                      const std::string& params);

  // All facts of the session, read from the store.
  std::vector<schema::StoredEvent> log(const SessionId& session);
  // Published facts in order, over all boots.
  const std::vector<schema::StoredEvent>& published() const { return published_; }
  // The view folded from the whole log.
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
  // The last view shown to the engine in this boot; nullptr: none.
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
  std::unique_ptr<store::Store> seam_;  // from Seams::store; wraps *store_
  std::unique_ptr<kernel::Kernel> kernel_;
  std::unique_ptr<ports::History> history_;  // from Seams::history; reads *kernel_
  std::unique_ptr<ports::Models> models_;
  FakeModels* fake_models_ = nullptr;  // *models_, unless Seams::models created them
  FakeMachine machine_;
  std::unique_ptr<FakeProcesses> processes_;
  FakeFiles files_;
  std::unique_ptr<FakeTools> tools_;
  FakeJobInputs job_inputs_;
  FakeGovernance governance_;
  FakePolicies policies_{governance_};
  FakeInspector inspector_{governance_};
  std::unique_ptr<FakeHooks> hooks_;
  std::unique_ptr<engine::Engine> engine_;
  std::vector<schema::StoredEvent> published_;
  std::map<SessionId, state::Session> shown_;
  std::size_t model_requests_ = 0;
  bool recovered_ = false;
};

}  // namespace agentrt::sim
