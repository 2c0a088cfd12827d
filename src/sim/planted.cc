#include "sim/planted.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/check.h"
#include "control/decide.h"
#include "kernel/loader.h"
#include "sim/store_over.h"

namespace agentrt::sim {
namespace {

constexpr Sequence kSkipped = 12;  // sequence at which position-dependent defects strike

constexpr std::array kDefects = {
    PlantedDefect{Plant::publish_before_append, "publish_before_append",
                  "facts are published before they are stored", 5},
    PlantedDefect{Plant::forget_idempotency_record, "forget_idempotency_record",
                  "the answer to an idempotency key is not stored with its facts", 10},
    PlantedDefect{Plant::drop_last_queue_entry_on_restart, "drop_last_queue_entry_on_restart",
                  "a session that is loaded loses the turn that waits last", 30},
    PlantedDefect{Plant::fold_differently_on_replay, "fold_differently_on_replay",
                  "a session that is loaded counts its turns otherwise than it did live", 10},
    PlantedDefect{Plant::lose_the_sync, "lose_the_sync",
                  "commits are acknowledged when they are written, not when they are synced", 30},
    PlantedDefect{Plant::skip_a_sequence, "skip_a_sequence",
                  "one fact of each session is left out of what is published", 5},
    PlantedDefect{Plant::answer_a_repeat_with_new_facts, "answer_a_repeat_with_new_facts",
                  "a turn that has ended is submitted anew when its id is repeated", 10},
    PlantedDefect{Plant::break_a_check, "break_a_check",
                  "the runtime meets one of its own checks and stops", 5},
    PlantedDefect{Plant::run_hooks_twice, "run_hooks_twice",
                  "each run of a hook runs its command twice", 10},
    PlantedDefect{Plant::approve_another_world, "approve_another_world",
                  "what an answer is bound to is not looked at again before the command runs", 200},
    PlantedDefect{Plant::let_go_too_early, "let_go_too_early",
                  "commands run before it is stored that they do", 10},
    PlantedDefect{Plant::write_unannounced, "write_unannounced",
                  "files are written before it is stored that they change", 20},
    PlantedDefect{Plant::forget_the_turn_before, "forget_the_turn_before",
                  "a model is not told of a turn before the one it answers", 20},
    PlantedDefect{Plant::forget_no_op_key, "forget_no_op_key",
                  "the answer to a key is not stored where the command changed nothing", 20},
    PlantedDefect{Plant::hang_reads_on_full_disk, "hang_reads_on_full_disk",
                  "a session that must be loaded is not, as long as the disk is full", 20},
    PlantedDefect{Plant::drop_spool_tail, "drop_spool_tail",
                  "what a process printed while nobody was connected to it is not passed on", 400},
    PlantedDefect{Plant::forget_exit_record, "forget_exit_record",
                  "the record of a process goes before it is stored that it ended", 100},
    PlantedDefect{Plant::cancel_on_hangup, "cancel_on_hangup",
                  "turns are interrupted when a client disconnects", 100},
    PlantedDefect{Plant::approve_typed_ahead, "approve_typed_ahead",
                  "keys that were pressed before a question appeared answer it", 50},
    PlantedDefect{Plant::leak_client_environment, "leak_client_environment",
                  "a command gets the environment of the client that was served last", 20},
    PlantedDefect{Plant::exit_with_open_work, "exit_with_open_work",
                  "the owner of the data folder leaves while a question waits or a process runs",
                  50},
    PlantedDefect{
        Plant::wider_child, "wider_child",
        "a session that is loaded forgets whose subagent a thread belongs to, so that its "
        "parent's policy no longer restricts it",
        100},
    PlantedDefect{Plant::orphaned_child, "orphaned_child",
                  "a session that is loaded forgets its subagents, so that their parents neither "
                  "learn their end nor end them",
                  100},
    PlantedDefect{Plant::past_shows_present_rows, "past_shows_present_rows",
                  "a session of the past is read with the turns that it has now", 20},
    PlantedDefect{Plant::past_off_by_one, "past_off_by_one",
                  "the past is read without its last fact", 20},
    PlantedDefect{Plant::session_row_lags, "session_row_lags",
                  "the row of a session follows only the start and the end of its turns", 20},
};

class PublishBeforeAppend final : public StoreOver {
 public:
  PublishBeforeAppend(store::Store& inner, Publish publish)
      : StoreOver(inner), publish_(std::move(publish)) {}

  std::vector<Result<store::Position>> commit(std::span<const store::Append> appends) override {
    for (const store::Append& append : appends) {
      auto batch = std::make_shared<std::vector<ports::FeedEvent>>();
      for (const schema::StoredEvent& event : append.events) batch->push_back({0, event});
      if (!batch->empty()) publish_(batch);
    }
    return inner().commit(appends);
  }

 private:
  Publish publish_;
};

class ForgetIdempotencyRecord final : public StoreOver {
 public:
  using StoreOver::StoreOver;

  std::vector<Result<store::Position>> commit(std::span<const store::Append> appends) override {
    std::vector<Result<store::Position>> results;
    for (store::Append append : std::vector(appends.begin(), appends.end())) {
      append.idempotency.clear();
      if (append.events.empty())
        results.emplace_back(store::Position{0});
      else
        results.push_back(inner().commit(std::span(&append, 1)).front());
    }
    return results;
  }
};

class ForgetNoOpKey final : public StoreOver {
 public:
  using StoreOver::StoreOver;

  std::vector<Result<store::Position>> commit(std::span<const store::Append> appends) override {
    std::vector<Result<store::Position>> results;
    for (const store::Append& append : appends) {
      if (append.events.empty())
        results.emplace_back(store::Position{0});
      else
        results.push_back(inner().commit(std::span(&append, 1)).front());
    }
    return results;
  }
};

// Loads every session from a snapshot that was modified by `change_`.
class WrongSnapshot final : public StoreOver {
 public:
  WrongSnapshot(store::Store& inner, std::function<void(state::Session&)> change)
      : StoreOver(inner), change_(std::move(change)) {}

  Result<std::optional<store::Snapshot>> snapshot(const SessionId& session) override {
    TRY_ASSIGN(kernel::Loaded loaded,
               kernel::load(inner(), session, control::Settings{}.task_depth_max));
    change_(loaded.view);
    return store::Snapshot{loaded.view.sequence, state::kFoldVersion, schema::to_json(loaded.view)};
  }

 private:
  std::function<void(state::Session&)> change_;
};

void drop_last_queued(state::Session& view) {
  for (auto& [_, thread] : view.threads)
    if (!thread.queue.empty()) thread.queue.pop_back();
}

void count_otherwise(state::Session& view) {
  for (auto& [_, thread] : view.threads)
    if (thread.last) ++thread.turns;
}

void widen_children(state::Session& view) {
  for (auto& [_, thread] : view.threads)
    if (thread.active) thread.subagent.reset();
}

void orphan_children(state::Session& view) { view.subagents.clear(); }

class AnswerRepeatAnew final : public StoreOver {
 public:
  using StoreOver::StoreOver;

  Result<std::optional<store::IndexEntry>> find(const std::string& kind,
                                                const std::string& id) override {
    TRY_ASSIGN(auto entry, inner().find(kind, id));
    if (kind == "turn" && entry && !entry->row.open) return std::nullopt;
    return entry;
  }
};

class ForgetTurnBefore final : public StoreOver {
 public:
  using StoreOver::StoreOver;

  Result<std::vector<Sequence>> sent(const SessionId& session, const ThreadId& thread,
                                     Sequence after, Sequence up_to, std::size_t max) override {
    TRY_ASSIGN(auto sequences, inner().sent(session, thread, after, up_to, max));
    if (sequences.size() > kOwnFacts) sequences.erase(sequences.begin());
    return sequences;
  }

 private:
  static constexpr std::size_t kOwnFacts = 2;  // more of them are also of an earlier turn
};

class SessionRowLags final : public StoreOver {
 public:
  using StoreOver::StoreOver;

  std::vector<Result<store::Position>> commit(std::span<const store::Append> appends) override {
    std::vector<store::Append> lagging(appends.begin(), appends.end());
    for (store::Append& append : lagging) {
      const auto begins_or_ends = [](const schema::StoredEvent& event) {
        return event.type.starts_with("session.") || event.type.starts_with("turn.");
      };
      if (std::ranges::any_of(append.events, begins_or_ends)) continue;
      std::erase_if(append.index, [](const store::IndexRow& row) { return row.kind == "session"; });
    }
    return inner().commit(lagging);
  }
};

class BreakCheck final : public StoreOver {
 public:
  using StoreOver::StoreOver;

  std::vector<Result<store::Position>> commit(std::span<const store::Append> appends) override {
    for (const store::Append& append : appends)
      check(append.expected < kSkipped, "a planted check holds");
    return inner().commit(appends);
  }
};

}  // namespace

std::span<const PlantedDefect> planted_defects() { return kDefects; }

const PlantedDefect* find_defect(std::string_view name) {
  const auto found = std::ranges::find(kDefects, name, &PlantedDefect::name);
  return found == kDefects.end() ? nullptr : &*found;
}

std::unique_ptr<store::Store> plant_in_store(Plant plant, store::Store& inner,
                                             store::MemoryDisk& disk, Publish publish) {
  switch (plant) {
    case Plant::publish_before_append:
      return std::make_unique<PublishBeforeAppend>(inner, std::move(publish));
    case Plant::forget_idempotency_record:
      return std::make_unique<ForgetIdempotencyRecord>(inner);
    case Plant::drop_last_queue_entry_on_restart:
      return std::make_unique<WrongSnapshot>(inner, drop_last_queued);
    case Plant::fold_differently_on_replay:
      return std::make_unique<WrongSnapshot>(inner, count_otherwise);
    case Plant::wider_child:
      return std::make_unique<WrongSnapshot>(inner, widen_children);
    case Plant::orphaned_child:
      return std::make_unique<WrongSnapshot>(inner, orphan_children);
    case Plant::answer_a_repeat_with_new_facts:
      return std::make_unique<AnswerRepeatAnew>(inner);
    case Plant::forget_the_turn_before:
      return std::make_unique<ForgetTurnBefore>(inner);
    case Plant::forget_no_op_key:
      return std::make_unique<ForgetNoOpKey>(inner);
    case Plant::break_a_check:
      return std::make_unique<BreakCheck>(inner);
    case Plant::session_row_lags:
      return std::make_unique<SessionRowLags>(inner);
    case Plant::lose_the_sync:
      disk.withhold_sync();
      break;
    default:
      break;
  }
  return std::make_unique<StoreOver>(inner);
}

void plant_in_ports(Plant plant, FakeGovernance& governance, FakeMachine& machine,
                    FakeFiles& files) {
  governance.hooks_run_twice = plant == Plant::run_hooks_twice;
  governance.looks_late = plant == Plant::approve_another_world;
  files.waits = plant != Plant::write_unannounced;
  machine.holds = plant != Plant::let_go_too_early;
  machine.passes_tails = plant != Plant::drop_spool_tail;
  machine.keeps_records = plant != Plant::forget_exit_record;
}

void plant_in_readers(Plant plant, bool disk_full, VirtualWorker& readers) {
  if (plant == Plant::hang_reads_on_full_disk) readers.refuse(disk_full ? 1 : 0);
}

namespace {

// The reply of one fact earlier, as if it were this one.
ports::Reply ask_off_by_one(const Ask& ask, const std::string& name, schema::GetReadModel query) {
  const Sequence at = *query.at_sequence;
  if (at == 1) return ask(name, schema::to_json(query));
  query.at_sequence = at - 1;
  TRY_ASSIGN(std::string reply, ask(name, schema::to_json(query)));
  const std::string earlier = fmt::format(R"("asOfSequence":{})", at - 1);
  if (const std::size_t found = reply.find(earlier); found != std::string::npos)
    reply.replace(found, earlier.size(), fmt::format(R"("asOfSequence":{})", at));
  return reply;
}

ports::Reply ask_with_present_turns(const Ask& ask, const std::string& name,
                                    schema::GetReadModel query) {
  TRY_ASSIGN(std::string reply, ask(name, schema::to_json(query)));
  if (query.name != "session_snapshot") return reply;
  query.at_sequence.reset();
  TRY_ASSIGN(const std::string now, ask(name, schema::to_json(query)));
  schema::SessionSnapshot past;
  schema::SessionSnapshot present;
  TRY(schema::from_json(reply, past, schema::Unknown::refuse));
  TRY(schema::from_json(now, present, schema::Unknown::refuse));
  past.history = present.history;
  return schema::to_json(past);
}

}  // namespace

Ask plant_in_past(Plant plant, Ask ask) {
  if (plant != Plant::past_off_by_one && plant != Plant::past_shows_present_rows) return ask;
  return [plant, ask](const std::string& name, const std::string& params) -> ports::Reply {
    schema::GetReadModel query;
    TRY(schema::from_json(params, query, schema::Unknown::refuse));
    return plant == Plant::past_off_by_one ? ask_off_by_one(ask, name, std::move(query))
                                           : ask_with_present_turns(ask, name, std::move(query));
  };
}

ports::FeedBatch plant_in_feed(Plant plant, const ports::FeedBatch& batch) {
  if (plant == Plant::publish_before_append)
    return std::make_shared<std::vector<ports::FeedEvent>>();
  if (plant != Plant::skip_a_sequence) return batch;
  auto rest = std::make_shared<std::vector<ports::FeedEvent>>();
  for (const ports::FeedEvent& event : *batch)
    if (event.event.sequence != kSkipped) rest->push_back(event);
  return rest;
}

}  // namespace agentrt::sim
