// launcher/questions/held.h: makes a command execute its files with the content that was approved.
//
// Another process may change a file between approval and execution: by a write, by a rename over
// it, or by replacing a folder or symlink on its path. A mount over the path does not help, because
// the kernel removes the mount when the file below it is replaced. So the file is "held": the
// runtime sends a copy, the paths stay as they are, and the supervisor answers every syscall that
// names one of them:
//
//   open to read     The process gets a descriptor of the copy.
//   execve           The kernel loads the file at the path. The process is stopped before its first
//                    instruction and the loaded program is compared: the bytes of a binary, or the
//                    interpreter and its arguments for a script (which then opens the copy). On a
//                    mismatch the process is killed.
//   readlink         The answer is the target from the time of the copy.
//   a change         If the command itself changes the file, the file is no longer held.
//
// A held path is recognised by its text, or by its name in a folder with the same device and inode.
// A false match is harmless (the process gets an approved copy); a missed match is not.
#pragma once

#include <linux/seccomp.h>

#include <string>
#include <vector>

#include "launcher/questions/asker.h"

namespace agentrt::launcher {

class HeldFiles {
 public:
  // Reads the approved contents from `copies`, in the layout that the spec describes. False: the
  // spec does not match `copies`, or memory is exhausted.
  bool take(const Spec& spec, const Fd& copies);
  bool any() const { return !files_.empty(); }

  enum class Answered {
    not_ours,  // not about a held file; the caller answers
    reply,     // the caller sends `reply`
    sent,      // already answered, or an errand will answer
  };
  Answered answer(const Asker& asker, seccomp_notif_resp& reply);

  // A descriptor that is readable when take_refusals() has messages about refused executions.
  int refusals() const { return told_.get(); }
  std::vector<std::string> take_refusals();

 private:
  struct File {
    Fd copy;  // a sealed memfd
    bool released = false;
  };
  struct Path {
    std::size_t file = 0;
    std::string path, name, folder;
  };
  struct Link {
    std::string path, target;
    std::size_t file = 0;
  };

  bool add_copy(const Fd& copies, std::uint64_t offset, std::uint64_t size);
  void guard_the_way(const Spec& spec, const Path& path);
  bool may_mean(const std::string& path) const;
  const Path* find(const Asker& asker, const std::string& path, int folder_at) const;
  void release(const Asker& asker, const struct WriteCall& call);
  Answered open(const Asker& asker, seccomp_notif_resp& reply, int path_at, int folder_at,
                std::uint64_t flags);
  Answered read_link(const Asker& asker, seccomp_notif_resp& reply, int path_at, int folder_at);
  Answered execute(const Asker& asker, seccomp_notif_resp& reply, int path_at, int folder_at);

  std::vector<File> files_;
  std::vector<Path> paths_;
  std::vector<Link> links_;         // components of held paths; an empty target: not a symlink
  std::vector<std::string> names_;  // the last name of each component in links_
  Fd told_, tell_;
};

}  // namespace agentrt::launcher
