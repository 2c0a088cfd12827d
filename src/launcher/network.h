// launcher/network.h: a network of the command's own, made while other things are done.
//
// It takes the kernel longer than all other namespaces together, so a second process makes it while
// P1 mounts, and P1 enters it afterwards. Called by P1 alone, before any right is given up.
#pragma once

#include <sys/types.h>

#include "launcher/link.h"

namespace agentrt::launcher {

class OwnNetwork {
 public:
  // Begins. It shares memory and descriptors with this process, and ends by itself.
  void begin();
  // Waits for it and enters. 0, or the errno that it failed with: the network is still the host's.
  int enter();

 private:
  static int make(void* network);

  Fd processes_;  // /proc as it was, whatever is mounted there meanwhile
  pid_t maker_ = -1;
  int made_ = -1;  // the namespace, open
  int error_ = 0;
};

}  // namespace agentrt::launcher
