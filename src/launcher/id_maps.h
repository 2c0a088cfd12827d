// launcher/id_maps.h: under root, user namespaces that map the owner of a root to the command's id.
//
// An idmapped mount takes its mapping from a user namespace. One is created per owner and lives as
// long as its descriptor; no process is in it. They do not depend on the command, so an origin
// keeps them for all its copies.
#pragma once

#include <sys/types.h>

#include <map>
#include <utility>

#include "launcher/link.h"

namespace agentrt::launcher {

inline constexpr std::size_t kIdMapsMax = 64;  // kept by an origin; then the cache is cleared

// The owner of a root on disk. The command works in the root as if it owned it.
using Owner = std::pair<uid_t, gid_t>;

// Starts an idle process in its own user namespace. It has no open descriptors and ends with the
// caller. -1: failed, see errno.
pid_t hold_user_namespace();

// Creates a user namespace that maps these ids to the command's. Empty: failed, see errno. Kills
// the process it needed for that. With `left` the caller must reap that process later, because its
// exit takes time.
Fd user_namespace(const Owner& inner, pid_t* left = nullptr);

class IdMaps {
 public:
  // False: failed, see errno.
  bool add(const Owner& owner);
  // The namespace; -1: none, ids are not mapped.
  int of(const Owner& owner) const;
  std::size_t size() const { return spaces_.size(); }
  void close() { spaces_.clear(); }

 private:
  std::map<Owner, Fd> spaces_;
};

}  // namespace agentrt::launcher
