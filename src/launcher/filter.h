// launcher/filter.h: builds the seccomp filter, which decides the syscalls that a command may make.
//
// The filter is a deny list, because an allow list breaks programs that were never tested with it.
// A denied syscall always fails with EPERM. Where the kernel supports seccomp notifications
// (Layer::notify), the supervisor is asked first, so that it can report the attempt.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <optional>
#include <vector>

#include "launcher/guarded/writes.h"

namespace agentrt::launcher {

enum class Asking { off, on };

// The filter as a BPF program for seccomp(2).
std::vector<sock_filter> filter_of(const Spec& spec, Asking asking);

// Installs the filter in the calling process. With Asking::on: returns the listener descriptor for
// the supervisor, or -1 with errno if the kernel gives none (then no filter is installed). With
// Asking::off: returns 0, or -1 with errno.
int install_filter(const Spec& spec, Asking asking);

// The name of a syscall that the filter stops; "call N" for any other.
std::string call_name(int number);

// The file mode of a syscall that is denied because it sets the setuid or setgid bit. 0: the
// syscall is allowed, or denied for another reason.
unsigned stopped_mode(const seccomp_data& asked);

// A syscall that names a path and may change it. With spec.watch_writes or held files, the filter
// sends all of these to the supervisor. With guarded folders only, it sends those that what_of()
// knows.
struct WriteCall {
  struct Path {
    int folder_at = -1;  // index of the argument with the start folder; -1: working directory
    int path_at = -1;    // index of the argument with the path; -1: there is none
  };
  int number;
  const char* name;
  Path paths[2];
  int flags_at = -1;  // index of the argument with the open flags; -1: the syscall always writes
};
// nullptr: the syscall changes no path.
const WriteCall* write_call(int number);
bool opens_to_write(std::uint64_t flags);

// Whether the syscall reads, executes or changes a file by its path. The supervisor is asked about
// these if there are held files (questions/held.h).
bool is_about_files(int number);

// The operation that the supervisor performs for this syscall in a guarded folder; nullopt: none.
std::optional<WriteAsked::What> what_of(const seccomp_data& asked);
int write_flags(const seccomp_data& asked);
unsigned write_mode(const seccomp_data& asked);

}  // namespace agentrt::launcher
