// cli/signals.h: turns SIGINT, SIGTERM and SIGHUP into something to wait for. SIGINT comes from a
// person at the keyboard; the others ask the process to leave, for example because its terminal is
// closed.
//
// After construction, these signals no longer end the process; they are counted. Construct it
// before starting any thread, so that all threads inherit the blocked signal mask. Use from one
// thread.
#pragma once

namespace agentrt::cli {

class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // Readable while a signal is pending; -1 if the system provides none.
  int descriptor() const { return fd_; }
  // The number of signals received so far.
  int count();
  // Whether one of them was SIGTERM or SIGHUP.
  bool asked_to_leave();
  // Whether all of them were SIGHUP, which a daemon takes as a request to read its files again.
  bool only_hangups();
  // Forgets those received so far.
  void forget();
  // Returns when a further signal arrives, or after `timeout_ms` milliseconds (-1: no timeout).
  void wait(int timeout_ms);

 private:
  int fd_ = -1;
  int count_ = 0;
  bool leave_ = false;
  int hangups_ = 0;
};

}  // namespace agentrt::cli
