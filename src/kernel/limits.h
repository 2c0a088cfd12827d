// kernel/limits.h: the limits of the kernel, with their defaults.
#pragma once

#include <cstddef>
#include <cstdint>

#include "conversation/history/limits.h"

namespace agentrt::kernel {

struct Limits {
  std::size_t commands_in_flight_max = 10'000;  // over all sessions; further ones are `overloaded`
  std::size_t lane_queue_max = 1'000;           // commands queued per session
  std::size_t decisions_per_batch_max = 16;     // per append; bounds the duration of a step
  std::size_t appends_per_commit_max = 512;     // per sync
  std::size_t idle_sessions_max = 1'024;        // views in memory without open work
  std::uint64_t snapshot_every_facts = 1'000;
  std::size_t recoveries_at_once_max = 8;     // sessions loaded in parallel at start
  std::int64_t refold_again_ms = 20;          // between sessions with a snapshot of another version
  std::int64_t storage_retry_ms = 250;        // first retry delay of a report that was not stored
  std::int64_t storage_retry_max_ms = 5'000;  // maximum of that delay, which doubles per failure
  std::size_t blocked_sessions_max = 1'024;   // remembered; a forgotten one fails again
  std::int64_t idempotency_keep_ms = 7LL * 24 * 3'600 * 1'000;  // age at which a key is deleted
  std::int64_t idempotency_sweep_ms = 3'600 * 1'000;            // between two sweeps of old keys
  std::size_t idempotency_sweep_max = 10'000;                   // keys deleted per sweep
  std::int64_t pack_after_ms = 2'000;  // from a commit to the packing of its runs of fragments
  std::int64_t pack_again_ms = 250;    // between packing steps while more rows are left
  std::size_t pack_rows_max = 1'000;   // rows scanned per packing step, which delays commits
  conversation::HistoryLimits history;
  std::size_t page_turns_default = 20;  // also of pages of sessions and actions
  std::size_t page_events_default = 100;
  std::size_t page_max = 1'000;  // a larger limit is clamped to it
  std::size_t page_bytes_max = 4 << 20;
  std::size_t tasks_scanned_max = 10'000;         // by one list_tasks with several filters
  std::size_t tasks_kept_max = 1'024;             // records of tasks in memory per session
  std::size_t claims_waiting_max = 1'000;         // claim_task commands that wait, per session
  std::size_t events_scanned_max = 10'000;        // by one list_events with a type filter
  std::size_t sessions_scanned_max = 10'000;      // by one list_sessions with a filter
  std::size_t past_reads_max = 2;                 // reads with atSequence at once
  std::uint64_t past_facts_max = 1'000'000;       // folded for one of them
  std::size_t model_entries_max = 100;            // per list of a read model
  std::size_t threads_shown = 20;                 // of get_session, beside the open ones
  std::size_t turn_items_default = 100;           // per page of get_turn
  std::size_t resumes_per_minute = 30;            // of one channel, failed ones too
  std::int64_t channel_sweep_ms = 3'600 * 1'000;  // between searches for channels to close
  std::size_t waiting_callers_max = 1'000;  // clients that wait for subagents, over all sessions
};

}  // namespace agentrt::kernel
