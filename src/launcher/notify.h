// launcher/notify.h: answers the seccomp notifications of one command, in the supervisor.
//
// A denied syscall is refused and reported. A connect is made by the supervisor itself, on its own
// copies of socket and address, so the command cannot swap them between check and use. It runs on a
// thread of its own, because it may block forever. A write in a guarded folder is also performed by
// the supervisor (guarded/writes.h). A write elsewhere continues in the kernel, where the mounts
// refuse it, and is reported as advisory.
#pragma once

#include <optional>

#include "launcher/guarded/writes.h"
#include "launcher/link.h"
#include "launcher/questions/held.h"

namespace agentrt::launcher {

inline constexpr std::uint64_t kViolationsTold = 100;  // per command; further ones are only counted

struct Violation {
  const char* kind;  // network, filesystem, process
  std::string attempted;
  const char* layer;
  bool advisory = false;
};

// Answers one notification on the listener. Returns a violation to report, if there is one.
std::optional<Violation> answer_question(int listener, const Spec& spec,
                                         const std::vector<Guarded>& guarded, HeldFiles& held);

}  // namespace agentrt::launcher
