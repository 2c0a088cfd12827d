// launcher/guarded/as_command.h: file system calls of the supervisor with the rights of the
// command.
#pragma once

#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/mounts.h"

namespace agentrt::launcher {

// While one exists, this thread has the command's umask and, under root, the command's user and
// group for file system calls, without root's capabilities. Other threads keep theirs.
class AsCommand {
 public:
  // `change_user`: the launcher runs as root, and the command as kOuterId.
  AsCommand(bool change_user, unsigned mask)
      : changed_(change_user), mask_(::umask(static_cast<mode_t>(mask))) {
    if (!changed_) return;
    ::setfsgid(kOuterId);
    ::setfsuid(kOuterId);
  }
  ~AsCommand() {
    ::umask(mask_);
    if (!changed_) return;
    ::setfsuid(::geteuid());
    ::setfsgid(::getegid());
  }
  AsCommand(const AsCommand&) = delete;

 private:
  bool changed_;
  mode_t mask_;
};

}  // namespace agentrt::launcher
