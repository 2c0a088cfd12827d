// launcher/placeholders.h: empty files and folders created in place of protected paths that do not
// exist.
//
// A mount needs a mount point, so P1 creates them on disk and marks them. They are removed when the
// last sandbox over a root ends: each sandbox holds a lock on its roots, and the one that finds no
// other lock cleans up, including leftovers of killed launchers. The locks are byte-range locks
// (fcntl), which programs do not use on folders; flock stays free for the command.
#pragma once

#include "launcher/link.h"

namespace agentrt::launcher {

inline constexpr int kLockWaitMs = 2'000;  // wait for a cleanup in progress

// Whether the path is marked and still empty. Always false if the file system stores no marks.
bool is_placeholder(const std::string& path);
void mark_placeholder(const std::string& path);

class RootLocks {
 public:
  // Locks the roots; call before P1 reads them. Returns the first root that cannot be locked,
  // because another process is still cleaning it after kLockWaitMs, or "".
  std::string hold(const Spec& spec);
  void made(std::string path) { made_.push_back(std::move(path)); }
  // Removes placeholders that are still empty, in roots that no other sandbox uses.
  void clean(const Spec& spec);

 private:
  std::vector<std::pair<std::string, Fd>> roots_;
  std::vector<std::string> made_;
};

}  // namespace agentrt::launcher
