// launcher/placeholders.h: empty files and folders that stand for what is protected and not there.
//
// A mount needs something to be mounted on, so P1 makes them on the disk and marks them. They are
// removed when the last sandbox over a root ends: each holds a lock on its roots, and whoever finds
// no other there cleans up, also what a launcher left that was killed. These are locks of single
// bytes, which programs have no use for on a folder: those of flock are left to the command.
#pragma once

#include "launcher/link.h"

namespace agentrt::launcher {

inline constexpr int kLockWaitMs = 2'000;  // for whoever cleans up

// Marked, and still as empty as it was made. Where the disk keeps no marks: never.
bool is_placeholder(const std::string& path);
void mark_placeholder(const std::string& path);

class RootLocks {
 public:
  // Taken before P1 looks at the roots. The root that somebody else goes on cleaning, or "".
  std::string hold(const Spec& spec);
  void made(std::string path) { made_.push_back(std::move(path)); }
  // Removes what is still empty, where nobody else is.
  void clean(const Spec& spec);

 private:
  std::vector<std::pair<std::string, Fd>> roots_;
  std::vector<std::string> made_;
};

}  // namespace agentrt::launcher
