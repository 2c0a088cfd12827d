// launcher/next_spaces.h: under root, namespaces that are created in advance.
//
// Creating a network namespace is the most expensive part of a sandbox, and an IPC namespace is not
// cheap either. They depend on neither command nor machine, so an origin creates the next ones
// while idle and gives each to only one copy. (The host name may change meanwhile, so the UTS
// namespace is created with the command.)
#pragma once

#include "launcher/link.h"

namespace agentrt::launcher {

// Brings up the loopback interface of the current network namespace.
bool loopback_up();

class NextSpaces {
 public:
  // Creates empty namespaces with the loopback interface up. Does nothing for an ordinary user, who
  // may create them only inside a sandbox. False: the caller could not return to its own
  // namespaces.
  bool make();
  bool ready() const { return network_ && ipc_; }
  // False: none is prepared, or the caller may not enter it.
  bool enter_network() const;
  bool enter_ipc() const;
  void close();

 private:
  Fd network_, ipc_;  // both or none
};

}  // namespace agentrt::launcher
