#include "sim/watch.h"

#include <algorithm>
#include <iterator>
#include <span>

#include <fmt/format.h>

#include "conversation/history/history.h"

namespace agentrt::sim {
namespace {

constexpr std::size_t kPageEvents = 256;
constexpr std::size_t kPageBytes = 1 << 20;

}  // namespace

void Watch::shown(const state::Session& view) {
  const state::Session& replica = replayed(view.id);
  if (replica.sequence < view.sequence)
    return fail(invariant::kVisible,
                fmt::format("the engine is shown {} as of {}, but {} is stored", view.id.text(),
                            view.sequence, replica.sequence));
  if (replica != view)
    return fail(invariant::kReplay, fmt::format("the engine is shown {} as of {} otherwise than "
                                                "its log is replayed",
                                                view.id.text(), view.sequence));
  if (auto over = check_bounds(view, settings_)) broken_(*std::move(over));
  if (auto lags = check_listed(store_, view)) broken_(*std::move(lags));
  samples_.try_emplace(view.id, settings_, limits_).first->second.offer(store_, view);
}

void Watch::published(const std::vector<ports::FeedEvent>& batch) {
  for (const ports::FeedEvent& event : batch) {
    const SessionId& session = event.event.session;
    const Sequence sequence = event.event.sequence;
    const auto found = stored(session, sequence);
    if (!found)
      return fail(invariant::kVisible, fmt::format("fact {} of {} is published and not stored",
                                                   sequence, session.text()));
    if (*found != event.event)
      return fail(invariant::kVisible,
                  fmt::format("fact {} of {} is published otherwise than it is stored", sequence,
                              session.text()));
    Sequence& last = published_[session];
    if (last != 0 && sequence != last + 1)
      return fail(invariant::kSequences, fmt::format("fact {} of {} is published after {}",
                                                     sequence, session.text(), last));
    last = sequence;
  }
}

void Watch::model_started(const ports::ModelRequest& request, const BootId& boot) {
  const std::string& id = request.id.text();
  if (!started_.insert(request.id).second)
    return fail(invariant::kEffects, fmt::format("request {} is started twice", id));
  for (const SessionId& session : sessions()) replayed(session);
  // The turn may have been interrupted since, but the request must be stored.
  const auto found = requested_.find(request.id);
  if (found == requested_.end())
    return fail(invariant::kEffects,
                fmt::format("request {} is started, but it is not stored", id));
  if (std::get<schema::ModelRequested>(found->second.payload).boot_id != boot)
    return fail(invariant::kEffects, fmt::format("request {} is of another boot", id));
  check_asked(request, found->second);
}

// Compares the request, built from the runtime's memory, with one built from the log.
void Watch::check_asked(const ports::ModelRequest& request, const schema::Fact& requested) {
  const state::Session& view = replayed(requested.ids.session);
  const state::Turn* turn = state::find_turn(view, requested.ids.turn_id);
  if (std::get<schema::ModelRequested>(requested.payload).purpose) return;  // no answer to the turn
  if (turn == nullptr || turn->ended_at) return;  // it is a turn of the past itself by now
  conversation::KeptConversations nothing(0);
  ports::HistoryQuery query;
  query.session = requested.ids.session;
  query.thread = requested.ids.thread_id;
  query.turn = requested.ids.turn_id;
  query.submitted = turn->submitted;
  query.up_to = requested.sequence;
  const state::Thread& thread = *state::find_thread(view, requested.ids.thread_id);
  query.omitted_through = thread.omitted_through;
  if (thread.rollback) query.rolled_back = thread.rollback->at;
  if (thread.fork)
    for (const schema::InheritedPart& part : thread.fork->parts)
      query.inherited.push_back(
          {part.session_id.value_or(query.session), part.thread_id, part.up_to});
  query.catalog = turn->call ? turn->call->catalog : turn->catalog;
  for (const schema::ContextBoundary& boundary : thread.boundaries)
    if (boundary.session_id || boundary.sequence < requested.sequence) {
      query.covered_in = boundary.session_id.value_or(query.session);
      query.covered_through = boundary.covers_through;
      query.continuation_ref = boundary.continuation_ref;
    }
  query.alone = turn->item.has_value();
  const auto read = conversation::history_window(store_, query, nothing);
  const auto differs = [&](const char* what) {
    fail(invariant::kAsked,
         fmt::format("request {} has other {} than its log", request.id.text(), what));
  };
  if (!read) return differs("facts");
  // The question of an item is read from the input of its job, and parts from their refs.
  std::vector<ports::Message> expected = read->messages;
  std::vector<ports::Message> asked = request.messages;
  if (asked.size() != expected.size()) return differs("messages");
  for (std::size_t i = 0; i < asked.size(); ++i)
    if (!expected[i].parts.empty() || (query.alone && read->question == i)) asked[i] = expected[i];
  if (asked != expected) return differs("messages");
  if (turn->call && request.tools != read->tools) return differs("tools");
}

void Watch::hook_started(const std::string& run, const BootId& boot) {
  if (!hooks_started_.insert(run).second)
    return fail(invariant::kHooks, fmt::format("hook run {} is started twice", run));
  for (const SessionId& session : sessions()) replayed(session);
  const auto found = hooks_.find(run);
  if (found == hooks_.end() || found->second != boot)
    fail(invariant::kHooks, fmt::format("hook run {} is started, but it is not stored", run));
}

void Watch::process_released(const ProcessId& process, const BootId& boot) {
  for (const SessionId& session : sessions()) replayed(session);
  const auto found = processes_.find(process);
  if (found == processes_.end() || found->second != boot)
    fail(invariant::kProcesses,
         fmt::format("{} is released, but its start is not stored", process.text()));
}

TurnId Watch::turn_of(const ProcessId& process) const {
  const auto found = turns_of_processes_.find(process);
  return found == turns_of_processes_.end() ? TurnId{} : found->second;
}

void Watch::file_written(const ToolCallId& call) {
  for (const SessionId& session : sessions())
    for (const auto& [_, thread] : replayed(session).threads)
      if (thread.active)
        for (const state::ToolCall& open : thread.active->tools)
          if (open.id == call && open.change) return;
  fail(invariant::kCalls, fmt::format("{} writes, and the log does not announce it", call.text()));
}

void Watch::restarted(const std::map<SessionId, std::vector<Acknowledged>>& acknowledged) {
  published_.clear();
  replicas_.clear();
  for (const auto& [session, told] : acknowledged)
    if (auto broken = check_acknowledged(log(session), told)) return broken_(*std::move(broken));
  for (const SessionId& session : sessions()) {
    if (auto broken = check_snapshot(store_, replayed(session))) return broken_(*std::move(broken));
  }
}

std::optional<schema::StoredEvent> Watch::stored(const SessionId& session, Sequence sequence) {
  if (sequence == 0) return std::nullopt;
  auto page = store_.events(session, sequence - 1, 1, 1);
  if (!page || page->empty()) return std::nullopt;
  return std::move(page->front().event);
}

std::string Watch::stored_text(const SessionId& session, Sequence sequence) {
  std::string out;
  if (const auto event = stored(session, sequence)) schema::write_event(out, *event);
  return out;
}

Sequence Watch::head(const SessionId& session) { return store_.head(session).value_or(0); }

std::vector<SessionId> Watch::sessions() {
  std::vector<SessionId> out;
  const auto rows = store_.list({.kind = "session", .session = {}, .limit = 1'000});
  if (rows)
    for (const store::IndexEntry& row : *rows) out.push_back(row.session);
  return out;
}

std::uint64_t Watch::facts_stored() { return store_.last_position().value_or(0); }

const state::Session& Watch::replayed(const SessionId& session) {
  state::Session& replica = replicas_[session];
  replica.id = session;
  for (;;) {
    const auto page = store_.events(session, replica.sequence, kPageEvents, kPageBytes);
    if (!page || page->empty()) return replica;
    for (const store::Event& event : *page) {
      const auto fact = schema::decode(event.event);
      if (!fact) {
        fail(invariant::kReplay,
             fmt::format("fact {} of {} cannot be read: {}", event.event.sequence, session.text(),
                         fact.error().message));
        return replica;
      }
      state::fold(replica, *fact);
      if (std::holds_alternative<schema::ModelRequested>(fact->payload))
        requested_[fact->ids.model_request_id] = *fact;
      else if (const auto* hook = std::get_if<schema::HookStarted>(&fact->payload))
        hooks_[hook->hook_run_id.value_or("")] = hook->boot_id.value_or(BootId{});
      else if (const auto* process = std::get_if<schema::ProcessStarted>(&fact->payload)) {
        processes_[fact->ids.process_id] = process->boot_id.value_or(BootId{});
        turns_of_processes_[fact->ids.process_id] = fact->ids.turn_id;
      }
    }
  }
}

std::vector<std::pair<SessionId, ThreadId>> Watch::open_threads() {
  std::vector<std::pair<SessionId, ThreadId>> out;
  for (const SessionId& session : sessions())
    for (const auto& [id, thread] : replayed(session).threads)
      if (thread.active) out.emplace_back(session, id);
  return out;
}

std::size_t Watch::sessions_asking() {
  std::size_t asking = 0;
  for (const SessionId& session : sessions())
    asking += std::ranges::any_of(replayed(session).threads, [](const auto& entry) {
      return entry.second.active && entry.second.active->action;
    });
  return asking;
}

std::size_t Watch::servers_asking() {
  std::size_t asking = 0;
  for (const SessionId& session : sessions())
    for (const auto& [_, thread] : replayed(session).threads)
      asking += thread.active && thread.active->action && !state::waits_for_person(*thread.active);
  return asking;
}

Checked Watch::check_at_rest(const SessionId& session, const Seen& seen, const Real& processes) {
  const Facts all = facts(session);
  if (auto broken = check_outputs(all, processes)) return broken;
  if (auto broken = check_decisions(all, seen)) return broken;
  if (auto broken = check_families(all, settings_)) return broken;
  return check_waits(all, replayed(session));
}

Checked Watch::check_past(const SessionId& session, const Ask& ask) {
  const auto samples = samples_.find(session);
  if (samples == samples_.end()) return std::nullopt;
  return samples->second.check_past(session, head(session), ask);
}

Checked Watch::check_finally(const SessionId& session,
                             const std::map<SessionId, std::vector<Acknowledged>>& acknowledged,
                             Facts& everything) {
  const Log stored = log(session);
  if (auto broken = check_sequences(stored)) return broken;
  if (const auto told = acknowledged.find(session); told != acknowledged.end())
    if (auto broken = check_acknowledged(stored, told->second)) return broken;
  const Facts all = facts(session);
  if (auto broken = check_lives(all)) return broken;
  if (auto broken = check_snapshot(store_, replayed(session))) return broken;
  if (auto broken = check_index(store_, session)) return broken;
  if (const auto samples = samples_.find(session); samples != samples_.end())
    if (auto broken = samples->second.check(store_, stored)) return broken;
  if (auto broken = check_judged(stored)) return broken;
  everything.insert(everything.end(), all.begin(), all.end());
  return std::nullopt;
}

Log Watch::log(const SessionId& session) {
  Log out;
  for (;;) {
    auto page = store_.events(session, out.size(), kPageEvents, kPageBytes);
    if (!page || page->empty()) return out;
    for (store::Event& event : *page) out.push_back(std::move(event.event));
  }
}

Facts Watch::facts(const SessionId& session) {
  Facts out;
  for (const schema::StoredEvent& event : log(session))
    if (auto fact = schema::decode(event)) out.push_back(*std::move(fact));
  return out;
}

}  // namespace agentrt::sim
