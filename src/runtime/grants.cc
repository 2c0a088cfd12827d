#include "runtime/grants.h"

#include <algorithm>
#include <functional>
#include <map>

#include "state/index.h"

namespace agentrt::runtime {
namespace {

// The rows of a kind, newest first. Several sessions may have rows for the same file or rule; that
// of the newest session comes first.
Result<std::vector<store::IndexEntry>> rows_of(store::Store& store, std::string_view kind) {
  store::IndexQuery query;
  query.kind = std::string(kind);
  query.limit = kGrantRowsMax;
  return store.list(query);
}

// Whether taking back `gone` means `given` too: in its own folder, or in every one.
bool takes_back(const state::GrantRecord& gone, const state::GrantRecord& given) {
  return gone.rule.rule == given.rule.rule && (!gone.rule.cwd || gone.rule.cwd == given.rule.cwd) &&
         given.at <= gone.at;
}

// The mode that a person chose for the folder, where no file sets one.
Result<void> add_folder_mode(store::Store& store, const std::string& cwd, schema::Policy& policy) {
  if (policy.mode_origin) return {};
  TRY_ASSIGN(const auto entry, store.find(std::string(state::kFolderModeKind), cwd));
  if (!entry) return {};
  state::FolderModeRecord row;
  TRY(schema::from_json(entry->row.record, row, schema::Unknown::ignore));
  policy.mode = row.mode;
  policy.mode_origin = schema::RuleOrigin::always;
  return {};
}

}  // namespace

Result<std::vector<config::TrustRecord>> trust_in(const std::vector<store::IndexEntry>& rows,
                                                  const std::string& workspace) {
  std::vector<state::TrustRecord> given;
  std::map<std::string, Timestamp> withdrawn;  // time of the last withdrawal, by path
  for (const store::IndexEntry& entry : rows) {
    state::TrustRecord row;
    TRY(schema::from_json(entry.row.record, row, schema::Unknown::ignore));
    // Compare by the file's path, because a session may name its workspace through a symlink.
    if (!row.path.starts_with(workspace + "/")) continue;
    if (entry.row.status == state::kInForce)
      given.push_back(std::move(row));
    else
      withdrawn[row.path] = std::max(withdrawn[row.path], row.at);
  }
  std::ranges::sort(given, std::greater{}, &state::TrustRecord::at);
  // What was taken back is taken back, whichever session had given it, until it is given anew.
  std::vector<config::TrustRecord> records;
  for (const state::TrustRecord& row : given)
    if (const auto gone = withdrawn.find(row.path);
        gone == withdrawn.end() || gone->second < row.at)
      records.push_back({row.path, row.digest, row.effects});
  return records;
}

Result<std::vector<config::TrustRecord>> StoredTrust::of(const std::string& workspace) {
  TRY_ASSIGN(const auto rows, rows_of(store_, state::kTrustKind));
  return trust_in(rows, workspace);
}

Result<schema::Policy> GrantedPolicies::policy(const std::string& cwd) {
  TRY_ASSIGN(schema::Policy policy, files_.policy(cwd));
  TRY_ASSIGN(const auto rows, rows_of(store_, state::kGrantKind));
  std::vector<state::GrantRecord> given;
  std::vector<state::GrantRecord> withdrawn;
  for (const store::IndexEntry& entry : rows) {
    state::GrantRecord row;
    TRY(schema::from_json(entry.row.record, row, schema::Unknown::ignore));
    if (row.workspace != cwd) continue;
    if (entry.row.status != state::kInForce) {
      withdrawn.push_back(std::move(row));
      continue;
    }
    schema::bind_old_grant(row.rule);
    given.push_back(std::move(row));
  }
  // The size of a policy is limited. The newest grants come first; omitted ones are asked for
  // again.
  std::size_t bytes = 0;
  for (const schema::PolicyRule& rule : policy.rules) bytes += rule_bytes(rule);
  for (state::GrantRecord& row : given) {
    const bool gone = std::ranges::any_of(
        withdrawn, [&](const state::GrantRecord& each) { return takes_back(each, row); });
    if (gone || std::ranges::find(policy.rules, row.rule) != policy.rules.end()) continue;
    if (!row.rule.granted_at) row.rule.granted_at = row.at;
    bytes += rule_bytes(row.rule);
    if (policy.rules.size() >= schema::kPolicyRulesMax || bytes > schema::kPolicyBytesMax) break;
    policy.rules.push_back(row.rule);
  }
  TRY(add_folder_mode(store_, cwd, policy));
  return policy;
}

}  // namespace agentrt::runtime
