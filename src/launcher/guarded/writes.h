// launcher/guarded/writes.h: performs writes in guarded folders on behalf of the command.
//
// Mounts cannot divide a git folder, because git creates NAME.lock beside NAME and renames it. So
// the whole folder is a read-only mount for the command, and the seccomp filter forwards the few
// syscalls that create, rename or remove an entry to the supervisor. The supervisor copies the
// path, checks the copy against the patterns of names.h, and performs the syscall itself in a
// writable tree that the command cannot reach. It does not read the command's memory after the
// copy, so there is no race to exploit. The kernel refuses whatever the supervisor does not
// perform.
#pragma once

#include "launcher/link.h"

namespace agentrt::launcher {

// A guarded folder, sent by P1.
struct Guarded {
  std::string path;                  // as the command sees it
  Fd tree;                           // the same folder, writable; only the supervisor holds it
  std::vector<std::string> mounted;  // entries that the command can write directly
};

// A decoded syscall of the command. Paths are absolute, without `.`, `..` or trailing slashes.
struct WriteAsked {
  enum class What { open, unlink, rmdir, mkdir, rename } what;
  std::string path, to;     // `to`: rename only
  int flags = 0;            // open and rename only
  unsigned mode = 0;        // open and mkdir only, before the umask
  unsigned mask = 0;        // the command's umask
  bool as_command = false;  // under root: act as the command's user
};

struct WriteDone {
  enum class How {
    elsewhere,  // not in a guarded folder, or writable there: left to the kernel
    done,       // `error` is 0 on success; `opened` is the command's new descriptor, if any
    refused,    // not writable; `error` is the errno for the command
  } how = How::elsewhere;
  int error = 0;
  Fd opened;
};

// `patterns`: the writable names in each of the folders.
WriteDone write_guarded(const std::vector<Guarded>& folders,
                        const std::vector<std::string>& patterns, const WriteAsked& asked);

}  // namespace agentrt::launcher
