// launcher/guarded/writes.h: the supervisor writes in guarded folders on behalf of the command.
//
// A git folder cannot be divided by mounts: git makes NAME.lock beside NAME and renames one to the
// other. So the whole folder is a read-only mount for the command, and the few calls that create,
// rename or remove an entry in it come to the supervisor by the seccomp filter. The supervisor
// copies the path, judges the copy by the patterns of names.h, and performs the call itself, below
// a writable tree that the command never has. Nothing depends on the memory of the command after
// the copy was made, so there is nothing to swap; what is not performed, the kernel refuses.
#pragma once

#include "launcher/link.h"

namespace agentrt::launcher {

// A guarded folder, as P1 hands it over.
struct Guarded {
  std::string path;                  // for the command
  Fd tree;                           // the same folder, writable; reachable by nobody else
  std::vector<std::string> mounted;  // names in it that the command can write by itself
};

// One call of the command, taken apart. Paths are absolute, without `.`, `..` and trailing slashes.
struct WriteAsked {
  enum class What { open, unlink, rmdir, mkdir, rename } what;
  std::string path, to;     // `to`: of a rename
  int flags = 0;            // of open and rename
  unsigned mode = 0;        // of open and mkdir, before the mask
  unsigned mask = 0;        // the command's umask
  bool as_command = false;  // under root: as the user that the command is
};

struct WriteDone {
  enum class How {
    elsewhere,  // not in a guarded folder, or in a part that is mounted writable: for the kernel
    done,       // with `error`, 0 for success, and the descriptor that the command gets, if any
    refused,    // it is not writable; `error` says how the command hears of it
  } how = How::elsewhere;
  int error = 0;
  Fd opened;
};

// `patterns`: which names are writable in each of the folders.
WriteDone write_guarded(const std::vector<Guarded>& folders,
                        const std::vector<std::string>& patterns, const WriteAsked& asked);

}  // namespace agentrt::launcher
