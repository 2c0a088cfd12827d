// launcher/questions/asker.h: a process inside that waits for an answer about a system call, and
// what the supervisor can learn of it.
#pragma once

#include <linux/seccomp.h>
#include <sys/types.h>

#include <string>

#include "launcher/link.h"

namespace agentrt::launcher {

// All that is read of the process was really its own only if it still asks afterwards.
class Asker {
 public:
  // Waits for a question on the listener. False: there is none.
  bool hear(int listener);

  int listener() const { return listener_; }
  const seccomp_data& data() const { return asked_.data; }
  int call() const { return asked_.data.nr; }
  std::uint64_t id() const { return asked_.id; }
  std::uint64_t argument(int i) const { return asked_.data.args[i]; }
  pid_t pid() const { return static_cast<pid_t>(asked_.pid); }

  // Between the question and now the process may have gone and its id been given to another.
  bool still_asks() const;

  // Memory of the process, as far as it is there; -1 and errno: none.
  ssize_t read_memory(std::uint64_t from, void* into, std::size_t size) const;
  // The path that an argument points to; empty: it cannot be read.
  std::string path(int argument_at) const;
  // A folder that a call starts from, AT_FDCWD or one of the process's descriptors, with a slash at
  // its end.
  std::string folder_of(int at) const;
  // Absolute and without `.` and `..`, as text; links are not followed. `folder_at`: which argument
  // is the folder that it starts from; -1: the working one.
  std::string whole_path(const std::string& path, int folder_at) const;
  // Something about it in /proc: cwd, root, exe, fd/N.
  std::string place(const std::string& name) const;

 private:
  int listener_ = -1;
  seccomp_notif asked_{};
};

}  // namespace agentrt::launcher
