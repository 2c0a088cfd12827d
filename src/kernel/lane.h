// kernel/lane.h: the state of one lane and of its append, shared by the files that implement Lanes.
#pragma once

#include <deque>
#include <list>
#include <memory>
#include <unordered_map>

#include "kernel/lanes.h"

namespace agentrt::kernel {

enum class LaneState { unloaded, loading, ready, reading, committing };

// Sends the outcome of the work to its caller, if any.
void finish(Work& work, ports::Reply reply);
// Whether a caller waits for the outcome. A report without one is retried instead of refused.
bool has_asker(const Work& work);
bool is_report(const Work& work);
// What the decision about the work reads from the store.
control::Needs needs_of_work(const state::Session& view, const Work& work);

struct Lanes::Lane {
  explicit Lane(SessionId session) : id(std::move(session)) {}

  SessionId id;
  state::Session view;
  LaneState state = LaneState::unloaded;
  std::deque<Work> queue;
  std::size_t commands = 0;  // commands in the queue, limited by lane_queue_max
  std::size_t failures = 0;  // consecutive failed appends and loads
  std::optional<Code> last_failure;
  // Set while reports wait for the retry timer with this number; reads are served meanwhile.
  std::optional<std::uint64_t> hold;
  std::optional<std::string> repaired;  // why the stored snapshot was replaced; not stored yet
  bool held = false;                    // by a read, until release()
  std::optional<std::list<Lane*>::iterator> idle;
  // The records of tasks that are in memory: of open turns with their ancestors, and of recent use.
  state::Tasks tasks;
  // What was read for the first work in the queue.
  std::optional<control::LaneReads> gathered;
  struct Parked {
    std::uint64_t number;
    CommandWork work;
    ports::Loop::TimerId timer;
  };
  std::list<Parked> parked;  // claims that wait for a free task
};

// An append in preparation or in flight: its facts and rows, and the work that waits for it.
struct Lanes::Batch {
  struct Settled {
    Work work;
    ports::Reply reply;
  };
  store::Append append;
  std::vector<Settled> settled;
  std::unordered_map<std::string, std::size_t> row_at;  // by kind and id, in append.index
  std::shared_ptr<const state::Session> snapshot;       // encoded by the writer
  state::TaskChanges tasks;

  bool writes() const { return !append.events.empty() || !append.idempotency.empty(); }
  // Only the last row of an object is stored.
  void put(store::IndexRow row) {
    const auto [at, fresh] = row_at.try_emplace(row.kind + ' ' + row.id, append.index.size());
    if (fresh)
      append.index.push_back(std::move(row));
    else
      append.index[at->second] = std::move(row);
  }
};

}  // namespace agentrt::kernel
