#include "kernel/lanes.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "kernel/lane.h"
#include "kernel/redaction.h"

namespace agentrt::kernel {
namespace {

// A turn that waits for a user needs no view in memory. The answer loads it again, and so does its
// expiry, for which the engine keeps a timer.
bool has_running_turn(const state::Session& view) {
  return state::job_runs(view) || std::ranges::any_of(view.threads, [](const auto& entry) {
           const state::Thread& thread = entry.second;
           return thread.active && thread.status != schema::Status::blocked &&
                  !thread.active->action;
         });
}

bool makes_token(const schema::Command& command) {
  return std::holds_alternative<schema::ConnectChannel>(command) ||
         std::holds_alternative<schema::ReconnectChannel>(command);
}

void add_random(std::string& to, std::uint64_t number) {
  for (int shift = 0; shift < 64; shift += 8) to += static_cast<char>(number >> shift);
}

bool asks_person(const state::Session& view) {
  return std::ranges::any_of(view.threads, [](const auto& entry) {
    return entry.second.active && entry.second.active->action;
  });
}

template <class Observer, class... What>
void tell(const Observer& observer, const What&... what) {
  if (observer) observer(what...);
}

// Whether a retry of the append may succeed. A first conflict with the log is resolved by loading
// the session again; a second consecutive one is permanent.
bool append_may_pass(const Error& error, std::optional<Code> failed_before) {
  return may_pass(error) || error.code == Code::storage_full ||
         (error.code == Code::conflict && failed_before != Code::conflict);
}

Error blocked_error(const SessionId& session, const Error& cause) {
  std::string details = R"({"sessionId":)";
  schema::write_string(details, session.text());
  details += R"(,"blocked":true,"reason":)";
  schema::write_string(details, cause.message);
  details += '}';
  return {Code::internal,
          fmt::format("session {} is blocked because its facts cannot be stored: {}; restore the "
                      "store from a backup, or use another session",
                      session.text(), cause.message),
          std::move(details)};
}

// Encoding a fact replaces invalid UTF-8 in its texts by U+FFFD. Where that may have happened, the
// draft becomes what the stored bytes say, since its texts have other sizes.
void take_replacements(const schema::StoredEvent& event, schema::Draft& draft) {
  if (event.payload.find("\xef\xbf\xbd") == std::string::npos) return;
  if (auto payload = schema::read_payload(event.type, event.payload))
    draft.payload = *std::move(payload);
}

}  // namespace

bool may_pass(const Error& error) {
  return error.code == Code::unavailable || error.code == Code::overloaded;
}

Lanes::Lanes(Parts parts) : parts_(std::move(parts)) {}
Lanes::~Lanes() = default;

Lanes::Lane& Lanes::lane_of(const SessionId& session) {
  auto& slot = lanes_[session];
  if (!slot) {
    slot = std::make_unique<Lane>(session);
    ++parts_.metrics.sessions_in_memory;
  }
  if (slot->idle) {
    idle_.erase(*slot->idle);
    slot->idle.reset();
  }
  return *slot;
}

void Lanes::put(const SessionId& session, Work work) {
  if (const auto blocked = blocked_.find(session); blocked != blocked_.end())
    if (!std::holds_alternative<ReadWork>(work))
      return finish(work, std::unexpected(blocked_error(session, blocked->second)));
  Lane& lane = lane_of(session);
  if (auto* command = std::get_if<CommandWork>(&work)) {
    if (lane.commands >= parts_.limits.lane_queue_max) {
      ++parts_.metrics.commands_overloaded;
      command->reply_to(
          fail(Code::overloaded, "too many commands are waiting for this session: try again"));
      return;
    }
    ++lane.commands;
  }
  if (has_asker(work)) lane.hold.reset();  // retry now, so that the caller gets a current answer
  lane.queue.push_back(std::move(work));
  advance(lane);
}

void Lanes::put_next(const SessionId& session, ReadWork read) {
  Lane& lane = lane_of(session);
  lane.queue.emplace_front(std::move(read));
  // Not within the reply: the lane continues when all replies are sent.
  parts_.loop.post([this, session] { advance(lane_of(session)); });
}

void Lanes::recover(const SessionId& session, ports::Step done) {
  auto read = [this, session, done = std::move(done)](auto view) mutable {
    if (view || !may_pass(view.error())) return done();
    parts_.loop.after(
        parts_.limits.storage_retry_ms,
        [this, session, done = std::move(done)]() mutable { recover(session, std::move(done)); });
  };
  put(session, ReadWork{.read = std::move(read), .after_reports = true});
}

void Lanes::release(const SessionId& session) {
  const auto found = lanes_.find(session);
  if (found == lanes_.end() || !found->second->held) return;
  Lane& lane = *found->second;
  lane.held = false;
  lane.state = LaneState::ready;
  advance(lane);
}

control::Inputs Lanes::inputs(const Lane& lane, Timestamp now) {
  return {.now = now,
          .ids = FreshIds{now, parts_.entropy.draw()},
          .boot = parts_.boot,
          .settings = &parts_.settings,
          .session = lane.id,
          .request = {},
          .principal = {},
          .trace = {},
          .params_hash = {},
          .named = {},
          .tasks = &lane.tasks,
          .generation = parts_.store.generation(),
          .passed_since = [&loop = parts_.loop](Timestamp stamp) { return loop.since(stamp); }};
}

void Lanes::advance(Lane& lane) {
  if (lane.state == LaneState::unloaded) {
    const bool idle =
        lane.queue.empty() || (lane.hold && std::ranges::all_of(lane.queue, is_report));
    return idle ? rest(lane) : load(lane);
  }
  if (lane.state != LaneState::ready) return;
  if (lane.failures > 0 && !serve_reads(lane)) return;
  if (lane.hold) return rest(lane);
  if (lane.repaired) return commit_repair(lane);
  auto batch = std::make_unique<Batch>();
  std::size_t decided = 0;
  while (!lane.queue.empty() && decided < parts_.limits.decisions_per_batch_max) {
    if (batch->writes() && std::holds_alternative<ReadWork>(lane.queue.front())) break;
    // After a failure, reports are retried alone, so that their success does not depend on
    // commands.
    if (batch->writes() && lane.failures > 0 && has_asker(lane.queue.front())) break;
    if (!lane.gathered)
      if (control::Needs needs = needs_of_work(lane.view, lane.queue.front());
          !has_needs(lane, needs)) {
        if (batch->writes()) break;
        return read_needs(lane, std::move(needs));
      }
    Work work = std::move(lane.queue.front());
    lane.queue.pop_front();
    if (auto* read = std::get_if<ReadWork>(&work)) {
      if (read->holds) {
        lane.held = true;
        lane.state = LaneState::reading;
      }
      read->read(&lane.view);
      if (lane.state != LaneState::ready) return;
      continue;
    }
    take(lane, *batch, std::move(work));
    ++decided;
  }
  if (batch->writes()) return commit(lane, std::move(batch));
  if (!lane.queue.empty())
    parts_.loop.post([this, id = lane.id] { advance(lane_of(id)); });
  else
    rest(lane);
}

// Answers reads ahead of reports that cannot be stored, from the view that the log gives. False:
// a reader has put more work on the lane, which has advanced it.
bool Lanes::serve_reads(Lane& lane) {
  for (std::size_t i = 0; i < lane.queue.size();) {
    auto* waiting = std::get_if<ReadWork>(&lane.queue[i]);
    if (!waiting || waiting->after_reports) {
      ++i;
      continue;
    }
    ReadWork read = std::move(*waiting);
    lane.queue.erase(lane.queue.begin() + static_cast<std::ptrdiff_t>(i));
    read.read(&lane.view);
    if (lane.state != LaneState::ready) return false;
  }
  return true;
}

void Lanes::take(Lane& lane, Batch& batch, Work work) {
  const Timestamp now = std::max(parts_.loop.now(), lane.view.at);
  control::Inputs in = inputs(lane, now);
  if (auto* report = std::get_if<ReportWork>(&work)) {
    ++parts_.metrics.reports;
    in.request = report->request;
    in.named.add(std::exchange(lane.gathered, std::nullopt).value_or(control::LaneReads{}));
    const auto* silent = std::get_if<schema::ReportTaskSilent>(&report->report);
    if (silent && !parts_.clock.silent(silent->task, silent->run))
      return settle(lane, batch, control::Unchanged{}, std::move(work), now);
    auto decision = control::decide(lane.view, report->report, std::move(in));
    return settle(lane, batch, std::move(decision), std::move(work), now);
  }
  CommandWork& command = std::get<CommandWork>(work);
  --lane.commands;
  in.request = command.caller.request.empty() ? in.ids.next<RequestId>() : command.caller.request;
  in.trace = command.caller.trace;
  in.principal = command.caller.principal;
  in.bound = command.caller.session.has_value();
  in.params_hash = command.params_hash;
  in.approver = command.caller.folders.any;
  in.sender = command.caller.sender;
  in.channel_named = !command.caller.channel.empty();
  if (in.channel_named)
    in.channel = command.caller.channel;
  else if (command.caller.channels)
    in.channel = command.caller.channels->of(lane.id);
  if (makes_token(command.command))
    for (int i = 0; i < 4; ++i) add_random(in.secret, parts_.entropy.draw());
  in.named = command.named;
  in.named.add(std::exchange(lane.gathered, std::nullopt).value_or(control::LaneReads{}));
  auto decision = control::decide(lane.view, command.command, std::move(in));
  if (const auto* progress = std::get_if<schema::AppendTaskProgress>(&command.command))
    if (!std::holds_alternative<Error>(decision))
      parts_.clock.beat(progress->task_id, progress->run_id);
  if (park(lane, command, decision)) return;
  settle(lane, batch, std::move(decision), std::move(work), now);
}

void Lanes::settle(Lane& lane, Batch& batch, control::Decided decision, Work work, Timestamp now) {
  ports::Reply reply;
  if (auto* accepted = std::get_if<control::Accepted>(&decision)) {
    reply = std::move(accepted->reply);
    append_facts(lane, batch, std::move(accepted->facts), now);
    std::ranges::move(accepted->cursors, std::back_inserter(batch.append.cursors));
  } else if (auto* unchanged = std::get_if<control::Unchanged>(&decision)) {
    reply = std::move(unchanged->reply);
  } else {
    reply = std::unexpected(std::get<Error>(std::move(decision)));
  }
  if (parts_.redactor) redact_reply(*parts_.redactor, reply);
  if (auto* command = std::get_if<CommandWork>(&work)) {
    const auto key = schema::idempotency_key_of(command->command);
    if (reply && key && lane.view.exists())
      batch.append.idempotency.push_back(
          {.principal = command->caller.principal,
           .key = *key,
           .command = std::string(schema::traits_of(command->command).name),
           .params_hash = command->params_hash,
           .reply = *reply,
           .at = now});
    ++(reply ? parts_.metrics.commands_accepted : parts_.metrics.commands_refused);
  }
  if (batch.writes()) {
    batch.settled.push_back({std::move(work), std::move(reply)});
  } else {
    finish(work, std::move(reply));
  }
}

void Lanes::append_facts(Lane& lane, Batch& batch, std::vector<schema::Draft> facts,
                         Timestamp now) {
  check(!facts.empty(), "an accepted command makes facts");
  if (batch.append.events.empty()) {
    batch.append.session = lane.id;
    batch.append.expected = lane.view.sequence;
  }
  for (schema::Draft& draft : facts) {
    const Sequence sequence = lane.view.sequence + 1;
    state::complete(lane.view, draft);
    batch.append.events.push_back(schema::encode(draft, sequence, now, parts_.store.runtime()));
    // What is folded and indexed is what is stored, or a replay would differ.
    take_replacements(batch.append.events.back(), draft);
    if (parts_.redactor) redact_fact(*parts_.redactor, batch.append.events.back(), draft);
    const schema::Fact fact{sequence, now, std::move(draft.ids), std::move(draft.payload)};
    state::fold(lane.view, fact);
    if (std::holds_alternative<schema::ChannelDisconnected>(fact.payload) &&
        !state::find_channel(lane.view, fact.ids.channel_id))
      batch.append.cursors_dropped.push_back(fact.ids.channel_id);
    parts_.conversations.add(fact);
    state::fold_tasks(lane.tasks, fact, batch.tasks);
    for (state::ObjectRow& row : state::index(lane.view, fact)) batch.put(to_row(std::move(row)));
  }
}

void Lanes::add_snapshot(Lane& lane, Batch& batch) {
  batch.snapshot = std::make_shared<const state::Session>(lane.view);
  batch.append.snapshot = store::Snapshot{
      .sequence = lane.view.sequence, .fold_version = state::kFoldVersion, .bytes = {}};
  std::vector<schema::Draft> facts;
  facts.emplace_back(schema::SessionScope{lane.id},
                     schema::SnapshotUpdated{lane.view.sequence, state::kFoldVersion});
  append_facts(lane, batch, std::move(facts), lane.view.at);
  ++parts_.metrics.snapshots_stored;
}

void Lanes::commit(Lane& lane, std::unique_ptr<Batch> batch) {
  const bool due = lane.view.sequence - lane.view.snapshot >= parts_.limits.snapshot_every_facts;
  if (due && !batch->append.events.empty() && !batch->append.snapshot) add_snapshot(lane, *batch);
  if (batch->append.events.empty()) {
    batch->append.session = lane.id;
    batch->append.expected = lane.view.sequence;
  }
  for (state::ObjectRow& row : state::task_rows(lane.tasks, batch->tasks))
    batch->put(to_row(std::move(row)));
  lane.state = LaneState::committing;
  const Sequence stored = batch->append.expected;
  store::Append append = std::move(batch->append);
  Committer::Complete encode;
  if (batch->snapshot)
    encode = [view = std::move(batch->snapshot)](store::Append& with) {
      with.snapshot->bytes = schema::to_json(*view);
    };
  parts_.committer.append(
      std::move(append),
      [this, &lane, batch = std::move(batch)](Result<store::Position> result,
                                              store::Append done) mutable {
        if (result)
          committed(lane, *batch, *result, std::move(done));
        else
          failed(lane, *batch, result.error());
      },
      std::move(encode));
  tell(parts_.observers.begun, lane.view, stored);
}

void Lanes::committed(Lane& lane, Batch& batch, store::Position first, store::Append append) {
  lane.state = LaneState::ready;
  lane.failures = 0;
  lane.last_failure.reset();
  for (Batch::Settled& settled : batch.settled) {
    const auto* command = std::get_if<CommandWork>(&settled.work);
    if (command && settled.reply) tell(parts_.observers.accepted, command->command);
    if (!command) finish(settled.work, std::move(settled.reply));
  }
  // Before the replies, so that a client with a reply finds the work running. Before the feed,
  // because the work belongs to a turn that subscribers will see.
  tell(parts_.observers.committed, lane.view);
  publish(first, std::move(append.events));
  for (Batch::Settled& settled : batch.settled)
    if (std::holds_alternative<CommandWork>(settled.work))
      finish(settled.work, std::move(settled.reply));
  bool free = false;
  for (const TaskId& id : batch.tasks.tasks) {
    const state::Task& task = *lane.tasks.find(id);
    parts_.clock.stored(lane.id, task);
    tell(parts_.observers.task_stored, task);
    free = free || is_free(task);
  }
  if (free) unpark(lane);
  drop_tasks(lane);
  if (lane.queue.empty())
    rest(lane);
  else
    advance(lane);
}

void Lanes::publish(store::Position first, std::vector<schema::StoredEvent> stored) {
  parts_.metrics.facts_appended += stored.size();
  if (stored.empty()) return;
  auto events = std::make_shared<std::vector<ports::FeedEvent>>();
  events->reserve(stored.size());
  for (schema::StoredEvent& event : stored) {
    if (event.type == schema::TurnCompleted::kType) ++parts_.metrics.turns_completed;
    if (event.type == schema::TurnFailed::kType) ++parts_.metrics.turns_failed;
    events->push_back({first++, std::move(event)});
  }
  parts_.publish(events);
}

// The view ran ahead of the log, so it is discarded. The callers of this append get the error, and
// if it concerns the whole disk, so do those that wait. Reports stay and are retried, unless
// retrying them alone cannot help.
void Lanes::failed(Lane& lane, Batch& batch, const Error& error) {
  parts_.conversations.discard(lane.id);
  tell(parts_.observers.failed, lane.id);
  std::deque<Work> refused;
  std::deque<Work> kept;
  for (Batch::Settled& settled : batch.settled)
    (has_asker(settled.work) ? refused : kept).push_back(std::move(settled.work));
  const bool reports_alone = refused.empty();
  const bool whole_disk = may_pass(error) || error.code == Code::storage_full;
  for (Work& work : lane.queue)
    (whole_disk && has_asker(work) ? refused : kept).push_back(std::move(work));
  lane.queue = std::move(kept);
  lane.commands = static_cast<std::size_t>(std::ranges::count_if(
      lane.queue, [](const Work& work) { return std::holds_alternative<CommandWork>(work); }));
  lane.view = {};
  lane.tasks.clear();
  lane.gathered.reset();
  lane.state = LaneState::unloaded;
  if (reports_alone && !append_may_pass(error, std::exchange(lane.last_failure, error.code))) {
    block(lane, error);
  } else {
    hold(lane);
    if (std::ranges::any_of(lane.queue, has_asker)) lane.hold.reset();
  }
  advance(lane);  // `lane` may be gone after this
  for (Work& work : refused) finish(work, std::unexpected(error));
}

// No append of this session can be stored: its reports are dropped, its effects are ended, and its
// commands are refused until the next start. Reads still see the log.
void Lanes::block(Lane& lane, const Error& error) {
  lane.failures = 0;
  lane.last_failure.reset();
  lane.hold.reset();
  lane.commands = 0;
  std::deque<Work> queue = std::exchange(lane.queue, {});
  std::deque<Work> dropped;
  for (Work& work : queue)
    (std::holds_alternative<ReadWork>(work) ? lane.queue : dropped).push_back(std::move(work));
  if (blocked_.size() >= parts_.limits.blocked_sessions_max) blocked_.erase(blocked_.begin());
  if (blocked_.try_emplace(lane.id, error).second) {
    ++parts_.metrics.sessions_blocked;
    tell(parts_.observers.blocked, lane.id, error);
  }
  for (Work& work : dropped)
    parts_.loop.post([work = std::move(work), refusal = blocked_error(lane.id, error)]() mutable {
      finish(work, std::unexpected(std::move(refusal)));
    });
}

// Delays the retry of reports; the delay grows with each consecutive failure.
void Lanes::hold(Lane& lane) {
  std::int64_t delay = parts_.limits.storage_retry_ms;
  for (std::size_t i = 0; i < lane.failures && delay < parts_.limits.storage_retry_max_ms; ++i)
    delay *= 2;
  delay = std::min(delay, parts_.limits.storage_retry_max_ms);
  ++lane.failures;
  lane.hold = ++holds_;
  parts_.loop.after(delay, [this, id = lane.id, number = holds_] {
    const auto found = lanes_.find(id);
    if (found == lanes_.end() || found->second->hold != number) return;
    Lane& held = lane_of(id);
    held.hold.reset();
    advance(held);
  });
}

void Lanes::load(Lane& lane) {
  lane.state = LaneState::loading;
  const bool taken = parts_.readers.run([this, id = lane.id] {
    auto result = kernel::load(parts_.store, id, parts_.settings.task_depth_max);
    parts_.loop.post([this, id, result = std::move(result)]() mutable {
      loaded(lane_of(id), std::move(result));
    });
  });
  if (!taken)
    parts_.loop.after(parts_.limits.storage_retry_ms, [this, id = lane.id] { load(lane_of(id)); });
}

// The session's log cannot be read: every caller gets the error, and the next one loads it again.
// Reports stay on the lane if the error may pass.
void Lanes::load_failed(Lane& lane, const Error& error) {
  lane.state = LaneState::unloaded;
  std::deque<Work> refused;
  std::deque<Work> kept;
  for (Work& work : lane.queue) (is_report(work) ? kept : refused).push_back(std::move(work));
  lane.queue = std::move(kept);
  lane.commands = 0;
  if (!lane.queue.empty() && may_pass(error))
    hold(lane);
  else if (!lane.queue.empty())
    block(lane, error);
  if (lane.queue.empty()) lane.failures = 0;
  rest(lane);  // `lane` may be gone after this
  for (Work& work : refused) {
    if (auto* read = std::get_if<ReadWork>(&work))
      read->read(std::unexpected(error));
    else
      finish(work, std::unexpected(error));
  }
}

void Lanes::loaded(Lane& lane, Result<Loaded> result) {
  if (!result) return load_failed(lane, result.error());
  ++parts_.metrics.sessions_loaded;
  lane.view = std::move(result->view);
  lane.tasks.clear();
  keep_tasks(lane, std::move(result->tasks));
  lane.state = LaneState::ready;
  if (blocked_.contains(lane.id)) return advance(lane);
  if (!lane.view.processes.empty() || !lane.view.jobs.empty())
    tell(parts_.observers.committed, lane.view);
  if (state::interrupted_work(lane.view, parts_.boot) && !waits_to_restart(lane))
    lane.queue.push_front(ReportWork{schema::ReportRestarted{}, {}, {}, {}});
  // The engine must watch the expiry of an open question, and no commit may follow that would tell
  // it.
  if (asks_person(lane.view)) tell(parts_.observers.committed, lane.view);
  lane.repaired = std::move(result->repaired);
  advance(lane);
}

// Whether the report is already queued, because its append failed and put it back.
bool Lanes::waits_to_restart(const Lane& lane) {
  return std::ranges::any_of(lane.queue, [](const Work& work) {
    const auto* report = std::get_if<ReportWork>(&work);
    return report && std::holds_alternative<schema::ReportRestarted>(report->report);
  });
}

void Lanes::commit_repair(Lane& lane) {
  ++parts_.metrics.snapshots_repaired;
  auto batch = std::make_unique<Batch>();
  std::vector<schema::Draft> facts;
  facts.emplace_back(
      schema::SessionScope{lane.id},
      schema::SnapshotRepaired{lane.view.sequence, *std::exchange(lane.repaired, {})});
  append_facts(lane, *batch, std::move(facts), std::max(parts_.loop.now(), lane.view.at));
  add_snapshot(lane, *batch);
  commit(lane, std::move(batch));
}

void Lanes::rest(Lane& lane) {
  if (!lane.parked.empty()) return;
  const bool unused =
      lane.state == LaneState::unloaded || (lane.state == LaneState::ready && !lane.view.exists());
  if (unused && lane.queue.empty()) {
    if (lane.idle) idle_.erase(*lane.idle);
    --parts_.metrics.sessions_in_memory;
    lanes_.erase(SessionId{lane.id});
    return;
  }
  if (lane.state != LaneState::ready || !lane.queue.empty() || lane.idle ||
      has_running_turn(lane.view))
    return;
  lane.idle = idle_.insert(idle_.end(), &lane);
  while (idle_.size() > parts_.limits.idle_sessions_max) {
    Lane* oldest = idle_.front();
    idle_.pop_front();
    --parts_.metrics.sessions_in_memory;
    lanes_.erase(SessionId{oldest->id});
  }
}

}  // namespace agentrt::kernel
