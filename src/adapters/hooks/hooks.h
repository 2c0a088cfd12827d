// adapters/hooks/hooks.h: hooks as real commands.
//
// Each hook that runs has a thread of its own, which waits for it; there are few at once, and
// further ones wait for their turn. All else happens on the core.
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
    // What the hook may see and touch; may look at the disk. Called on the hook's own thread.
    std::function<Result<schema::SandboxProfile>(const ports::HookRequest&)> profile;
    std::size_t hooks_max = 16;       // at once
    std::size_t waiting_max = 1'024;  // for their turn; one too many fails at once
  };

  explicit LauncherHooks(Parts parts) : parts_(std::move(parts)) {}
  ~LauncherHooks() override { stop(); }

  // Ends every hook and waits for it. Nothing is started any more.
  void stop();

  void start(ports::HookRequest request, std::shared_ptr<ports::HookListener> listener) override;
  void cancel(const std::string& id) override;

 private:
  struct Running {
    std::string id;
    std::shared_ptr<ports::HookListener> listener;  // null: nobody waits for it any more
    Descriptor gone;                                // readable: it is to end
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
