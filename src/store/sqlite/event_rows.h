// store/sqlite/event_rows.h: rows of the event table as events, each held against its hash.
#pragma once

#include <cstdint>
#include <optional>

#include "store/row_check.h"
#include "store/sqlite/database.h"
#include "store/sqlite/pack.h"

namespace agentrt::store {

// Reads the current row of a statement over the columns of Reader's event queries.
class EventRow {
 public:
  explicit EventRow(const Statement& statement) : statement_(statement) {}

  Position position() const { return static_cast<Position>(statement_.integer(0)); }
  std::int64_t session_key() const { return statement_.integer(1); }
  Sequence sequence() const { return static_cast<Sequence>(statement_.integer(2)); }
  std::int64_t runtime_key() const { return statement_.integer(6); }
  // Absent when the column does not hold a digest.
  std::optional<Digest> hash() const { return digest(8); }

  // The time of the row; that of the epoch where it cannot be written as text.
  Timestamp at() const;

  // Its ids and payload are in a pack.
  bool packed() const { return statement_.is_null(9) && statement_.is_null(10); }

  // The event, if the row's hash is that of `previous` and its bytes; damaged_row() if not.
  // `unpacked`: what the pack has of a packed row; null where it has nothing.
  Result<Event> read(const SessionId& session, const RuntimeId& runtime, const Digest& previous,
                     const PackedRow* unpacked) const;

 private:
  std::optional<Digest> digest(int column) const;

  const Statement& statement_;
};

}  // namespace agentrt::store
