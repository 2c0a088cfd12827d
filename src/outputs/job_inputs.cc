#include "outputs/job_inputs.h"

#include <algorithm>

#include <fmt/format.h>

#include "outputs/item_lines.h"
#include "outputs/retention.h"

namespace agentrt::outputs {

using namespace schema;

namespace {

constexpr std::size_t kCheckBytes = 1 << 20;  // read at once by check()

std::unexpected<Error> no_such(const std::string& ref) {
  return fail(Code::not_found,
              fmt::format("itemsRef: there is no output {} in this session: upload it again", ref));
}

}  // namespace

Result<std::shared_ptr<StoredJobInputs::Open>> StoredJobInputs::open(const std::string& ref) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(open_, ref, &Open::ref);
    if (found != open_.end()) {
      open_.splice(open_.begin(), open_, found);
      return open_.front();
    }
  }
  TRY_ASSIGN(const auto entry, parts_.store.find(std::string(kOutputKind), ref));
  if (!entry) return no_such(ref);
  OutputRecord record;
  TRY(from_json(entry->row.record, record, Unknown::ignore));
  if (entry->row.status == kOutputExpired)
    return fail(
        Code::expired,
        fmt::format("itemsRef: output {} has expired and was deleted: upload it again", ref));
  const auto digest = digest_of_hex(
      std::string_view(record.digest).substr(std::min(kDigestPrefix.size(), record.digest.size())));
  if (!digest) return fail(Code::internal, fmt::format("the row of output {} is damaged", ref));
  auto opened = std::make_shared<Open>();
  opened->ref = ref;
  opened->session = entry->session;
  TRY_ASSIGN(opened->reader, parts_.blobs.open(*digest, record.size));
  const std::lock_guard lock(mutex_);
  open_.push_front(opened);
  if (open_.size() > kOpenMax) open_.pop_back();
  return opened;
}

Result<std::string> StoredJobInputs::read(Open& open, std::uint64_t offset, std::size_t bytes_max) {
  const std::lock_guard lock(open.mutex);
  return open.reader->read(std::min(offset, open.reader->size()), bytes_max);
}

Result<ports::CheckedItems> StoredJobInputs::check(const SessionId& session,
                                                   const std::string& ref) {
  TRY_ASSIGN(const auto entry, parts_.store.find(std::string(kOutputKind), ref));
  if (!entry || entry->session != session) return no_such(ref);
  OutputRecord record;
  TRY(from_json(entry->row.record, record, Unknown::ignore));
  if (entry->row.status == kOutputExpired ||
      has_expired(record.spilled_at, record.expires_at, parts_.clock))
    return fail(Code::expired,
                fmt::format("itemsRef: output {} has expired: upload it again", ref));
  TRY_ASSIGN(const auto input, open(ref));
  ItemCheck check;
  const auto named = [&](const Error& error) {
    return fail(error.code, "itemsRef: " + error.message);
  };
  for (std::uint64_t at = 0;;) {
    TRY_ASSIGN(const std::string piece, read(*input, at, kCheckBytes));
    if (piece.empty()) break;
    at += piece.size();
    if (auto added = check.add(piece); !added) return named(added.error());
  }
  auto items = check.finish();
  if (!items) return named(items.error());
  return ports::CheckedItems{.ref = ref, .items = *items, .stored = {}};
}

Result<ports::CheckedItems> StoredJobInputs::store(const std::vector<JobItemInput>& items) {
  const std::string lines = to_lines(items);
  ItemCheck check;
  const auto named = [&](const Error& error) {
    return fail(error.code, "items: " + error.message);
  };
  if (auto added = check.add(lines); !added) return named(added.error());
  auto count = check.finish();
  if (!count) return named(count.error());
  ports::OutputMeta meta;
  meta.media_type = "application/jsonl";
  TRY_ASSIGN(KeptOutput kept, parts_.keeper.keep_bytes(lines, meta));
  std::string ref = kept.ref.text();
  return ports::CheckedItems{.ref = std::move(ref), .items = *count, .stored = std::move(kept)};
}

Result<std::vector<JobLine>> StoredJobInputs::lines(const std::string& ref,
                                                    const JobCursor& after) {
  TRY_ASSIGN(const auto input, open(ref));
  for (std::size_t bytes = kPieceBytes;; bytes *= 4) {
    TRY_ASSIGN(const std::string piece, read(*input, after.offset, bytes));
    const bool last = piece.size() < bytes;
    TRY_ASSIGN(auto lines, item_lines(piece, after, last, kLinesMax));
    if (!lines.empty() || last) return lines;
  }
}

Result<std::vector<JobItemRecord>> StoredJobInputs::failed(const SessionId& session,
                                                           const JobId& job, Sequence before,
                                                           std::size_t limit) {
  store::IndexQuery rows;
  rows.kind = std::string(kJobItemKind);
  rows.session = session;
  rows.term = job_items_term(job, JobItemStatus::failed);
  rows.limit = limit;
  if (before > 0) rows.before = before;
  TRY_ASSIGN(const auto entries, parts_.store.list(rows));
  std::vector<JobItemRecord> out;
  for (const store::IndexEntry& entry : entries) {
    TRY(from_json(entry.row.record, out.emplace_back(), Unknown::ignore));
  }
  return out;
}

Result<std::string> StoredJobInputs::bytes(const std::string& ref, std::uint64_t offset,
                                           std::uint64_t size) {
  if (size > kJobItemBytesMax) return fail(Code::internal, "an item is larger than its limit");
  TRY_ASSIGN(const auto input, open(ref));
  TRY_ASSIGN(std::string bytes, read(*input, offset, size));
  if (bytes.size() < size) return fail(Code::internal, "the input of the job ends too early");
  return bytes;
}

}  // namespace agentrt::outputs
