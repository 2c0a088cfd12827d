// launcher/questions/execution.h: lets an execve of a held file continue and checks the loaded
// program before its first instruction.
//
// The supervisor cannot choose which file the kernel loads, and the file at the path may change
// until it is loaded. So it traces the process with ptrace during this one syscall. The kernel
// stops the process after loading the program and before running it.
#pragma once

#include <string>

#include "launcher/questions/errands.h"

namespace agentrt::launcher {

struct Execution final : Errand {
  pid_t process = 0;
  std::uint64_t question = 0;
  Fd listener;
  Fd copy;              // the approved content of the file
  Fd tell;              // a pipe for refusals, each ending with a NUL
  std::string text;     // the path argument of the syscall
  std::string refusal;  // the message for a refusal

  void run() override;

 private:
  bool let_through() const;
  void answer(int error) const;
  void refuse() const;
  void follow() const;
  bool is_approved(pid_t loaded) const;
};

}  // namespace agentrt::launcher
