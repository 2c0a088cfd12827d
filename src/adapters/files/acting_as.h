// adapters/files/acting_as.h: lets a thread of a root daemon access the file system with the rights
// of a command instead of root's.
//
// A command of a root daemon works in each root of its session as that root's owner, without
// capabilities or supplementary groups (launcher/id_maps.h). ActingAs gives the calling thread the
// same rights for its lifetime, so a file that the command could not open is not opened here
// either. Other threads keep their rights. For an ordinary user it does nothing.
//
// Keep the scope small: the runtime's own data (DATA) needs the daemon's rights, so do not use the
// store or blobs within it. Scopes do not nest.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace agentrt::adapters {

// The identity used for file permission checks.
struct FileIdentity {
  uid_t uid = 0;
  gid_t gid = 0;
  bool keeps_groups = false;  // full_access: commands stay root, but without capabilities

  bool operator==(const FileIdentity&) const = default;
};

class ActingAs {
 public:
  explicit ActingAs(const FileIdentity& identity);
  ~ActingAs();
  ActingAs(const ActingAs&) = delete;
  ActingAs& operator=(const ActingAs&) = delete;

  // False: the kernel does not let this process change its rights (for example in a container
  // without CAP_SETUID). The caller must then not touch the file system, because it would act as
  // root.
  bool in_force() const { return in_force_; }

 private:
  bool changed_ = false;
  bool in_force_ = true;
  std::vector<gid_t> groups_;
  std::uint32_t effective_[2] = {};
};

}  // namespace agentrt::adapters
