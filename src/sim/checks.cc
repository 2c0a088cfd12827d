#include "sim/checks.h"

#include <set>

#include <fmt/format.h>

#include "kernel/loader.h"
#include "validate/judge.h"

namespace agentrt::sim {
namespace {

using namespace schema;

Checked broken(std::string_view invariant, std::string what) {
  return Violation{std::string(invariant), std::move(what)};
}

// The text by which a command's fact is known: an input, a title.
std::optional<std::string> mark_of(const Fact& fact) {
  if (const auto* p = std::get_if<TurnSubmitted>(&fact.payload))
    return p->input.front().text.value_or("");
  if (const auto* p = std::get_if<SessionUpdated>(&fact.payload)) return p->title;
  if (const auto* p = std::get_if<SessionCreated>(&fact.payload)) return p->title;
  return std::nullopt;
}

std::vector<store::IndexEntry> rows_of(store::Store& store, const SessionId& session) {
  std::vector<store::IndexEntry> out;
  for (const char* kind : {"session", "turn", "task"}) {
    const auto rows = store.list({.kind = kind, .session = session, .limit = 100'000});
    if (rows) out.insert(out.end(), rows->begin(), rows->end());
  }
  return out;
}

}  // namespace

Checked check_sequences(const Log& log) {
  Timestamp last{};
  for (std::size_t i = 0; i < log.size(); ++i) {
    if (log[i].sequence != i + 1)
      return broken(
          invariant::kSequences,
          fmt::format("{} has {} in place {}", log[i].session.text(), log[i].sequence, i + 1));
    if (log[i].at < last)
      return broken(invariant::kSequences, fmt::format("{} goes back in time at {}",
                                                       log[i].session.text(), log[i].sequence));
    last = log[i].at;
  }
  return std::nullopt;
}

Checked check_acknowledged(const Log& log, const std::vector<Acknowledged>& acknowledged) {
  for (const Acknowledged& told : acknowledged) {
    if (told.sequence > log.size())
      return broken(invariant::kAcknowledged,
                    fmt::format("{} was answered with sequence {} of {}, which ends at {} now",
                                told.whose, told.sequence, told.session.text(), log.size()));
    if (log[told.sequence - 1] != told.fact)
      return broken(
          invariant::kAcknowledged,
          fmt::format("{} was answered with sequence {} of {}, which was {} and is {} now",
                      told.whose, told.sequence, told.session.text(), told.fact.type,
                      log[told.sequence - 1].type));
  }
  return std::nullopt;
}

Checked check_marks(const Facts& facts, const std::map<std::string, Marks>& marks) {
  std::map<std::pair<std::string, std::string_view>, std::uint64_t> found;
  for (const Fact& fact : facts)
    if (const auto mark = mark_of(fact)) ++found[{*mark, type_of(fact.payload)}];
  for (const auto& [mark, told] : marks) {
    const auto at = found.find({mark, told.type});
    const std::uint64_t count = at == found.end() ? 0 : at->second;
    if (count < told.least || count > told.most)
      return broken(
          invariant::kAcknowledged,
          fmt::format("{} made {} {}, and should have made {}", told.whose, count, told.type,
                      told.least == told.most ? fmt::format("{}", told.least)
                                              : fmt::format("{} to {}", told.least, told.most)));
  }
  return std::nullopt;
}

Checked check_lives(const Facts& facts) {
  std::set<std::string> submitted, ended, requested, answered;
  for (const Fact& fact : facts) {
    const std::string turn = fact.ids.turn_id.text();
    const std::string request = fact.ids.model_request_id.text();
    if (std::holds_alternative<TurnSubmitted>(fact.payload) && !submitted.insert(turn).second)
      return broken(invariant::kAcknowledged, fmt::format("turn {} was submitted twice", turn));
    if ((std::holds_alternative<TurnCompleted>(fact.payload) ||
         std::holds_alternative<TurnFailed>(fact.payload)) &&
        (!submitted.contains(turn) || !ended.insert(turn).second))
      return broken(
          invariant::kTurns,
          fmt::format("turn {} ends at {} without a beginning, or again", turn, fact.sequence));
    if (std::holds_alternative<ModelRequested>(fact.payload) && !requested.insert(request).second)
      return broken(invariant::kEffects, fmt::format("request {} is made twice", request));
    if ((std::holds_alternative<ModelCompleted>(fact.payload) ||
         std::holds_alternative<ModelFailed>(fact.payload)) &&
        (!requested.contains(request) || !answered.insert(request).second))
      return broken(invariant::kEffects,
                    fmt::format("request {} ends at {} without a beginning, or again", request,
                                fact.sequence));
  }
  return std::nullopt;
}

Checked check_waits(const Facts& facts, const state::Session& view) {
  std::set<std::string> open;
  for (const Fact& fact : facts) {
    if (std::holds_alternative<ModelRequested>(fact.payload))
      open.insert(fact.ids.model_request_id.text());
    else if (std::holds_alternative<ModelCompleted>(fact.payload) ||
             std::holds_alternative<ModelFailed>(fact.payload))
      open.erase(fact.ids.model_request_id.text());
  }
  if (!open.empty())
    return broken(invariant::kEffects, fmt::format("request {} never ends", *open.begin()));
  for (const auto& [id, thread] : view.threads) {
    if (!thread.active && thread.queue.empty()) continue;
    if (!thread.active)
      return broken(invariant::kTurns,
                    fmt::format("turns wait in {}/{} behind nothing", view.id.text(), id.text()));
    if (thread.status != Status::blocked || !thread.reason || !thread.resumable.value_or(false))
      return broken(invariant::kTurns, fmt::format("turn {} of {}/{} is {} and nothing goes on",
                                                   thread.active->ids.turn.text(), view.id.text(),
                                                   id.text(), name_of(thread.status)));
  }
  return std::nullopt;
}

Checked check_all_ended(const state::Session& view) {
  for (const auto& [id, thread] : view.threads)
    if (thread.active || !thread.queue.empty())
      return broken(invariant::kTurns,
                    fmt::format("{}/{} was resumed and still has open turns ({})", view.id.text(),
                                id.text(), name_of(thread.status)));
  if (view.tasks.active != 0)
    return broken(invariant::kTurns, fmt::format("{} counts {} active tasks and has no open turn",
                                                 view.id.text(), view.tasks.active));
  return std::nullopt;
}

Checked check_bounds(const state::Session& view, const control::Settings& settings) {
  const auto over = [&](std::string_view what, std::size_t count, std::size_t most) {
    return broken(invariant::kBounds, fmt::format("{} holds {} {}, the limit is {}", view.id.text(),
                                                  count, what, most));
  };
  if (view.threads.size() > settings.threads_max)
    return over("threads", view.threads.size(), settings.threads_max);
  if (view.traces.size() > state::kTracesMax)
    return over("traces", view.traces.size(), state::kTracesMax);
  for (const auto& [_, thread] : view.threads) {
    if (thread.queue.size() > settings.queue_turns_max)
      return over("waiting turns in a thread", thread.queue.size(), settings.queue_turns_max);
    if (thread.incidents.size() > state::kIncidentsMax)
      return over("incidents in a thread", thread.incidents.size(), state::kIncidentsMax);
  }
  return std::nullopt;
}

Checked check_snapshot(store::Store& store, const state::Session& replayed) {
  const auto loaded = kernel::load(store, replayed.id);
  if (!loaded)
    return broken(invariant::kReplay, fmt::format("{} cannot be loaded: {}", replayed.id.text(),
                                                  loaded.error().message));
  if (loaded->repaired)
    return broken(invariant::kReplay, fmt::format("the snapshot of {} cannot be used: {}",
                                                  replayed.id.text(), *loaded->repaired));
  if (loaded->view != replayed)
    return broken(invariant::kReplay,
                  fmt::format("{} from snapshot and tail differs from its replay at {}",
                              replayed.id.text(), replayed.sequence));
  return std::nullopt;
}

Checked check_index(store::Store& store, const SessionId& session) {
  const auto before = rows_of(store, session);
  const auto rebuilt = kernel::rebuild_index(store, session);
  if (!rebuilt) return broken(invariant::kIndex, rebuilt.error().message);
  const auto after = rows_of(store, session);
  if (before == after) return std::nullopt;
  for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i)
    if (before[i] != after[i])
      return broken(invariant::kIndex,
                    fmt::format("the {} row {} says {} and should say {}", after[i].row.kind,
                                after[i].row.id, before[i].row.record, after[i].row.record));
  return broken(invariant::kIndex, fmt::format("{} has {} index rows and should have {}",
                                               session.text(), before.size(), after.size()));
}

Checked check_judged(const Log& log) {
  validate::Judge judge;
  std::string text;
  for (const StoredEvent& event : log) {
    text.clear();
    write_event(text, event);
    judge.line(text);
  }
  const validate::Report& report = judge.finish();
  if (report.findings.empty()) return std::nullopt;
  const validate::Finding& first = report.findings.front();
  return broken(invariant::kJudged, fmt::format("{} at {} of {}: {}", first.rule, first.sequence,
                                                first.session, first.what));
}

}  // namespace agentrt::sim
