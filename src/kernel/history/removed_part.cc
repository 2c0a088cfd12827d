#include "kernel/history/removed_part.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "kernel/history/changed_files.h"
#include "kernel/turn_ends.h"
#include "schema/tools.h"
#include "state/index.h"
#include "state/read_models.h"
#include "tools/registry.h"

namespace agentrt::kernel {

using namespace schema;
using control::RemovedPart;
using conversation::Range;

namespace {

constexpr std::size_t kFactsTogether = 256;
constexpr std::size_t kRowsTogether = 128;
constexpr std::size_t kTextShownBytes = 120;

template <class T>
void add_newest(std::vector<T>& list, T value) {
  if (list.size() == kRollbackListMax) list.erase(list.begin());
  list.push_back(std::move(value));
}

// The beginning of the command, on one line.
std::string shown(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  const std::string_view kept = utf8_prefix(line, kTextShownBytes);
  return std::string(kept) + (kept.size() < text.size() ? " …" : "");
}

// A call that ran and cannot be undone; nullopt: it did not run, or has no such effect.
std::optional<RollbackEffect> effect_of(const Fact& fact, const ToolStarted& started) {
  const std::string policy = started.policy ? started.policy->text : "";
  if (policy == R"("denied")" || policy == R"("not_evaluated")") return std::nullopt;
  RollbackEffect effect{.kind = EffectKind::command,
                        .state = EffectState::not_undoable,
                        .turn_id = fact.ids.turn_id,
                        .tool_call_id = fact.ids.tool_call_id,
                        .tool_name = started.tool_name};
  switch (tools::runner_of(started.tool_name)) {
    case tools::Runner::process:
      if (started.safe_args)
        if (const auto command = tools::command_in(started.tool_name, started.safe_args->text))
          effect.text = shown(command->text);
      return effect;
    case tools::Runner::server:
      effect.kind = EffectKind::mcp_call;
      return effect;
    case tools::Runner::file:
    case tools::Runner::session:
    case tools::Runner::person:
    case tools::Runner::web:
    case tools::Runner::agent:
      return std::nullopt;
  }
  return std::nullopt;
}

// Reads the facts of the conversation after the turn: the turns that ended, and their calls.
Result<void> read_facts(store::Store& store, const std::vector<Range>& ranges, Sequence end,
                        RemovedPart& out) {
  std::set<std::string> tools;
  std::size_t scanned = 0;
  for (auto range = ranges.rbegin(); range != ranges.rend(); ++range)
    for (Sequence after = std::max(range->after, end); after < range->up_to;) {
      TRY_ASSIGN(const auto sequences,
                 store.sent(range->session, range->thread, after, range->up_to, kFactsTogether));
      TRY_ASSIGN(const auto events, store.events_at(range->session, sequences));
      for (const store::Event& each : events) {
        const bool ends =
            each.event.type == TurnCompleted::kType || each.event.type == TurnFailed::kType;
        if (!ends && each.event.type != ToolStarted::kType) continue;
        TRY_ASSIGN(const Fact fact, decode(each.event));
        if (ends) {
          ++out.turn_count;
          add_newest(out.turns, fact.ids.turn_id);
        } else if (const auto* started = std::get_if<ToolStarted>(&fact.payload)) {
          tools.insert(started->tool_name);
          auto effect = effect_of(fact, *started);
          if (!effect) continue;
          ++out.call_count;
          add_newest(out.calls, *std::move(effect));
        }
      }
      scanned += sequences.size();
      if (scanned > kRemovedFactsMax)
        return fail(Code::limit_exceeded,
                    fmt::format("the part to remove has more than {} facts: fork_thread continues "
                                "from the turn in a new thread",
                                kRemovedFactsMax));
      if (sequences.size() < kFactsTogether) break;
      after = sequences.back();
    }
  for (const std::string& tool : tools)
    if (out.tools.size() < kRollbackListMax) out.tools.push_back(tool);
  return {};
}

// The newest compaction of the conversation that ends with this fact.
Result<std::optional<ContextBoundary>> boundary_at(store::Store& store, const SessionId& session,
                                                   const ThreadId& thread, Sequence end) {
  store::IndexQuery query{.kind = std::string(kCompactionKind),
                          .session = session,
                          .before = end + 1,
                          .parent = thread.text()};
  query.limit = kRowsTogether;
  for (;;) {
    TRY_ASSIGN(const auto rows, store.list(query));
    if (rows.empty()) return std::nullopt;
    TRY_ASSIGN(const auto live,
               conversation::live_ranges(store, session, thread, end, rows.back().row.first - 1));
    for (const store::IndexEntry& entry : rows) {
      if (!conversation::contains(live, entry.row.first)) continue;
      ContextBoundary boundary;
      TRY(from_json(entry.row.record, boundary, Unknown::ignore));
      return boundary;
    }
    if (rows.size() < query.limit) return std::nullopt;
    query.before = rows.back().row.first;
  }
}

void look_at_files(ports::FileDigests* files, const SessionId& session,
                   const control::Needs::Removal& removal, const std::vector<ChangedFile>& changed,
                   RemovedPart& out) {
  ports::FileDigestQuery query{.session = session,
                               .workspace = removal.workspace,
                               .additional_roots = removal.additional_roots,
                               .paths = {}};
  for (const RollbackFile& file : out.files) query.paths.push_back(file.path);
  const auto found = files ? files->digests(query) : std::vector<ports::FileDigest>{};
  for (std::size_t i = 0; i < out.files.size(); ++i) {
    EffectState& state = out.files[i].state;
    if (state != EffectState::restorable) continue;
    if (i >= found.size() || !found[i].known)
      state = EffectState::unknown;
    else if (found[i].digest != changed[i].restore.from)
      state = EffectState::changed_since;
  }
}

Result<void> read_files(store::Store& store, const SessionId& session,
                        const control::Needs::Removal& removal, Sequence end,
                        ports::FileDigests* files, RemovedPart& out) {
  TRY_ASSIGN(const Sequence head, store.head(session));
  TRY_ASSIGN(const auto changed, changed_files(store, session, removal.thread, {end, head}));
  out.file_count = changed.size();
  for (const ChangedFile& file : changed) {
    if (file.state == EffectState::restorable) ++out.restorable;
    if (out.files.size() == kRollbackListMax) continue;
    out.files.push_back({file.restore.path, file.state});
    out.artifacts.push_back(file.artifact);
  }
  look_at_files(files, session, removal, changed, out);
  return {};
}

// The ids of the newest rows after the fact that `belongs` selects.
template <class AnyId, class Belongs>
Result<std::vector<AnyId>> rows_after(store::Store& store, store::IndexQuery query, Sequence end,
                                      Belongs belongs) {
  std::vector<AnyId> out;
  query.limit = kRowsTogether;
  for (;;) {
    TRY_ASSIGN(const auto rows, store.list(query));
    for (const store::IndexEntry& entry : rows) {
      if (entry.row.first <= end || out.size() == kRollbackListMax) return out;
      TRY_ASSIGN(const bool selected, belongs(entry));
      if (selected) out.emplace_back(entry.row.id);
    }
    if (rows.size() < query.limit) return out;
    query.before = rows.back().row.first;
    query.before_id = rows.back().row.id;
  }
}

Result<bool> job_is_of(store::Store& store, const store::IndexEntry& entry,
                       const ThreadId& thread) {
  JobRecord job;
  TRY(from_json(entry.row.record, job, Unknown::ignore));
  TRY_ASSIGN(const auto row, store.find(std::string(state::kTaskKind), job.ids.task.text()));
  if (!row) return false;
  TRY_ASSIGN(const state::Task task, state::decode_task(row->row.record));
  return task.thread_id == thread;
}

Result<void> read_target(store::Store& store, const SessionId& session, const TurnId& turn,
                         Sequence end, RemovedPart& out) {
  TRY_ASSIGN(const auto entry, store.find("turn", turn.text()));
  if (!entry) return fail(Code::internal, fmt::format("turn {} has no row", turn.text()));
  TRY(from_json(entry->row.record, out.target, Unknown::ignore));
  out.target.last_sequence = end;
  TRY_ASSIGN(const auto events, store.events_at(session, std::array{entry->row.first}));
  TRY_ASSIGN(const Fact fact, decode(events.front().event));
  if (const auto* submitted = std::get_if<TurnSubmitted>(&fact.payload))
    out.options = submitted->options;
  return {};
}

}  // namespace

Result<RemovedPart> read_removed_part(store::Store& store, const SessionId& session,
                                      const control::Needs::Removal& removal, const TurnId& turn,
                                      Sequence end, ports::FileDigests* files) {
  RemovedPart out;
  TRY(read_target(store, session, turn, end, out));
  TRY_ASSIGN(const Sequence head, store.head(session));
  TRY_ASSIGN(const auto ranges,
             conversation::live_ranges(store, session, removal.thread, head, end - 1));
  out.in_conversation = conversation::contains(ranges, end);
  if (!out.in_conversation) return out;
  TRY(read_facts(store, ranges, end, out));
  TRY(read_files(store, session, removal, end, files, out));
  if (end < removal.boundaries_from) {
    TRY_ASSIGN(out.boundary, boundary_at(store, session, removal.thread, end));
  }
  TRY_ASSIGN(out.subagents,
             rows_after<SubagentId>(store,
                                    {.kind = std::string(state::kSubagentKind),
                                     .session = session,
                                     .parent = removal.thread.text()},
                                    end, [](const auto&) -> Result<bool> { return true; }));
  TRY_ASSIGN(out.jobs, rows_after<JobId>(
                           store, {.kind = std::string(kJobKind), .session = session}, end,
                           [&](const auto& row) { return job_is_of(store, row, removal.thread); }));
  return out;
}

Result<bool> RemovedTurns::is_removed(const TurnSnapshot& turn) {
  if (!ended(turn.status)) return false;
  // Rows of earlier versions do not have the end: its last answer is before it.
  const Sequence end = turn.last_sequence.value_or(
      std::max(turn.first_sequence, state::sequence_in(turn.output_ref)));
  const auto known = threads_.find(turn.thread_id);
  if (known != threads_.end() && known->second.down_to < end)
    return !conversation::contains(known->second.live, end);
  TRY_ASSIGN(const Sequence head, store_.head(session_));
  TRY_ASSIGN(auto live, conversation::live_ranges(store_, session_, turn.thread_id, head, end - 1));
  const bool removed = !conversation::contains(live, end);
  threads_[turn.thread_id] = {std::move(live), end - 1};
  return removed;
}

}  // namespace agentrt::kernel
