#include "kernel/history/changed_files.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include <fmt/format.h>

#include "schema/outputs.h"
#include "state/index.h"

namespace agentrt::kernel {

using namespace schema;
using state::ArtifactRecord;

namespace {

constexpr std::size_t kRowsTogether = 256;

std::unexpected<Error> too_many(std::string_view what, std::size_t max) {
  return fail(
      Code::limit_exceeded,
      fmt::format("the part to remove has more than {} {}: roll back in several steps", max, what));
}

// The threads of all subagents below a thread, also of closed ones.
Result<std::set<ThreadId>> threads_below(store::Store& store, const SessionId& session,
                                         const ThreadId& thread) {
  std::set<ThreadId> out;
  std::deque<ThreadId> parents{thread};
  while (!parents.empty()) {
    store::IndexQuery query{.kind = std::string(state::kSubagentKind),
                            .session = session,
                            .parent = parents.front().text()};
    query.limit = kRowsTogether;
    parents.pop_front();
    for (;;) {
      TRY_ASSIGN(const auto rows, store.list(query));
      for (const store::IndexEntry& entry : rows) {
        SubagentSnapshot subagent;
        TRY(from_json(entry.row.record, subagent, Unknown::ignore));
        if (out.insert(subagent.thread_id).second) parents.push_back(subagent.thread_id);
      }
      if (out.size() > kSubagentsScannedMax) return too_many("subagents", kSubagentsScannedMax);
      if (rows.size() < query.limit) break;
      query.before = rows.back().row.first;
      query.before_id = rows.back().row.id;
    }
  }
  return out;
}

// Tells the changes that belong to the range from those of other threads.
class Owners {
 public:
  Owners(store::Store& store, const SessionId& session, const ThreadId& thread,
         const RestoreRange& range)
      : store_(store), session_(session), thread_(thread), range_(range) {}

  Result<bool> owns(const ArtifactRecord& version) {
    if (version.thread_id == thread_) return true;
    if (!below_) {
      TRY_ASSIGN(below_, threads_below(store_, session_, thread_));
    }
    if (!below_->contains(version.thread_id)) return false;
    const auto known = turns_.find(version.turn_id);
    if (known != turns_.end()) return known->second;
    TRY_ASSIGN(const auto turn, store_.find("turn", version.turn_id.text()));
    return turns_[version.turn_id] = turn && turn->row.first > range_.after;
  }

 private:
  store::Store& store_;
  const SessionId& session_;
  const ThreadId& thread_;
  const RestoreRange& range_;
  std::optional<std::set<ThreadId>> below_;
  std::map<TurnId, bool> turns_;
};

using Versions = std::vector<ArtifactRecord>;

// Whether the bytes behind the ref are those that were written: neither deleted nor redacted.
Result<bool> is_whole(store::Store& store, const std::optional<std::string>& ref) {
  if (!ref) return false;
  TRY_ASSIGN(const auto entry, store.find(std::string(kOutputKind), *ref));
  if (!entry || entry->row.status != kOutputKept) return false;
  OutputRecord record;
  TRY(from_json(entry->row.record, record, Unknown::ignore));
  return !record.redacted.value_or(false) && !record.truncated.value_or(false);
}

bool is_complete_chain(const Versions& versions) {
  for (std::size_t i = 1; i < versions.size(); ++i)
    if (versions[i].previous_id != versions[i - 1].version_id) return false;
  return true;
}

// Finds the steps from the content now to the content before the first of the versions. Versions
// between two that left the same content are skipped, and so are those before a stored content.
Result<bool> find_steps(store::Store& store, const Versions& versions, FileRestore& restore) {
  if (!restore.to) return true;  // the file is removed
  std::size_t steps = 0;
  while (versions[steps].version_id != restore.from) ++steps;
  ++steps;
  for (std::size_t i = 0; i < steps; ++i) {
    TRY_ASSIGN(const bool whole, is_whole(store, versions[i].previous_ref));
    if (!whole) continue;
    restore.bytes = versions[i].previous_ref;
    steps = i;
  }
  if (steps > kRestoreStepsMax) return false;
  while (steps-- > 0) {
    TRY_ASSIGN(const bool whole, is_whole(store, versions[steps].diff_ref));
    if (!whole) return false;
    restore.diffs.push_back(*versions[steps].diff_ref);
  }
  return true;
}

// `versions`: those of one file in the range, oldest first.
Result<std::optional<ChangedFile>> changed_file(store::Store& store, const Versions& versions) {
  ChangedFile file;
  file.artifact = versions.front().artifact_id;
  file.restore.path = *versions.front().path;
  file.restore.from = versions.back().version_id;
  file.restore.to = versions.front().previous_id;
  if (!is_complete_chain(versions)) {
    file.state = EffectState::changed_since;
    return file;
  }
  if (file.restore.from == file.restore.to) return std::nullopt;
  TRY_ASSIGN(const bool known, find_steps(store, versions, file.restore));
  file.state = known ? EffectState::restorable : EffectState::unknown;
  return file;
}

}  // namespace

Result<std::vector<ChangedFile>> changed_files(store::Store& store, const SessionId& session,
                                               const ThreadId& thread, const RestoreRange& range) {
  std::map<std::string, Versions> by_path;  // newest first
  Owners owners(store, session, thread, range);
  store::IndexQuery query{
      .kind = std::string(state::kVersionKind), .session = session, .before = range.through + 1};
  query.limit = kRowsTogether;
  std::size_t scanned = 0;
  for (bool more = true; more;) {
    TRY_ASSIGN(const auto rows, store.list(query));
    more = rows.size() == query.limit && rows.back().row.first > range.after;
    for (const store::IndexEntry& entry : rows) {
      if (entry.row.first <= range.after) break;
      ArtifactRecord version;
      TRY(from_json(entry.row.record, version, Unknown::ignore));
      TRY_ASSIGN(const bool owned, owners.owns(version));
      if (owned && version.path) by_path[*version.path].push_back(std::move(version));
    }
    scanned += rows.size();
    if (scanned > kVersionsScannedMax) return too_many("changes of files", kVersionsScannedMax);
    if (!more) break;
    query.before = rows.back().row.first;
    query.before_id = rows.back().row.id;
  }
  std::vector<ChangedFile> out;
  for (auto& [_, versions] : by_path) {
    std::ranges::reverse(versions);
    TRY_ASSIGN(auto file, changed_file(store, versions));
    if (file) out.push_back(*std::move(file));
  }
  return out;
}

}  // namespace agentrt::kernel
