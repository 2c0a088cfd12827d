// launcher/next_spaces.h: under root, namespaces that are made before a command needs them.
//
// To make a network is the most expensive part of a sandbox, and one for System V memory is not
// cheap either. They say nothing about a command or the machine, so an origin makes the next ones
// while nobody waits, and hands each to one copy only. (The host name may change meanwhile: its
// namespace is made with the command.)
#pragma once

#include "launcher/link.h"

namespace agentrt::launcher {

// Brings up the loopback of the network that the caller is in.
bool loopback_up();

class NextSpaces {
 public:
  // Some with nobody in them, the loopback up. An ordinary user may make them only inside a
  // sandbox: there are none then. False: the caller could not return to its own.
  bool make();
  bool ready() const { return network_ && ipc_; }
  // False: there is none, or the caller may not enter it.
  bool enter_network() const;
  bool enter_ipc() const;
  void close();

 private:
  Fd network_, ipc_;  // both or none
};

}  // namespace agentrt::launcher
