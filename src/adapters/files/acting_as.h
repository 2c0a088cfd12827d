// adapters/files/acting_as.h: under a root daemon, file system access with the rights that a
// command would have instead of root's.
//
// A command of a root daemon works in each root of its session as that root's owner, without
// capabilities and without further groups (launcher/id_maps.h). ActingAs gives the calling thread
// the same rights for its lifetime: a file that the command could not open is not opened here
// either. Other threads keep theirs. For an ordinary user it does nothing.
//
// Keep the scope small: what the runtime itself writes (DATA) needs the daemon's own rights, so no
// store or blob may be touched under it. Scopes do not nest.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace agentrt::adapters {

// Whose rights file system calls are judged by.
struct FileIdentity {
  uid_t uid = 0;
  gid_t gid = 0;
  bool keeps_groups = false;  // full_access: commands stay root, without its capabilities

  bool operator==(const FileIdentity&) const = default;
};

class ActingAs {
 public:
  explicit ActingAs(const FileIdentity& identity);
  ~ActingAs();
  ActingAs(const ActingAs&) = delete;
  ActingAs& operator=(const ActingAs&) = delete;

  // False: the kernel does not let this process change its rights (a container without CAP_SETUID,
  // say). The caller must not touch the file system then, since it would act as root.
  bool in_force() const { return in_force_; }

 private:
  bool changed_ = false;
  bool in_force_ = true;
  std::vector<gid_t> groups_;
  std::uint32_t effective_[2] = {};
};

}  // namespace agentrt::adapters
