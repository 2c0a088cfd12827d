// launcher/notify.h: the supervisor answers for the calls that the filter stops.
//
// A denied call is refused, and what was attempted is known. A connect is made by the supervisor
// itself, on its own copies of socket and address, so that there is nothing left to swap between
// check and use; in a thread of its own, since it may wait for its peer for ever. A write in a
// guarded folder is performed by the supervisor in the same way (guarded/writes.h). A write
// elsewhere is let through to the layers that stop it and reported as advice.
#pragma once

#include <optional>

#include "launcher/guarded/writes.h"
#include "launcher/link.h"
#include "launcher/questions/held.h"

namespace agentrt::launcher {

inline constexpr std::uint64_t kViolationsTold = 100;  // of one command; the rest is counted

struct Violation {
  const char* kind;  // network, filesystem, process
  std::string attempted;
  const char* layer;
  bool advisory = false;
};

// Answers one question on the listener; what is worth telling, if anything.
std::optional<Violation> answer_question(int listener, const Spec& spec,
                                         const std::vector<Guarded>& guarded, HeldFiles& held);

}  // namespace agentrt::launcher
