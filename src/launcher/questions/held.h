// launcher/questions/held.h: files that a command executes, held as they were approved.
//
// Somebody else may change a file between the answer about it and its execution: by a write, by a
// rename over it, by another folder or link on the way. A mount over the path would not help, since
// the kernel takes it away when the file below it is replaced. So the paths stay as they are, and
// the supervisor answers for every call that comes by one of them:
//
//   open to read     the process gets a descriptor of the copy, whatever stands at the path
//   execve           the kernel loads what stands there; before its first instruction the process
//                    is stopped and what was loaded is compared: the bytes of a program, the
//                    interpreter and its words for a script (which then opens the copy). What is
//                    not the same is killed
//   readlink         the answer is what it was when the copy was taken
//   a change         by the command itself ends the hold: what it makes of its files is its own
//
// A path is known by its letters, or by its name in a folder of the same identity: a folder that
// was moved away is still the same. Handing out a copy too often does no harm; missing one would.
#pragma once

#include <linux/seccomp.h>

#include <string>
#include <vector>

#include "launcher/questions/asker.h"

namespace agentrt::launcher {

class HeldFiles {
 public:
  // `copies`: as the spec describes them. False: they are not, or there is no memory for them.
  bool take(const Spec& spec, const Fd& copies);
  bool any() const { return !files_.empty(); }

  enum class Answered {
    not_ours,  // the call is none of its business
    reply,     // `reply` is the answer
    sent,      // it was answered, or will be
  };
  Answered answer(const Asker& asker, seccomp_notif_resp& reply);

  // Readable when something was refused; what it was, in words.
  int refusals() const { return told_.get(); }
  std::vector<std::string> take_refusals();

 private:
  struct File {
    Fd copy;  // sealed
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
  std::vector<Link> links_;         // of names on the way; without a target: they are none
  std::vector<std::string> names_;  // that stand in any of the paths
  Fd told_, tell_;
};

}  // namespace agentrt::launcher
