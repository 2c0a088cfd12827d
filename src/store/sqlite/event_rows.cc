#include "store/sqlite/event_rows.h"

#include <algorithm>

namespace agentrt::store {
namespace {

// Whether the time can be formatted: years 0 to 9999. A damaged row may hold any number.
bool renders(Timestamp at) {
  constexpr std::int64_t kYear0Ms = -62'167'219'200'000;
  constexpr std::int64_t kYear10000Ms = 253'402'300'800'000;
  return at.ms >= kYear0Ms && at.ms < kYear10000Ms;
}

}  // namespace

std::optional<Digest> EventRow::digest(int column) const {
  const std::string_view bytes = statement_.blob(column);
  Digest digest;
  if (bytes.size() != digest.size()) return std::nullopt;
  std::copy(bytes.begin(), bytes.end(), digest.begin());
  return digest;
}

Timestamp EventRow::at() const {
  const Timestamp stored{statement_.integer(3)};
  return renders(stored) ? stored : Timestamp{0};
}

Result<Event> EventRow::read(const SessionId& session, const RuntimeId& runtime,
                             const Digest& previous, const PackedRow* unpacked) const {
  Event out;
  out.position = position();
  schema::StoredEvent& event = out.event;
  event.session = session;
  event.sequence = sequence();
  event.at = Timestamp{statement_.integer(3)};
  event.type = statement_.text(4);
  event.schema_version = statement_.text(5);
  event.runtime = runtime;
  event.scope = statement_.text(7);

  const auto damaged = [&](std::string_view what) {
    return std::unexpected(damaged_row(session, event.sequence, what));
  };
  const std::optional<Digest> stored = hash();
  if (!stored) return damaged("it has no hash");
  if (!renders(event.at)) return damaged("its time is out of range");
  Digest expected;
  if (packed()) {
    if (!unpacked) return damaged("its payload is missing");
    event.scope = unpacked->scope;
    event.payload = unpacked->payload;
    expected = schema::chain(previous, event);
  } else if (statement_.is_null(10)) {
    const std::optional<Digest> payload_sha256 = digest(9);
    if (!payload_sha256) return damaged("its payload is missing");
    expected = chain_erased(previous, event, *payload_sha256);
    event.payload = kErasedPayload;
  } else {
    event.payload = statement_.text(10);
    expected = schema::chain(previous, event);
  }
  if (expected != *stored) return damaged("its hash does not match its bytes");
  return out;
}

}  // namespace agentrt::store
