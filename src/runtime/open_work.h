// runtime/open_work.h: what keeps a background owner of the data folder alive.
//
// needed() is the only place that decides it. New kinds of work that must not be abandoned add a
// member here. Telemetry is none of them: the log is its queue. Pure.
#pragma once

#include <cstddef>

namespace agentrt::runtime {

struct OpenWork {
  std::size_t connections = 0;  // of clients, over TCP and the socket
  // Sessions with a turn that runs, waits for an answer or continues at a known time, or with a
  // background process. A turn that only a command can continue (`blocked`) does not count.
  std::size_t sessions = 0;
  std::size_t timers = 0;   // of tasks: retries, time limits, heartbeats
  std::size_t logins = 0;   // that wait for a browser; they are kept in memory
  bool recovering = false;  // sessions with work of an earlier process are still being loaded
};

constexpr bool needed(const OpenWork& work) {
  return work.connections > 0 || work.sessions > 0 || work.timers > 0 || work.logins > 0 ||
         work.recovering;
}

}  // namespace agentrt::runtime
