// ports/metrics.h: the runtime's counters. main creates one object and passes it to all users.
#pragma once

#include <atomic>
#include <cstdint>

namespace agentrt::ports {

struct Metrics {
  using Counter = std::atomic<std::uint64_t>;

  Counter core_steps{0};
  Counter core_steps_over_limit{0};  // longer than kCoreStepLimitUs
  Counter core_step_us_max{0};
  Counter core_step_cpu_us_max{0};  // processor time, without waits for a processor
  Counter commands_accepted{0};
  Counter commands_repeated{0};
  Counter commands_refused{0};
  Counter commands_overloaded{0};
  Counter reports{0};
  Counter facts_appended{0};
  Counter commits{0};
  Counter commit_appends{0};  // total; divided by commits: appends per sync
  Counter commit_failures{0};
  Counter commit_us{0};
  Counter sessions_loaded{0};
  Counter sessions_in_memory{0};
  Counter sessions_blocked{0};  // sessions whose facts cannot be stored
  Counter snapshots_stored{0};
  Counter snapshots_repaired{0};
  Counter subscribers{0};
  Counter subscribers_overflowed{0};
  Counter events_delivered{0};
  Counter events_damaged{0};  // damaged rows that were replaced in streams over all sessions
  Counter http_requests{0};
  Counter http_connections{0};
  Counter http_connections_refused{0};
  Counter http_connections_reclaimed{0};  // idle, without a token; closed to make room
  Counter http_reply_bytes{0};            // currently held by all replies
  Counter http_replies_refused{0};        // because http_reply_bytes reached its limit
  Counter websockets{0};
  Counter channels{0};               // connected
  Counter rpc_responses_dropped{0};  // responses to unknown requests
  Counter turns_completed{0};
  Counter turns_failed{0};
  Counter model_requests{0};
  Counter model_failures{0};
  Counter output_bytes{0};  // stored, as of the last sweep
  Counter outputs_expired{0};
  Counter blobs_removed{0};
};

// Limit for a step on the core, in microseconds. Loading, long lists and large encodings run
// elsewhere.
inline constexpr std::uint64_t kCoreStepLimitUs = 1'000;

}  // namespace agentrt::ports
