// cli/sessions/pager.h: shows what is written to standard output in the user's pager.
#pragma once

#include <sys/types.h>

#include <string>

#include "config/config.h"

namespace agentrt::cli {

// The command of $PAGER, or less; empty if neither is usable.
std::string pager_command(const config::Environment& environment);

// While it exists, standard output leads to the pager's standard input. The destructor waits until
// the person leaves the pager. Does nothing if the pager cannot be started. One at a time.
class Pager {
 public:
  // Empty: no pager.
  explicit Pager(const std::string& command);
  ~Pager();
  Pager(const Pager&) = delete;
  Pager& operator=(const Pager&) = delete;

 private:
  pid_t pid_ = -1;
  int own_ = -1;  // standard output of this process
};

}  // namespace agentrt::cli
