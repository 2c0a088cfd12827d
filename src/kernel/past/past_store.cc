#include "kernel/past/past_store.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "kernel/loader.h"
#include "schema/jobs.h"
#include "schema/outputs.h"
#include "schema/process_snapshot.h"

namespace agentrt::kernel {
namespace {

constexpr std::uint64_t kOrder = 1;  // of the only session

// Kinds of objects that snapshots and read models do not list. A session has many of them.
constexpr std::array kUnread{
    std::string_view("session"), state::kToolCallKind, state::kAttemptKind, schema::kProcessKind,
    state::kActionKind,          state::kGrantKind,    state::kTrustKind,   state::kFolderModeKind,
    schema::kOutputKind,         schema::kJobItemKind, state::kChannelKind};

[[noreturn]] void no_part_of_it() { stop("only a session's own facts and rows are of its past"); }

}  // namespace

PastStore::PastStore(store::Store& below, SessionId session, Sequence at, PastTurns turns)
    : below_(below), session_(std::move(session)), at_(at), turns_wanted_(std::move(turns)) {}

void PastStore::put(state::ObjectRow row) {
  if (row.kind == "turn") return put_turn(std::move(row));
  if (std::ranges::find(kUnread, row.kind) != kUnread.end()) return;
  std::string key = row.kind + ' ' + row.id;
  put_.insert_or_assign(std::move(key), std::move(row));
}

// One more than the window is kept, which tells that older turns follow.
void PastStore::put_turn(state::ObjectRow row) {
  if (turns_wanted_.before && row.first >= *turns_wanted_.before) return;
  if (turns_wanted_.thread && row.parent != turns_wanted_.thread->text()) return;
  std::pair key{row.first, row.id};
  turns_.insert_or_assign(std::move(key), std::move(row));
  if (turns_.size() > turns_wanted_.limit + 1) turns_.erase(turns_.begin());
}

void PastStore::finish() {
  for (auto& [_, row] : put_) rows_.put({session_, kOrder, to_row(std::move(row))});
  for (auto& [_, row] : turns_) rows_.put({session_, kOrder, to_row(std::move(row))});
  put_.clear();
  turns_.clear();
}

Result<std::vector<store::Event>> PastStore::events(const SessionId& session, Sequence after,
                                                    std::size_t events_max, std::size_t bytes_max) {
  check(session == session_, "the past is of one session");
  if (after >= at_) return std::vector<store::Event>{};
  return below_.events(session, after, std::min<std::size_t>(events_max, at_ - after), bytes_max);
}

Result<std::vector<store::Event>> PastStore::events_at(const SessionId& session,
                                                       std::span<const Sequence> sequences) {
  check(std::ranges::all_of(sequences, [this](Sequence each) { return each <= at_; }),
        "the past names no later fact");
  return below_.events_at(session, sequences);
}

Result<std::vector<Sequence>> PastStore::sent(const SessionId& session, const ThreadId& thread,
                                              Sequence after, Sequence up_to, std::size_t max) {
  return below_.sent(session, thread, after, std::min(up_to, at_), max);
}

Result<Sequence> PastStore::head(const SessionId& session) { return session == session_ ? at_ : 0; }

Result<std::optional<store::IndexEntry>> PastStore::find(const std::string& kind,
                                                         const std::string& id) {
  const store::IndexEntry* found = rows_.find(kind, id);
  if (found == nullptr) return std::nullopt;
  return *found;
}

Result<std::vector<store::IndexEntry>> PastStore::list(const store::IndexQuery& query) {
  if (query.session && *query.session != session_) return std::vector<store::IndexEntry>{};
  return rows_.list(query, kOrder);
}

Result<std::uint64_t> PastStore::count(const store::IndexQuery& query) {
  if (query.session != session_) return 0;
  return rows_.count(query, kOrder);
}

Result<std::vector<schema::ChannelCursor>> PastStore::cursors(std::span<const ChannelId>) {
  return std::vector<schema::ChannelCursor>{};
}

std::vector<Result<store::Position>> PastStore::commit(std::span<const store::Append>) {
  no_part_of_it();
}
Result<std::vector<store::Event>> PastStore::all_events(store::Position, std::size_t, std::size_t) {
  no_part_of_it();
}
Result<store::Position> PastStore::last_position() { no_part_of_it(); }
Result<std::optional<store::Snapshot>> PastStore::snapshot(const SessionId&) { no_part_of_it(); }
Result<std::vector<store::Store::OldSnapshot>> PastStore::old_snapshots(std::uint64_t,
                                                                        std::uint64_t,
                                                                        std::size_t) {
  no_part_of_it();
}
Result<std::vector<store::IndexEntry>> PastStore::due(std::size_t) { no_part_of_it(); }
Result<std::vector<SessionId>> PastStore::open_sessions() { no_part_of_it(); }
Result<std::optional<store::IdempotencyRecord>> PastStore::idempotency(const std::string&,
                                                                       const std::string&) {
  no_part_of_it();
}
Result<std::size_t> PastStore::forget_idempotency(Timestamp, std::size_t) { no_part_of_it(); }
Result<void> PastStore::rebuild(const SessionId&, const store::Indexer&) { no_part_of_it(); }
Result<bool> PastStore::pack(std::size_t) { no_part_of_it(); }
void PastStore::make_room() { no_part_of_it(); }

}  // namespace agentrt::kernel
