// kernel/models/subagent_job_summary.cc: the subagents and jobs of a session, and whether those
// that are interrupted can continue.
#include <algorithm>

#include "kernel/models/models.h"
#include "state/read_models.h"

namespace agentrt::kernel::models {

using namespace schema;

namespace {

struct Subagents {
  std::uint64_t total = 0;
  std::uint64_t open = 0;  // not closed
  std::vector<SubagentSnapshot> data;
};
BOOST_DESCRIBE_STRUCT(Subagents, (), (total, open, data))

struct Jobs {
  std::uint64_t total = 0;
  std::vector<JobSummary> data;
};
BOOST_DESCRIBE_STRUCT(Jobs, (), (total, data))

// How open work of a subagent or job continues after an interruption.
struct Recovery {
  std::optional<SubagentId> subagent_id;
  std::optional<JobId> job_id;
  bool by_itself = false;
  std::optional<std::string> command;  // that continues it
};
BOOST_DESCRIBE_STRUCT(Recovery, (), (subagent_id, job_id, by_itself, command))

struct Model {
  SessionId session_id;
  Subagents subagents;
  Jobs jobs;
  std::vector<Recovery> recoverability;
};
BOOST_DESCRIBE_STRUCT(Model, (), (session_id, subagents, jobs, recoverability))

bool is_below(const Source& source, const SubagentSnapshot& subagent) {
  return !source.thread || subagent.thread_id == *source.thread ||
         std::ranges::find(subagent.ancestors, *source.thread) != subagent.ancestors.end();
}

Result<void> read_subagents(const Source& source, Subagents& out) {
  store::IndexQuery rows{.kind = std::string(state::kSubagentKind), .session = source.view.id};
  rows.limit = source.limits.model_entries_max;
  for (std::size_t scanned = 0; scanned < source.limits.events_scanned_max;) {
    TRY_ASSIGN(const auto page, source.store.list(rows));
    for (const store::IndexEntry& entry : page) {
      SubagentSnapshot subagent;
      TRY(from_json(entry.row.record, subagent, Unknown::ignore));
      if (!is_below(source, subagent)) continue;
      ++out.total;
      if (subagent.status != ChildStatus::closed) ++out.open;
      if (out.data.size() < source.limits.model_entries_max)
        out.data.push_back(std::move(subagent));
    }
    if (page.size() < rows.limit) break;
    scanned += page.size();
    rows.before = page.back().row.first;
    rows.before_id = page.back().row.id;
  }
  return {};
}

// A running job has newer counts in the view than in its row.
Result<void> read_jobs(const Source& source, Jobs& out) {
  store::IndexQuery rows{.kind = std::string(kJobKind), .session = source.view.id};
  rows.limit = source.limits.model_entries_max;
  TRY_ASSIGN(out.total, source.store.count(rows));
  TRY_ASSIGN(const auto page, source.store.list(rows));
  for (const store::IndexEntry& entry : page) {
    JobRecord record;
    TRY(from_json(entry.row.record, record, Unknown::ignore));
    const auto open = source.view.jobs.find(record.ids.job);
    if (open != source.view.jobs.end()) record = open->second.record;
    out.data.push_back(state::job_summary(source.view.id, record));
  }
  return {};
}

void add_recoveries(const Source& source, std::vector<Recovery>& out) {
  const auto room = [&] { return out.size() < source.limits.model_entries_max; };
  for (const auto& [id, subagent] : source.view.subagents) {
    const state::Thread* thread = state::find_thread(source.view, subagent.thread);
    if (!thread || !thread->resumable.value_or(false) || !room()) continue;
    if (is_below(source, state::subagent_snapshot(source.view, subagent)))
      out.push_back({id, {}, false, "resume_subagent"});
  }
  if (source.thread) return;
  for (const auto& [id, job] : source.view.jobs)
    if (room()) out.push_back({{}, id, true, {}});
}

}  // namespace

// Narrowed to a thread, it lists the subagents below it and the one that works on it; jobs belong
// to the session.
Result<std::string> subagent_job_summary(const Source& source) {
  Model model;
  model.session_id = source.view.id;
  TRY(read_subagents(source, model.subagents));
  if (!source.thread) TRY(read_jobs(source, model.jobs));
  add_recoveries(source, model.recoverability);
  return finished(model, source);
}

}  // namespace agentrt::kernel::models
