// adapters/process/origin.h: the launcher that stays, and is copied for each command.
//
// Started with the first copy that is asked for, and with the next one whenever it is gone; it ends
// with this process. A copy is a child of this process like one that is spawned, and costs a
// fraction of it, however much memory this process has. Any thread; one copy at a time.
#pragma once

#include <sys/types.h>

#include <mutex>
#include <span>
#include <string_view>

#include "base/descriptor.h"
#include "base/result.h"
#include "launcher/spec.h"

namespace agentrt::adapters {

inline constexpr int kOriginAnswerMs = 10'000;  // then it is killed

class Origin {
 public:
  // `program`: the launcher's bytes, which outlive this.
  explicit Origin(std::string_view program) : program_(program) {}
  ~Origin() { end(); }
  Origin(const Origin&) = delete;

  // Lets it get ready for the next copy; best while nobody waits for anything else.
  void get_ready();
  // The process of a copy with these descriptors. Errors: unavailable (the machine cannot start a
  // process, or not from memory; or the origin is gone, and another will be started). An origin
  // that went may have made a copy before: whoever asks again gives descriptors that are new.
  Result<pid_t> copy(const launcher::CopyOrder& order, std::span<const int> given);

  // Where it waits now; -1 before the first copy. For tests.
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
