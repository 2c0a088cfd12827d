#include "outputs/retention.h"

#include <algorithm>
#include <map>
#include <set>

#include "schema/outputs.h"

namespace agentrt::outputs {
namespace {

constexpr std::int64_t kBusyRetryMs = 1'000;

// An output that is kept.
struct Kept {
  SessionId session;
  std::string ref;
  Digest digest{};
  std::uint64_t size = 0;
  Sequence spilled = 0;
  std::optional<Timestamp> spilled_at;
  std::optional<Timestamp> expires_at;
};

// An unreadable row may name any blob, so it fails the sweep and nothing is removed.
Result<Kept> kept_of(const store::IndexEntry& entry) {
  schema::OutputRecord record;
  TRY(schema::from_json(entry.row.record, record, schema::Unknown::ignore));
  const std::string_view text = record.digest;
  const auto digest =
      digest_of_hex(text.substr(std::min(schema::kDigestPrefix.size(), text.size())));
  if (!digest) return fail(Code::internal, "the row of an output names no digest");
  return Kept{entry.session,   record.output_ref, *digest,          record.size,
              entry.row.first, record.spilled_at, record.expires_at};
}

}  // namespace

bool has_expired(std::optional<Timestamp> spilled_at, std::optional<Timestamp> expires_at,
                 const ports::Loop& clock) {
  if (!expires_at) return false;
  if (!spilled_at) return *expires_at <= clock.now();
  return clock.since(*spilled_at) >= *expires_at - *spilled_at;
}

struct Retention::Sweep {
  struct Due {
    Kept output;
    std::string reason;
  };
  std::vector<Kept> kept;
  std::vector<Due> due;
  std::size_t reported = 0;
  std::size_t under_way = 0;
  bool failed = false;
};

Retention::Retention(Parts parts) : parts_(std::move(parts)) {}
Retention::~Retention() = default;

void Retention::start() {
  auto sweep = std::make_shared<Sweep>();
  const bool taken = parts_.worker.run([this, sweep] {
    parts_.blobs.begin_sweep();
    sweep->failed = !survey(*sweep);
    if (!sweep->failed) choose(*sweep);
    parts_.loop.post([this, sweep] { expire_some(sweep); });
  });
  if (!taken) parts_.loop.after(kBusyRetryMs, [this] { start(); });
}

Result<void> Retention::survey(Sweep& sweep) {
  store::IndexQuery page;
  page.kind = schema::kOutputKind;
  page.limit = parts_.limits.page_rows;
  for (;;) {
    TRY_ASSIGN(const auto entries, parts_.store.list(page));
    for (const store::IndexEntry& entry : entries) {
      if (entry.row.status != schema::kOutputKept) continue;
      TRY_ASSIGN(Kept kept, kept_of(entry));
      sweep.kept.push_back(std::move(kept));
    }
    if (entries.size() < page.limit) return {};
    page.before = entries.back().session_order;
    page.before_first = entries.back().row.first;
    page.before_id = entries.back().row.id;
  }
}

// Moves outputs from `kept` to `due`: the expired ones, then the oldest until the rest fits.
void Retention::choose(Sweep& sweep) const {
  std::ranges::sort(sweep.kept, {}, &Kept::spilled_at);
  std::map<Digest, std::size_t> names;  // per blob: number of kept outputs that name it
  std::uint64_t bytes = 0;
  const auto past = [&](const Kept& kept) {
    return has_expired(kept.spilled_at, kept.expires_at, parts_.loop);
  };
  // Outputs that the history needs have no expiry: they live as long as their session, and the
  // limits apply to the others.
  for (const Kept& kept : sweep.kept)
    if (kept.expires_at && !past(kept) && names[kept.digest]++ == 0) bytes += kept.size;
  std::vector<Kept> staying;
  for (Kept& kept : sweep.kept) {
    const bool over = bytes > parts_.limits.bytes_max;
    if (past(kept)) {
      sweep.due.push_back({std::move(kept), "age"});
    } else if (over && kept.expires_at) {
      if (--names[kept.digest] == 0) bytes -= kept.size;
      sweep.due.push_back({std::move(kept), "room"});
    } else {
      staying.push_back(std::move(kept));
    }
  }
  sweep.kept = std::move(staying);
  parts_.metrics.output_bytes = bytes;
}

void Retention::expire_some(const std::shared_ptr<Sweep>& sweep) {
  while (sweep->reported < sweep->due.size() &&
         sweep->under_way < parts_.limits.expiries_at_once_max) {
    const Sweep::Due& due = sweep->due[sweep->reported++];
    ++sweep->under_way;
    schema::ReportOutputDue report{
        .output_ref = due.output.ref,
        .reason = due.reason,
        .size = due.output.size,
        .digest = std::string(schema::kDigestPrefix) + hex(bytes_of(due.output.digest)),
        .spilled = due.output.spilled};
    parts_.reports.report(due.output.session, std::move(report), [this, sweep] {
      --sweep->under_way;
      parts_.loop.post([this, sweep] { expire_some(sweep); });
    });
  }
  if (sweep->under_way == 0 && sweep->reported == sweep->due.size()) {
    sweep->reported = sweep->due.size() + 1;  // so that finish() is called once
    finish(sweep);
  }
}

void Retention::finish(const std::shared_ptr<Sweep>& sweep) {
  const bool taken = parts_.worker.run([this, sweep] {
    if (!sweep->failed) (void)collect(*sweep);
    parts_.blobs.end_sweep();
    parts_.loop.post([this] { parts_.loop.after(parts_.limits.sweep_ms, [this] { start(); }); });
  });
  if (!taken) parts_.loop.after(kBusyRetryMs, [this, sweep] { finish(sweep); });
}

Result<void> Retention::collect(Sweep& sweep) {
  std::set<Digest> named;
  std::set<Digest> unnamed;  // blobs of expired outputs
  for (const Kept& kept : sweep.kept) named.insert(kept.digest);
  for (const Sweep::Due& due : sweep.due) {
    // If the report could not be stored, the output is still kept.
    TRY_ASSIGN(const auto entry,
               parts_.store.find(std::string(schema::kOutputKind), due.output.ref));
    const bool expired = entry && entry->row.status == schema::kOutputExpired;
    (expired ? unnamed : named).insert(due.output.digest);
    if (expired) ++parts_.metrics.outputs_expired;
  }
  std::vector<Digest> remove;
  TRY(parts_.blobs.list([&](const store::BlobEntry& blob) {
    const bool old = parts_.loop.since(blob.written) >= parts_.limits.orphan_ms;
    if (!named.contains(blob.digest) && (old || unnamed.contains(blob.digest)))
      remove.push_back(blob.digest);
  }));
  for (const Digest& digest : remove) {
    const auto removed = parts_.blobs.remove(digest);
    if (removed && *removed) ++parts_.metrics.blobs_removed;
  }
  return {};
}

}  // namespace agentrt::outputs
