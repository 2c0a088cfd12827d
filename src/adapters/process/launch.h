// adapters/process/launch.h: starting the launcher, which is carried inside this program.
//
// It is executed from memory, so there is no second file to install, to lose or to replace; and it
// is copied from one that waits (origin.h), never forked to: a process of any size starts one in
// the time of a small one.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/descriptor.h"
#include "base/result.h"
#include "launcher/spec.h"

namespace agentrt::adapters {

// A launcher and our end of the connection to it: one that was started here, or one that was found
// again (attach), whose process is not ours to wait for.
class Launched {
 public:
  Launched(pid_t pid, int control) : pid_(pid), control_(control) {}
  ~Launched();
  Launched(Launched&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)), control_(std::exchange(other.control_, -1)) {}
  Launched& operator=(Launched&&) = delete;

  pid_t pid() const { return pid_; }
  int control() const { return control_; }

  // One whole order: go, input TEXT, closeInput, signal N, resize ROWS COLUMNS, status. Never
  // waits: unavailable when the launcher takes no more, or is gone.
  Result<void> order(const std::string& text) const;
  // The next report as JSON; empty once the launcher is gone. Waits for it.
  Result<std::string> report() const;
  // Waits for the launcher itself; its exit code. 0 for one that was found again.
  int wait();
  // Readable once the launcher has ended; none for one that was found again.
  Descriptor end() const;
  // Ends a command that may not survive, or is still held.
  void close();
  // A command that may survive goes on; its launcher is not waited for any more.
  void leave();

 private:
  pid_t pid_;
  int control_;  // closing it ends a command that may not survive
};

// Descriptors for a command without a run folder; -1: this process's own.
struct Streams {
  int in = -1, out = -1, err = -1;
};

std::string_view launcher_program();  // its bytes, as they were built

// `copies`: of the files that the spec holds; -1: there are none. Errors: unavailable (the machine
// cannot start a process, or not from memory).
Result<Launched> launch(const launcher::Spec& spec, const Streams& streams = {}, int copies = -1);

// Lets the next launch find more of its work done. For when nobody waits: while a command runs.
void get_ready_for_next();

// The launcher that answers for this run folder. Nobody else can listen in it, so whoever does is
// the one that was started for it, whatever process ids have been used for since. Errors:
// unavailable (it is gone), overloaded (this process has no descriptors left to find out).
Result<Launched> attach(const std::string& run_folder);

}  // namespace agentrt::adapters
