#include "sim/fakes/fake_job_inputs.h"

#include <fmt/format.h>

namespace agentrt::sim {

using namespace schema;

Result<ports::CheckedItems> FakeJobInputs::check(const SessionId&, const std::string& ref) {
  const auto found = stored_.find(ref);
  if (found == stored_.end()) return fail(Code::not_found, "there is no such output");
  return ports::CheckedItems{.ref = ref, .items = found->second.size(), .stored = {}};
}

Result<ports::CheckedItems> FakeJobInputs::store(const std::vector<JobItemInput>& items) {
  if (items.empty()) return fail(Code::invalid_params, "expected at least one item");
  KeptOutput kept;
  kept.ref = OutputRef{fmt::format("out_items{}", stored_.size())};
  kept.size = items.size() * kBytesPerLine;
  kept.media_type = "application/jsonl";
  kept.encoding = "utf-8";
  kept.digest = fmt::format("{}{:064}", kDigestPrefix, stored_.size());
  stored_[kept.ref.text()] = items;
  return ports::CheckedItems{.ref = kept.ref.text(), .items = items.size(), .stored = kept};
}

Result<std::vector<JobLine>> FakeJobInputs::lines(const std::string& ref, const JobCursor& after) {
  const auto found = stored_.find(ref);
  if (found == stored_.end()) return fail(Code::internal, "the input of the job is missing");
  constexpr std::size_t kLinesMax = 5;
  std::vector<JobLine> out;
  const auto& items = found->second;
  for (std::uint64_t line = after.line; line < items.size() && out.size() < kLinesMax; ++line)
    out.push_back({.id = items[line].job_item_id.value_or(JobItemId{std::to_string(line + 1)}),
                   .line = line + 1,
                   .offset = line * kBytesPerLine,
                   .size = items[line].input.text.size(),
                   .next = (line + 1) * kBytesPerLine});
  return out;
}

Result<std::vector<JobItemRecord>> FakeJobInputs::failed(const SessionId& session, const JobId& job,
                                                         Sequence before, std::size_t limit) {
  store::IndexQuery rows{.kind = std::string(kJobItemKind), .session = session};
  rows.term = job_items_term(job, JobItemStatus::failed);
  rows.limit = limit;
  if (before > 0) rows.before = before;
  TRY_ASSIGN(const auto entries, store_->list(rows));
  std::vector<JobItemRecord> out;
  for (const store::IndexEntry& entry : entries)
    TRY(from_json(entry.row.record, out.emplace_back(), Unknown::ignore));
  return out;
}

Result<std::string> FakeJobInputs::bytes(const std::string& ref, std::uint64_t offset,
                                         std::uint64_t) {
  const auto found = stored_.find(ref);
  if (found == stored_.end()) return fail(Code::internal, "the input of the job is missing");
  return found->second.at(offset / kBytesPerLine).input.text;
}

}  // namespace agentrt::sim
