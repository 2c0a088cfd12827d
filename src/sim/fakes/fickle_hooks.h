// sim/fakes/fickle_hooks.h: hooks that are slow, fail, object and rewrite, as the plan says.
//
// They outlive boots, like scripts on a disk: this object holds the behaviour of the next runs.
#pragma once

#include <cstdint>
#include <deque>

#include "sim/fakes/fake_governance.h"
#include "sim/fakes/fickle_models.h"

namespace agentrt::sim {

struct FickleHooks {
  std::deque<Mood> next;
  std::uint64_t runs = 0;

  // The behaviour of the run that starts now.
  HookAnswer answer(const ports::HookRequest& request);
};

}  // namespace agentrt::sim
