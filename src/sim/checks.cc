#include "sim/checks.h"

#include <set>

#include <fmt/format.h>

#include "base/typed_line.h"
#include "control/judging.h"
#include "kernel/loader.h"
#include "policy/shell/analysis.h"
#include "schema/tools.h"
#include "state/index.h"
#include "state/read_models.h"
#include "tools/shell.h"
#include "validate/judge.h"

namespace agentrt::sim {
namespace {

using namespace schema;

Checked broken(std::string_view invariant, std::string what) {
  return Violation{std::string(invariant), std::move(what)};
}

// The text that identifies a command's fact: an input or a title.
std::optional<std::string> mark_of(const Fact& fact) {
  if (const auto* p = std::get_if<TurnSubmitted>(&fact.payload); p && !p->input.empty())
    return p->input.front().text.value_or("");
  if (const auto* p = std::get_if<SessionUpdated>(&fact.payload)) return p->title;
  if (const auto* p = std::get_if<SessionCreated>(&fact.payload)) return p->title;
  return std::nullopt;
}

std::vector<store::IndexEntry> rows_of(store::Store& store, const SessionId& session) {
  std::vector<store::IndexEntry> out;
  for (const std::string_view kind :
       {std::string_view("session"), std::string_view("turn"), std::string_view("task"),
        state::kActionKind, state::kSubagentKind, state::kGrantKind, state::kTrustKind, kJobKind,
        kJobItemKind}) {
    const auto rows = store.list({.kind = std::string(kind), .session = session, .limit = 100'000});
    if (rows) out.insert(out.end(), rows->begin(), rows->end());
  }
  return out;
}

// --- decisions of hooks and users ---

bool decides(HookPoint point) {
  return point == HookPoint::pre_tool_use || point == HookPoint::permission_request;
}

struct Call {
  std::string args;                  // after changes by hooks
  std::optional<std::string> asked;  // digest of the last question to the user
  bool approved = false;             // the user allowed it
  bool blocked = false;              // by a hook
  std::optional<std::string> world;  // the world state shown to the user
};

// Checks the facts of a session in order and returns the first violation.
class Decisions {
 public:
  explicit Decisions(const std::map<ProcessId, std::string>& seen) : seen_(seen) {}

  Checked hear(const Fact& fact) {
    fact_ = &fact;
    return std::visit([this](const auto& payload) { return on(payload); }, fact.payload);
  }
  Checked nothing_open() const {
    if (hooks_open_.empty()) return std::nullopt;
    return broken(invariant::kHooks, fmt::format("hook run {} never ends", *hooks_open_.begin()));
  }

 private:
  template <class Other>
  Checked on(const Other&) {
    return std::nullopt;
  }
  Checked on(const ModelCompleted& p) {
    for (const RequestedCall& call : p.tool_calls) calls_[call.tool_call_id].args = call.args.text;
    return std::nullopt;
  }
  Checked on(const HookStarted& p) {
    const std::string run = p.hook_run_id.value_or("");
    hooks_open_.insert(run);
    if (hooks_.insert(run).second) return std::nullopt;
    return broken(invariant::kHooks, fmt::format("hook run {} starts twice", run));
  }
  Checked on(const HookCompleted& p) {
    if (decides(p.point)) {
      call().blocked |=
          p.block.value_or(false) || p.decision == Decision::deny || !p.continue_.value_or(true);
      if (p.updated_input) call().args = p.updated_input->text;
    }
    return hook_ended(p.hook_run_id.value_or(""));
  }
  Checked on(const HookFailed& p) {
    if (decides(p.point)) call().blocked |= p.on_failure == OnFailure::closed;
    return hook_ended(p.hook_run_id.value_or(""));
  }
  Checked hook_ended(const std::string& run) {
    if (hooks_open_.erase(run) == 1) return std::nullopt;
    return broken(invariant::kHooks, fmt::format("hook run {} ends and does not run", run));
  }
  Checked on(const ActionRequired& p) {
    if (p.executes && !p.executes->empty()) call().world = p.executes->front().digest;
    if (actions_.emplace(fact_->ids.action_id, true).second) return std::nullopt;
    return broken(invariant::kDecisions,
                  fmt::format("{} is asked twice", fact_->ids.action_id.text()));
  }
  Checked on(const ActionResolved&) {
    const auto action = actions_.find(fact_->ids.action_id);
    if (action != actions_.end() && std::exchange(action->second, false)) return std::nullopt;
    return broken(invariant::kDecisions, fmt::format("{} is answered at {} and does not wait",
                                                     fact_->ids.action_id.text(), fact_->sequence));
  }
  Checked on(const PermissionRequested& p) {
    call().asked = p.digest.value_or("");
    call().approved = false;
    return std::nullopt;
  }
  Checked on(const PermissionResolved& p) {
    call().approved = p.decision == Decision::allow && p.digest == call().asked;
    return std::nullopt;
  }
  Checked on(const ProcessStarted& p) {
    const std::string name = fact_->ids.process_id.text();
    if (call().asked && !call().approved)
      return broken(invariant::kApproved, fmt::format("{} starts without a yes to it", name));
    if (call().blocked)
      return broken(invariant::kHooks, fmt::format("{} starts, and a hook blocked it", name));
    tools::ShellArgs args;
    if (!from_json(call().args, args, Unknown::refuse) || args.command != p.command)
      return broken(invariant::kApproved,
                    fmt::format("{} is {}, and the call was {}", name, p.command, call().args));
    // A text that the user approved runs as shown; any other runs in its canonical form.
    const std::string form = policy::shell::analyse(p.command).canonical.value_or(p.command);
    if (p.executed.value_or(p.command) != (call().asked ? p.command : form))
      return broken(invariant::kApproved, fmt::format("{} runs {} for {}", name,
                                                      p.executed.value_or(p.command), p.command));
    const auto seen = seen_.find(fact_->ids.process_id);
    if (call().world && (seen == seen_.end() || seen->second != *call().world))
      return broken(invariant::kApproved,
                    fmt::format("{} starts in another world than the one that was approved", name));
    return std::nullopt;
  }

  Call& call() { return calls_[fact_->ids.tool_call_id]; }

  const std::map<ProcessId, std::string>& seen_;
  const Fact* fact_ = nullptr;
  std::map<ToolCallId, Call> calls_;
  std::map<ActionId, bool> actions_;  // true: it is open
  std::set<std::string> hooks_, hooks_open_;
};

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

Checked check_decisions(const Facts& facts, const std::map<ProcessId, std::string>& seen) {
  Decisions decisions{seen};
  for (const Fact& fact : facts)
    if (auto wrong = decisions.hear(fact)) return wrong;
  return decisions.nothing_open();
}

Checked check_outputs(const Facts& facts, const std::map<ProcessId, RealProcess>& processes) {
  std::map<ProcessId, std::string> shown;
  for (const Fact& fact : facts) {
    const ProcessId& id = fact.ids.process_id;
    if (const auto* output = std::get_if<ProcessOutput>(&fact.payload))
      shown[id] += output->text.value_or("");
    const auto* failed = std::get_if<ProcessFailed>(&fact.payload);
    if (!failed && !std::holds_alternative<ProcessCompleted>(fact.payload) &&
        !std::holds_alternative<ProcessTerminated>(fact.payload))
      continue;
    const auto real = processes.find(id);
    if (real == processes.end()) continue;
    // Without a duration the runtime did not look for it, because its turn had ended first.
    if (failed && failed->error && failed->error->category == Category::lost &&
        failed->duration_ms && real->second.recorded)
      return broken(invariant::kOutput,
                    fmt::format("{} had ended, and is said to be lost", id.text()));
    if (real->second.background && shown[id] != real->second.printed)
      return broken(invariant::kOutput, fmt::format("{} printed \"{}\", and its log shows \"{}\"",
                                                    id.text(), real->second.printed, shown[id]));
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
    if (thread.active->action &&
        (thread.status == Status::waiting_permission || thread.status == Status::waiting_input))
      continue;
    if (thread.status != Status::blocked || !thread.reason || !thread.resumable.value_or(false))
      return broken(invariant::kTurns,
                    fmt::format("turn {} of {}/{} is {} and nothing continues it",
                                thread.active->ids.turn.text(), view.id.text(), id.text(),
                                name_of(thread.status)));
  }
  return std::nullopt;
}

Checked check_families(const Facts& facts, const control::Settings& settings) {
  state::Session view;
  policy::RuleSets sets;
  for (const Fact& fact : facts) {
    view.id = fact.ids.session;
    const auto* started = std::get_if<ToolStarted>(&fact.payload);
    const state::Subagent* child = started ? state::subagent_of(view, fact.ids.thread_id) : nullptr;
    if (child && started->policy && started->policy->text == R"("allowed")") {
      const state::Turn& turn = *view.threads.at(child->thread).active;
      const state::Thread& parent = view.threads.at(child->parent);
      const auto& above = parent.active ? parent.active : parent.last;
      state::ToolCall call;
      call.tool = started->tool_name;
      call.args = started->safe_args.value_or(Json{"{}"});
      if (above && control::judge_call(
                       view, control::effective_policy(view, *above, settings.home, sets), call)
                           .decision == Decision::deny)
        return broken(invariant::kFamilies,
                      fmt::format("{} calls {} in turn {}, which its parent may not",
                                  child->id.text(), call.tool, turn.ids.turn.text()));
    }
    state::fold(view, fact);
  }
  for (const auto& [id, thread] : view.threads) {
    if (!thread.subagent) continue;
    const std::size_t open = thread.queue.size() + (thread.active ? 1 : 0);
    const state::Subagent* subagent = state::find_subagent(view, *thread.subagent);
    if (!subagent && open > 0)
      return broken(invariant::kFamilies,
                    fmt::format("{} is closed and still works", thread.subagent->text()));
    if (subagent && (subagent->open != open || !view.threads.contains(subagent->parent)))
      return broken(invariant::kFamilies,
                    fmt::format("the parent of {} knows of {} open delegations, and it has {}",
                                subagent->id.text(), subagent->open, open));
  }
  return std::nullopt;
}

Checked check_cancelled(const Facts& facts, bool asked_for) {
  for (const schema::Fact& fact : facts)
    if (!asked_for && std::holds_alternative<schema::TaskCancelled>(fact.payload))
      return broken(invariant::kHangups, "a turn was cancelled, and nobody asked for it");
  return std::nullopt;
}

Checked check_typed(std::int64_t pressed_ms, std::int64_t drawn_ms) {
  if (pressed_ms >= drawn_ms + TypedLine::kQuietMs) return std::nullopt;
  return broken(invariant::kTyped, fmt::format("a key was pressed at {} ms, the question drawn at "
                                               "{} ms",
                                               pressed_ms, drawn_ms));
}

Checked check_no_open_work(const state::Session& view) {
  for (const auto& [id, thread] : view.threads)
    if (thread.active && thread.status != schema::Status::blocked)
      return broken(invariant::kLeaving, fmt::format("turn {} of {} is open",
                                                     thread.active->ids.turn.text(), id.text()));
  if (!view.processes.empty())
    return broken(invariant::kLeaving, fmt::format("process {} runs in the background",
                                                   view.processes.begin()->first.text()));
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
  if (view.subagents.size() > settings.subagents_kept_max)
    return over("subagents", view.subagents.size(), settings.subagents_kept_max);
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
  const auto loaded = kernel::load(store, replayed.id, control::Settings{}.task_depth_max);
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

Checked check_listed(store::Store& store, const state::Session& view) {
  const auto row = store.find("session", view.id.text());
  if (!row || !*row) return broken(invariant::kListed, view.id.text() + " is not listed");
  SessionSummary listed;
  if (!from_json((*row)->row.record, listed, Unknown::ignore))
    return broken(invariant::kListed, view.id.text() + " has a row that cannot be read");
  SessionSummary is = state::session_summary(view);
  is.updated_at = listed.updated_at;
  if (to_json(is) == to_json(listed)) return std::nullopt;
  const Sequence changed = (*row)->row.changed;
  std::string since;  // the facts that should have changed the row
  if (const auto page = store.events(view.id, changed, 20, 1 << 20))
    for (const store::Event& event : *page) since += ' ' + event.event.type;
  return broken(invariant::kListed,
                fmt::format("at {} the list says {} and should say {} after{}", view.sequence,
                            to_json(listed), to_json(is), since));
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
