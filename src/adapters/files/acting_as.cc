#include "adapters/files/acting_as.h"

#include <linux/capability.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/check.h"

// Use raw syscalls: they affect only the calling thread, while the C library changes the groups of
// every thread.
namespace agentrt::adapters {
namespace {

struct Capabilities {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2]{};

  bool read() { return ::syscall(SYS_capget, &header, data) == 0; }
  bool write() { return ::syscall(SYS_capset, &header, data) == 0; }
};

std::vector<gid_t> groups_now() {
  const long count = ::syscall(SYS_getgroups, 0, nullptr);
  check(count >= 0, "the kernel tells a thread its groups");
  std::vector<gid_t> out(static_cast<std::size_t>(count));
  check(::syscall(SYS_getgroups, out.size(), out.data()) == count,
        "nobody else changes the groups of a thread");
  return out;
}

bool set_groups(const std::vector<gid_t>& groups) {
  return ::syscall(SYS_setgroups, groups.size(), groups.data()) == 0;
}

// setfsuid and setfsgid return the previous id, so the second pair of calls verifies the first.
bool set_file_ids(uid_t uid, gid_t gid) {
  ::setfsgid(gid);
  ::setfsuid(uid);
  return static_cast<gid_t>(::setfsgid(gid)) == gid && static_cast<uid_t>(::setfsuid(uid)) == uid;
}

}  // namespace

ActingAs::ActingAs(const FileIdentity& identity) {
  if (::geteuid() != 0) return;
  Capabilities capabilities;
  in_force_ = capabilities.read();
  if (!in_force_) return;
  for (int i = 0; i < 2; ++i) effective_[i] = capabilities.data[i].effective;
  if (!identity.keeps_groups) groups_ = groups_now();
  if (!groups_.empty() && !set_groups({})) {
    groups_.clear();
    in_force_ = false;
    return;
  }
  changed_ = true;
  for (__user_cap_data_struct& data : capabilities.data) data.effective = 0;
  in_force_ = set_file_ids(identity.uid, identity.gid) && capabilities.write();
}

ActingAs::~ActingAs() {
  if (!changed_) return;
  const int error = errno;  // keep the errno of the caller's last syscall
  Capabilities capabilities;
  bool back = capabilities.read();
  for (int i = 0; i < 2; ++i) capabilities.data[i].effective = effective_[i];
  // Setting the file user to root raises capabilities, so set capabilities last.
  back = back && capabilities.write() && set_file_ids(::geteuid(), ::getegid()) &&
         capabilities.write() && (groups_.empty() || set_groups(groups_));
  check(back, "a thread gets back the rights that it gave up");
  errno = error;
}

}  // namespace agentrt::adapters
