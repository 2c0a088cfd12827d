// launcher/questions/errands.h: answers that may take their time, each in a thread of its own,
// since the supervisor has others to answer for.
#pragma once

#include <memory>

#include "launcher/link.h"

namespace agentrt::launcher {

inline constexpr unsigned kErrandsMax = 64;  // at once

class Errand {
 public:
  virtual ~Errand() = default;
  virtual void run() = 0;
};

// Runs it. False: too many are under way, or there is no thread.
bool send_off(std::unique_ptr<Errand> errand);

}  // namespace agentrt::launcher
