// launcher/questions/execution.h: an execve of a held file, let through and checked before its
// first instruction.
//
// The supervisor cannot tell the kernel which file to load, and what stands at the path may change
// until it is loaded. So it traces the process for this one call: the kernel stops it when the new
// program is in place and nothing of it has run.
#pragma once

#include <string>

#include "launcher/questions/errands.h"

namespace agentrt::launcher {

struct Execution final : Errand {
  pid_t process = 0;
  std::uint64_t question = 0;
  Fd listener;
  Fd copy;              // of the file as it was approved
  Fd tell;              // where a refusal is written, with a NUL behind it
  std::string text;     // the path, as the call has it
  std::string refusal;  // in words

  void run() override;

 private:
  bool let_through() const;
  void answer(int error) const;
  void refuse() const;
  void follow() const;
  bool is_approved(pid_t loaded) const;
};

}  // namespace agentrt::launcher
