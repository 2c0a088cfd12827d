// store/sqlite/writer_pack.cc: packs completed runs of fragments into blobs, with a bounded number
// of rows per transaction.
//
// The log is scanned once, in the order of positions. A row that is not a fragment completes the
// run of fragments right before it in its session, which is then packed. The scan position is
// stored with the packs; a crash repeats at most the scan.

#include <algorithm>
#include <unordered_map>

#include "store/sqlite/pack.h"
#include "store/sqlite/writer.h"

namespace agentrt::store {

Result<bool> Writer::pack(std::size_t rows_max) {
  TRY(begin());
  auto more = pack_some(rows_max);
  if (!more || packed_rows_ == 0) {  // nothing to store; the scan position stays in memory
    roll_back();
    if (!more) looked_through_.reset();
    return more;
  }
  const auto ended = end();
  if (ended) return more;
  looked_through_.reset();
  return std::unexpected(ended.error());
}

Result<bool> Writer::pack_some(std::size_t rows_max) {
  packed_rows_ = 0;
  TRY_ASSIGN(const std::vector<Seen> page, look_through(rows_max));
  std::unordered_map<std::int64_t, const Seen*> before;  // by session: the last row of this page
  for (const Seen& row : page) {
    const Seen*& previous = before[row.session];
    const bool follows_none = previous != nullptr && !previous->fragment;
    previous = &row;
    if (!row.fragment && !follows_none) {
      TRY_ASSIGN(const bool whole, pack_run_before(row, rows_max));
      if (!whole) {
        TRY(store_progress());
        return true;
      }
    }
    looked_through_ = row.position;
  }
  if (packed_rows_ > 0) TRY(store_progress());
  return page.size() == rows_max;
}

Result<void> Writer::store_progress() {
  put_progress_.bind(1, static_cast<std::int64_t>(*looked_through_));
  const int code = put_progress_.run();
  if (code != SQLITE_DONE) return std::unexpected(give_up(code, "packing"));
  return {};
}

Result<std::vector<Writer::Seen>> Writer::look_through(std::size_t rows_max) {
  if (!looked_through_) {
    const Running running(get_progress_);
    const int code = get_progress_.step();
    if (code != SQLITE_ROW && code != SQLITE_DONE) return std::unexpected(give_up(code, "packing"));
    looked_through_ =
        code == SQLITE_ROW ? static_cast<Position>(get_progress_.integer(0)) : Position{0};
  }
  const Running running(look_);
  look_.bind(1, static_cast<std::int64_t>(*looked_through_));
  look_.bind(2, static_cast<std::int64_t>(rows_max));
  std::vector<Seen> page;
  int code = look_.step();
  for (; code == SQLITE_ROW; code = look_.step())
    page.push_back({static_cast<Position>(look_.integer(0)), look_.integer(1), look_.integer(2),
                    is_fragment(look_.text(3), look_.text(4))});
  if (code != SQLITE_DONE) return std::unexpected(give_up(code, "packing"));
  return page;
}

// Packs a run from its end to its start, blob by blob. False if a later call must continue.
Result<bool> Writer::pack_run_before(const Seen& row, std::size_t rows_max) {
  for (std::int64_t before = row.sequence;;) {
    std::vector<PackedRow> rows;
    bool runs_on = false;
    {
      const Running running(run_before_);
      run_before_.bind(1, row.session);
      run_before_.bind(2, before);
      std::size_t bytes = 0;
      int code = run_before_.step();
      for (; code == SQLITE_ROW; code = run_before_.step()) {
        const bool packed = run_before_.is_null(3);
        if (!packed && !is_fragment(run_before_.text(1), run_before_.text(2))) break;
        if (packed && rows.empty()) {  // by an earlier call
          before = run_before_.integer(0);
          continue;
        }
        PackedRow next{std::string(run_before_.text(2)), std::string(run_before_.text(3))};
        bytes += next.bytes();
        runs_on = rows.size() == kPackRowsMax || (!rows.empty() && bytes > kPackBytesMax);
        if (packed || runs_on) break;
        rows.push_back(std::move(next));
      }
      if (code != SQLITE_ROW && code != SQLITE_DONE)
        return std::unexpected(give_up(code, "packing"));
    }
    if (rows.size() < kPackRowsMin) return true;
    std::ranges::reverse(rows);
    TRY(put_run(row.session, before - static_cast<std::int64_t>(rows.size()), before - 1, rows));
    before -= static_cast<std::int64_t>(rows.size());
    if (!runs_on) return true;
    if (packed_rows_ >= rows_max) return false;
  }
}

Result<void> Writer::put_run(std::int64_t session, std::int64_t first, std::int64_t last,
                             const std::vector<PackedRow>& rows) {
  const std::string bytes = store::pack(rows);
  put_pack_.bind(1, session);
  put_pack_.bind(2, first);
  put_pack_.bind(3, last);
  put_pack_.bind_blob(4, bytes);
  int code = put_pack_.run();
  if (code != SQLITE_DONE) return std::unexpected(give_up(code, "storing a pack"));
  thin_.bind(1, session);
  thin_.bind(2, first);
  thin_.bind(3, last);
  code = thin_.run();
  if (code != SQLITE_DONE) return std::unexpected(give_up(code, "packing rows"));
  packed_rows_ += rows.size();
  return {};
}

}  // namespace agentrt::store
