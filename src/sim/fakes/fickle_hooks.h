// sim/fakes/fickle_hooks.h: hooks that take long, fail, object and rewrite, as the plan says.
//
// They outlive boots, as scripts on a disk do: what is held here is how the next runs will go.
#pragma once

#include <cstdint>
#include <deque>

#include "sim/fakes/fake_governance.h"
#include "sim/fakes/fickle_models.h"

namespace agentrt::sim {

struct FickleHooks {
  std::deque<Mood> next;
  std::uint64_t runs = 0;

  // How the run goes that starts now.
  HookAnswer answer(const ports::HookRequest& request);
};

}  // namespace agentrt::sim
