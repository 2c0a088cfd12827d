// launcher/id_maps.h: under root, user namespaces in which the owner of a root is the command's id.
//
// An idmapped mount takes its mapping from a user namespace. One is made for each owner, lives as
// long as its descriptor, and holds nobody: the process that it was made with is gone. They say
// nothing about a command, so an origin keeps them for all of its copies.
#pragma once

#include <sys/types.h>

#include <map>
#include <utility>

#include "launcher/link.h"

namespace agentrt::launcher {

inline constexpr std::size_t kIdMapsMax = 64;  // that an origin keeps; then it begins anew

// Who owns a root on disk; the command works in it as if it were its own.
using Owner = std::pair<uid_t, gid_t>;

// A process in a user namespace of its own, which has nothing open, does nothing and ends with the
// caller. -1: the kernel does not give one, and errno says why.
pid_t hold_user_namespace();

// A user namespace in which these ids are the command's. None: the kernel does not give one, and
// errno says why. The process that it is made with is killed; with `left` whoever asks waits for it
// later, since it takes a processor to end.
Fd user_namespace(const Owner& inner, pid_t* left = nullptr);

class IdMaps {
 public:
  // False: the kernel does not give one, and errno says why.
  bool add(const Owner& owner);
  // The namespace, -1 where there is none: ids stay as they are.
  int of(const Owner& owner) const;
  std::size_t size() const { return spaces_.size(); }
  void close() { spaces_.clear(); }

 private:
  std::map<Owner, Fd> spaces_;
};

}  // namespace agentrt::launcher
