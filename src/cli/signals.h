// cli/signals.h: Ctrl-C and the request to stop, as something to wait for.
//
// From its construction on, SIGINT, SIGTERM and SIGHUP do not end the process; they are counted.
// Make it before any thread is started, so that every thread leaves these signals to it. One thread
// uses it.
#pragma once

namespace agentrt::cli {

class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // Readable when a signal waits to be counted; -1 where the system gives none.
  int descriptor() const { return fd_; }
  // How many have come so far.
  int count();
  // Returns once there is one more than counted before, or after `timeout_ms` (-1: never).
  void wait(int timeout_ms);

 private:
  int fd_ = -1;
  int count_ = 0;
};

}  // namespace agentrt::cli
