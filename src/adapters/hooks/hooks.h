// adapters/hooks/hooks.h: runs hooks as real commands through the launcher.
//
// Each running hook has its own thread that waits for it. At most hooks_max run at once; further
// hooks queue. Everything else happens on the core.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "base/descriptor.h"
#include "base/result.h"
#include "ports/hooks.h"
#include "ports/loop.h"
#include "schema/sandbox.h"

namespace agentrt::adapters {

class LauncherHooks final : public ports::Hooks {
 public:
  struct Parts {
    ports::Loop& loop;
    // The sandbox profile of the hook. May read the disk; called on the hook's own thread.
    std::function<Result<schema::SandboxProfile>(const ports::HookRequest&)> profile;
    std::size_t hooks_max = 16;       // at once
    std::size_t waiting_max = 1'024;  // queued; beyond this, a hook fails immediately
  };

  explicit LauncherHooks(Parts parts) : parts_(std::move(parts)) {}
  ~LauncherHooks() override { stop(); }

  // Kills every hook and waits for its thread. No hook starts afterwards.
  void stop();

  void start(ports::HookRequest request, std::shared_ptr<ports::HookListener> listener) override;
  void cancel(const std::string& id) override;

 private:
  struct Running {
    std::string id;
    std::shared_ptr<ports::HookListener> listener;  // null: cancelled
    Descriptor gone;                                // becomes readable when the hook must end
    std::thread thread;
  };
  struct Waiting {
    ports::HookRequest request;
    std::shared_ptr<ports::HookListener> listener;
  };

  void begin(Waiting next);
  void begin_waiting();
  void ended(std::uint64_t number, std::optional<schema::HookOutcome> outcome);

  Parts parts_;
  std::map<std::uint64_t, Running> running_;
  std::deque<Waiting> waiting_;
  std::uint64_t begun_ = 0;
  bool stopped_ = false;
};

}  // namespace agentrt::adapters
