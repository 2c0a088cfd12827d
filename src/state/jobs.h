// state/jobs.h: the running and queued jobs of a session. Part of the session read model
// (state/session.h).
//
// A view holds these jobs only. An ended job and every item that was ever started are in index
// rows; a pending item is a line of the input after the job's cursor.
#pragma once

#include <optional>
#include <vector>

#include "schema/facts.h"

namespace agentrt::state {

// The most items of a job that may wait for another attempt. Beyond it, no new item is started.
inline constexpr std::size_t kWaitingItemsMax = 1'000;

// The item that a turn is an attempt at.
struct JobItem {
  schema::JobLine at;
  std::uint64_t attempts = 0;  // including this one
  Sequence first = 0;          // sequence of its first job.item.started
  bool reported = false;       // the model has answered; its answer is not validated yet

  bool operator==(const JobItem&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobItem, (), (at, attempts, first, reported))

// An item that waits for another attempt.
struct WaitingItem {
  JobItem item;  // with the attempts so far
  std::optional<Timestamp> due;
  std::optional<schema::Failure> last_error;

  bool operator==(const WaitingItem&) const = default;
};
BOOST_DESCRIBE_STRUCT(WaitingItem, (), (item, due, last_error))

// The decision about a job's command, made once, in the turn of one item. It holds for the others.
struct JobPermission {
  ToolCallId call;                      // that was judged
  schema::Json args;                    // after any rewrite by hooks
  std::optional<std::string> digest;    // where a person or a grant allowed it
  bool as_shown = false;                // a person approved this very text
  std::optional<Timestamp> expires_at;  // of the question, which is part of the digest
  std::vector<schema::ExecutedFile> files;

  bool operator==(const JobPermission&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobPermission, (), (call, args, digest, as_shown, expires_at, files))

struct Job {
  schema::JobRecord record;
  std::vector<WaitingItem> waiting;
  std::optional<JobPermission> permission;       // absent: the command has not been allowed yet
  bool paused = false;                           // its task is paused: no item starts
  Timestamp progress_at;                         // of the last counts that a fact reported
  std::optional<schema::JobItemRecord> changed;  // the item that the last fact was about

  bool operator==(const Job&) const = default;
};
BOOST_DESCRIBE_STRUCT(Job, (), (record, waiting, permission, paused, progress_at, changed))

// Items that may start now beside those that run: the first one alone, until its command is
// allowed.
std::uint64_t free_slots(const Job& job);
// Whether lines of the input follow the cursor, and may be started.
bool has_more_lines(const Job& job);
// Whether failed items of an earlier attempt are left that the job has to retry.
bool has_failed_left(const Job& job);
// Whether the item, whose first job.item.started has this sequence, is one of them.
bool is_redone(const schema::JobRecord& job, Sequence first);
// When the next waiting item may start; nullopt: none waits.
std::optional<Timestamp> next_due(const Job& job);

}  // namespace agentrt::state
