// adapters/process/origin.h: the origin: a long-lived launcher process that forks a copy of itself
// for each command.
//
// The first copy() starts it; a later copy() restarts it after it died. It ends with this process.
// A copy is a child of this process, like a spawned one, but much cheaper, because its cost does
// not depend on this process's memory size. Any thread; one copy at a time.
#pragma once

#include <sys/types.h>

#include <mutex>
#include <span>
#include <string_view>

#include "base/descriptor.h"
#include "base/result.h"
#include "launcher/spec.h"

namespace agentrt::adapters {

inline constexpr int kOriginAnswerMs = 10'000;  // reply timeout; then the origin is killed

class Origin {
 public:
  // `program`: the bytes of the launcher executable; must outlive this object.
  explicit Origin(std::string_view program) : program_(program) {}
  ~Origin() { end(); }
  Origin(const Origin&) = delete;

  // Lets the origin prepare the next copy in advance. Call it while the runtime is idle.
  void get_ready();
  // Forks a copy with these descriptors and returns its pid. Errors: unavailable (no process can be
  // started, or none from memory; or the origin died, and the next call restarts it). An origin
  // that died may already have made a copy, so a retry must pass new descriptors.
  Result<pid_t> copy(const launcher::CopyOrder& order, std::span<const int> given);

  // The pid of the origin; -1 if none is running. For tests.
  pid_t pid() const { return pid_; }

 private:
  Result<void> start();
  Result<pid_t> ask(const launcher::CopyOrder& order, std::span<const int> given);
  void end();

  std::string_view program_;
  std::mutex mutex_;
  Descriptor link_;
  pid_t pid_ = -1;
};

}  // namespace agentrt::adapters
