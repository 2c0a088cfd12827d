// store/sqlite/event_rows.h: reads rows of the event table as events and verifies their hashes.
#pragma once

#include <cstdint>
#include <optional>

#include "store/row_check.h"
#include "store/sqlite/database.h"
#include "store/sqlite/pack.h"

namespace agentrt::store {

// The current row of a statement with the columns of Reader's event queries.
class EventRow {
 public:
  explicit EventRow(const Statement& statement) : statement_(statement) {}

  Position position() const { return static_cast<Position>(statement_.integer(0)); }
  std::int64_t session_key() const { return statement_.integer(1); }
  Sequence sequence() const { return static_cast<Sequence>(statement_.integer(2)); }
  std::int64_t runtime_key() const { return statement_.integer(6); }
  // nullopt: the column does not hold a digest.
  std::optional<Digest> hash() const { return digest(8); }

  // The row's time; the epoch if it is outside the years 0 to 9999.
  Timestamp at() const;

  // Whether ids and payload are stored in a pack (pack.h).
  bool packed() const { return statement_.is_null(9) && statement_.is_null(10); }

  // Returns the event if the row's hash matches `previous` and its bytes, otherwise damaged_row().
  // `unpacked`: the content of a packed row; null: not found in a pack.
  Result<Event> read(const SessionId& session, const RuntimeId& runtime, const Digest& previous,
                     const PackedRow* unpacked) const;

 private:
  std::optional<Digest> digest(int column) const;

  const Statement& statement_;
};

}  // namespace agentrt::store
