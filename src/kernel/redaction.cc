#include "kernel/redaction.h"

#include <set>

namespace agentrt::kernel {
namespace {

// A secret may equal one of our own words (a status, a timestamp), and replacing it would make the
// fact unreadable. So strings are redacted one by one, and those that the fact needs are kept.
std::optional<std::string> readable_part(const policy::Redactor& redactor,
                                         const schema::StoredEvent& event) {
  std::set<std::size_t> kept;
  std::size_t strings = 0;
  (void)redactor.redact_json(event.payload, [&](std::size_t) { return ++strings > 0; });
  std::optional<std::string> out;
  for (std::size_t next = 0; next < strings; ++next) {
    auto attempt = redactor.redact_json(
        event.payload, [&](std::size_t i) { return i > next || kept.contains(i); });
    if (attempt && schema::read_payload(event.type, *attempt))
      out = std::move(attempt);
    else
      kept.insert(next);
  }
  return out;
}

}  // namespace

void redact_fact(const policy::Redactor& redactor, schema::StoredEvent& event,
                 schema::Draft& draft) {
  auto redacted = redactor.redact_json(event.payload);
  if (!redacted) return;
  auto payload = schema::read_payload(event.type, *redacted);
  if (!payload) {
    redacted = readable_part(redactor, event);
    if (!redacted) return;
    payload = schema::read_payload(event.type, *redacted);
  }
  event.payload = *std::move(redacted);
  draft.payload = *std::move(payload);
}

void redact_reply(const policy::Redactor& redactor, ports::Reply& reply) {
  if (!reply) {
    if (auto redacted = redactor.redact(reply.error().message))
      reply.error().message = *std::move(redacted);
  } else if (auto redacted = redactor.redact_json(*reply)) {
    *reply = *std::move(redacted);
  }
}

bool names_secret(const policy::Redactor& redactor, const schema::Command& command) {
  const auto holds = [&redactor]<class T>(const T& name) {
    if constexpr (requires { name->text(); })
      return name && redactor.holds(name->text());
    else if constexpr (requires { name.text(); })
      return redactor.holds(name.text());
    else
      return name && redactor.holds(*name);
  };
  return std::visit(
      [&]<class C>(const C& c) {
        bool found = false;
        if constexpr (requires { c.session_id; }) found = found || holds(c.session_id);
        if constexpr (requires { c.thread_id; }) found = found || holds(c.thread_id);
        if constexpr (requires { c.turn_id; }) found = found || holds(c.turn_id);
        if constexpr (requires { c.queued_turn_id; }) found = found || holds(c.queued_turn_id);
        if constexpr (requires { c.task_id; }) found = found || holds(c.task_id);
        if constexpr (requires { c.channel_id; }) found = found || holds(c.channel_id);
        if constexpr (requires { c.idempotency_key; }) found = found || holds(c.idempotency_key);
        return found;
      },
      command);
}

}  // namespace agentrt::kernel
