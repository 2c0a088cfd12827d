// launcher/next_network.h: under root, a network that is made before a command needs it.
//
// To make one is the most expensive part of a sandbox. It says nothing about a command, so an
// origin makes the next one while nobody waits, and hands each to one copy only.
#pragma once

#include "launcher/link.h"

namespace agentrt::launcher {

// Brings up the loopback of the network that the caller is in.
bool loopback_up();

class NextNetwork {
 public:
  // One with nobody in it, its loopback up. An ordinary user may make networks only inside a
  // sandbox: there is none then. False: the caller could not return to its own.
  bool make();
  // False: there is none, or the caller may not enter it.
  bool enter() const;
  void close() { space_.reset(); }

 private:
  Fd space_;
};

}  // namespace agentrt::launcher
