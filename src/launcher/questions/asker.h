// launcher/questions/asker.h: a sandboxed process that is blocked in a syscall until the supervisor
// answers its seccomp notification.
#pragma once

#include <linux/seccomp.h>
#include <sys/types.h>

#include <string>

#include "launcher/link.h"

namespace agentrt::launcher {

// Reads data of that process. The data is valid only if still_asks() is true afterwards.
class Asker {
 public:
  // Receives the next notification from the listener. False: there is none.
  bool hear(int listener);

  int listener() const { return listener_; }
  const seccomp_data& data() const { return asked_.data; }
  int call() const { return asked_.data.nr; }
  std::uint64_t id() const { return asked_.id; }
  std::uint64_t argument(int i) const { return asked_.data.args[i]; }
  pid_t pid() const { return static_cast<pid_t>(asked_.pid); }

  // False: the process has ended, and its pid may belong to another one.
  bool still_asks() const;

  // Reads memory of the process and returns the number of bytes, which may be less than `size`. -1
  // with errno: nothing is readable.
  ssize_t read_memory(std::uint64_t from, void* into, std::size_t size) const;
  // The path that an argument points to. Empty: it cannot be read.
  std::string path(int argument_at) const;
  // The path of a start folder, with a trailing slash. `at` is AT_FDCWD or a descriptor of the
  // process.
  std::string folder_of(int at) const;
  // Makes `path` absolute and removes `.` and `..` lexically; symlinks are not followed.
  // `folder_at`: index of the argument with the start folder; -1: the working directory.
  std::string whole_path(const std::string& path, int folder_at) const;
  // The path of an entry in /proc/PID: cwd, root, exe, fd/N.
  std::string place(const std::string& name) const;

 private:
  int listener_ = -1;
  seccomp_notif asked_{};
};

}  // namespace agentrt::launcher
