#include "sim/ledger.h"

#include <algorithm>

#include <fmt/format.h>

#include "schema/codec.h"

namespace agentrt::sim {
namespace {

// The members of replies that are compared.
struct ReplyRead {
  SessionId session_id;
  Sequence sequence = 0;
};
BOOST_DESCRIBE_STRUCT(ReplyRead, (), (session_id, sequence))
struct AsOf {
  Sequence as_of_sequence = 0;
};
BOOST_DESCRIBE_STRUCT(AsOf, (), (as_of_sequence))

Checked broken(std::string_view invariant, std::string what) {
  return Violation{std::string(invariant), std::move(what)};
}

// Temporary errors: the command may be sent again.
bool passing(Code code) {
  return code == Code::overloaded || code == Code::unavailable || code == Code::storage_full;
}

std::string_view type_of_mark(Kind kind) {
  switch (kind) {
    case Kind::submit:
      return schema::TurnSubmitted::kType;
    case Kind::update:
      return schema::SessionUpdated::kType;
    case Kind::create:
      return schema::SessionCreated::kType;
    default:
      return {};
  }
}

}  // namespace

std::shared_ptr<Attempt> Ledger::send(const Action& action, Timestamp now) {
  latest_ = std::max(latest_, now);
  auto attempt = std::make_shared<Attempt>();
  attempt->client = action.client;
  attempt->floor = floor(SessionId{fmt::format("s{}", action.session)});
  attempts_.push_back(attempt);
  if (!is_command(action.kind)) return attempt;
  attempt->order = action.order;
  Order& order = orders_[action.order];
  if (order.sent++ == 0) {
    order.action = action;
    order.request = request_of(action);
  }
  if (!order.answer) order.sent_at = order.sent == 1 ? now : std::min(order.sent_at, now);
  attempt->after_answer = order.answer.has_value();
  return attempt;
}

bool Ledger::remembered(const Order& order, Timestamp now) const {
  if (order.action.kind == Kind::submit && order.action.turn != 0) return true;
  return std::max(latest_, now) - order.sent_at < keep_ms_;
}

Checked Ledger::replied(Attempt& attempt, const ports::Reply& reply, Timestamp now,
                        const ReadFact& read) {
  latest_ = std::max(latest_, now);
  Order& order = orders_.at(attempt.order);
  if (std::exchange(attempt.answered, true))
    return broken(invariant::kAnswered, in_words(order.action) + ": was answered twice");
  if (!reply) return bad(order, attempt, reply.error(), now);
  return good(order, attempt, *reply, now, read);
}

Checked Ledger::good(Order& order, const Attempt& attempt, const std::string& reply, Timestamp now,
                     const ReadFact& read) {
  ReplyRead told;
  if (!schema::from_json(reply, told, schema::Unknown::ignore) || told.session_id.empty())
    return broken(invariant::kAnswered,
                  fmt::format("{}: the reply is {}", in_words(order.action), reply));
  const auto fact = read(told.session_id, told.sequence);
  if (!fact)
    return broken(invariant::kAcknowledged,
                  fmt::format("{}: answered with sequence {} of {}, which is not stored",
                              in_words(order.action), told.sequence, told.session_id.text()));
  if (attempt.gone) return std::nullopt;
  Sequence& floor = floors_[told.session_id];
  floor = std::max(floor, told.sequence);
  acknowledged_[told.session_id].push_back(
      {told.session_id, told.sequence, *fact, in_words(order.action)});
  ++order.answers;
  if (!order.answer) {
    order.answer = reply;
  } else if (order.repeatable() && remembered(order, now) && *order.answer != reply) {
    return broken(invariant::kRepeats, fmt::format("{}: was answered {} and is now answered {}",
                                                   in_words(order.action), *order.answer, reply));
  }
  return std::nullopt;
}

Checked Ledger::bad(const Order& order, const Attempt& attempt, const Error& error,
                    Timestamp now) const {
  if (attempt.gone || !attempt.after_answer || !order.repeatable() || passing(error.code) ||
      !remembered(order, now))
    return std::nullopt;
  return broken(invariant::kRepeats,
                fmt::format("{}: was answered {} and is now refused: {}", in_words(order.action),
                            *order.answer, error.message));
}

Checked Ledger::read_replied(Attempt& attempt, const SessionId& session,
                             const ports::Reply& reply) {
  if (std::exchange(attempt.answered, true))
    return broken(invariant::kAnswered, "a read was answered twice");
  if (!reply && reply.error().code == Code::not_found && attempt.floor > 0 &&
      reply.error().message.contains("session " + session.text()))
    return broken(invariant::kReads, fmt::format("{} is said not to be there", session.text()));
  AsOf shown;
  if (!reply || !reply->contains("asOfSequence") ||
      !schema::from_json(*reply, shown, schema::Unknown::ignore))
    return std::nullopt;
  if (shown.as_of_sequence < attempt.floor)
    return broken(invariant::kReads,
                  fmt::format("{} is shown as of {}, but {} was acknowledged before",
                              session.text(), shown.as_of_sequence, attempt.floor));
  return std::nullopt;
}

void Ledger::vanish(std::uint32_t client) {
  for (const auto& attempt : attempts_)
    if (attempt->client == client) attempt->gone = true;
}

Checked Ledger::check_reads_answered(std::int64_t sent_before_ms) const {
  for (const auto& attempt : attempts_)
    if (attempt->order == 0 && !attempt->answered && attempt->sent_ms < sent_before_ms)
      return broken(invariant::kAnswered,
                    "a read waits for its answer, though nothing but the disk's room is lacking");
  return std::nullopt;
}

Checked Ledger::check_answered() const {
  for (const auto& attempt : attempts_)
    if (!attempt->answered)
      return broken(invariant::kAnswered,
                    fmt::format("{}: no answer comes",
                                attempt->order ? in_words(orders_.at(attempt->order).action)
                                               : std::string("a read")));
  return std::nullopt;
}

Sequence Ledger::floor(const SessionId& session) const {
  const auto found = floors_.find(session);
  return found == floors_.end() ? 0 : found->second;
}

std::map<std::string, Marks> Ledger::marks() const {
  std::map<std::string, Marks> out;
  for (const auto& [number, order] : orders_) {
    const std::string_view type = type_of_mark(order.action.kind);
    if (type.empty()) continue;
    const bool once = order.repeatable() || order.action.kind == Kind::create;
    Marks marks{in_words(order.action), std::string(type), 0, once ? 1 : order.sent};
    if (order.answers > 0) marks.least = once ? 1 : order.answers;
    if (once && !remembered(order, latest_)) marks.most = order.sent;
    out.emplace(fmt::format("o{}", number), std::move(marks));
  }
  return out;
}

}  // namespace agentrt::sim
