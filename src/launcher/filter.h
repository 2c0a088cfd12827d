// launcher/filter.h: the system calls that a command may make.
//
// A list of what is denied, since a list of what is allowed breaks programs nobody has tried. What
// is denied asks the supervisor where the kernel can (Layer::notify), so that the attempt becomes a
// fact, and is refused with EPERM either way.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <optional>
#include <vector>

#include "launcher/guarded/writes.h"

namespace agentrt::launcher {

enum class Asking { off, on };

// The filter, as the kernel takes it.
std::vector<sock_filter> filter_of(const Spec& spec, Asking asking);

// Installs it. With asking on: the descriptor on which the supervisor is asked, or -1 and
// errno when the kernel gives none (then nothing was installed). With asking off: 0, or -1.
int install_filter(const Spec& spec, Asking asking);

// The call's name, for those that the filter stops; "call N" otherwise.
std::string call_name(int number);

// The mode that the call would give to a file and may not, since a program of it runs as its owner
// or its group; 0: it is stopped for another reason, or not at all.
unsigned stopped_mode(const seccomp_data& asked);

// A call that names a path and could change it. The filter passes all of them to the supervisor
// where writes are watched, and those that what_of() knows where folders are guarded.
struct WriteCall {
  struct Path {
    int folder_at = -1;  // which argument is the folder that it starts from; -1: the working one
    int path_at = -1;    // which argument is the path; -1: there is none
  };
  int number;
  const char* name;
  Path paths[2];
  int flags_at = -1;  // which argument says whether it writes; -1: it always does
};
// nullptr: it is none.
const WriteCall* write_call(int number);
bool opens_to_write(std::uint64_t flags);

// A call that reads, executes or changes a file by its path: asked about where files are held.
bool is_about_files(int number);

// What the call does in a guarded folder; nothing: it is none that is performed there.
std::optional<WriteAsked::What> what_of(const seccomp_data& asked);
int write_flags(const seccomp_data& asked);
unsigned write_mode(const seccomp_data& asked);

}  // namespace agentrt::launcher
