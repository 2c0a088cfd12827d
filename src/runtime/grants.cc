#include "runtime/grants.h"

#include <algorithm>

#include "state/index.h"

namespace agentrt::runtime {
namespace {

// The rows of a kind, newest first. Rows of one file or rule may stand under several sessions; the
// newest session's word comes first.
Result<std::vector<store::IndexEntry>> rows_of(store::Store& store, std::string_view kind) {
  store::IndexQuery query;
  query.kind = std::string(kind);
  query.limit = kGrantRowsMax;
  return store.list(query);
}

}  // namespace

Result<std::vector<TrustRecord>> StoredTrust::of(const std::string& workspace) {
  TRY_ASSIGN(const auto rows, rows_of(store_, state::kTrustKind));
  std::vector<TrustRecord> records;
  std::vector<std::string> withdrawn;
  for (const store::IndexEntry& entry : rows) {
    state::TrustRecord row;
    TRY(schema::from_json(entry.row.record, row, schema::Unknown::ignore));
    if (row.workspace != workspace) continue;
    if (entry.row.status == state::kInForce)
      records.push_back({row.path, row.digest});
    else
      withdrawn.push_back(row.path);
  }
  // Trust that was taken back is taken back, whichever session had given it.
  std::erase_if(records, [&](const TrustRecord& record) {
    return std::ranges::find(withdrawn, record.path) != withdrawn.end();
  });
  return records;
}

Result<schema::Policy> GrantedPolicies::policy(const std::string& cwd) {
  TRY_ASSIGN(schema::Policy policy, files_.policy(cwd));
  TRY_ASSIGN(const auto rows, rows_of(store_, state::kGrantKind));
  for (const store::IndexEntry& entry : rows) {
    if (entry.row.status != state::kInForce) continue;
    state::GrantRecord row;
    TRY(schema::from_json(entry.row.record, row, schema::Unknown::ignore));
    if (row.workspace != cwd) continue;
    if (std::ranges::find(policy.rules, row.rule) == policy.rules.end())
      policy.rules.push_back(row.rule);
  }
  return policy;
}

}  // namespace agentrt::runtime
