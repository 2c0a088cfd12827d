// launcher/questions/errands.h: errands are answers to notifications that may block. Each runs on a
// thread of its own, so that the supervisor can answer others meanwhile.
#pragma once

#include <memory>

#include "launcher/link.h"

namespace agentrt::launcher {

inline constexpr unsigned kErrandsMax = 64;  // running at the same time

class Errand {
 public:
  virtual ~Errand() = default;
  virtual void run() = 0;
};

// Starts the errand on a new thread, which deletes it at the end. False: kErrandsMax are running,
// or no thread can be created.
bool send_off(std::unique_ptr<Errand> errand);

}  // namespace agentrt::launcher
