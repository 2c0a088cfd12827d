// sim/ledger.h: records what clients sent and which replies they got.
//
// An order is one command as a client intends it. It may be sent several times, by clients of the
// same principal, always with the same params. An order with an idempotency key or a client-chosen
// id must have one effect and one reply, however often it is sent. The ledger keeps every reply and
// reports one that contradicts the others.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ports/control_plane.h"
#include "sim/checks.h"
#include "sim/plan.h"

namespace agentrt::sim {

// One sending of an order or read, which waits for its reply.
struct Attempt {
  std::uint32_t order = 0;
  std::uint32_t client = 0;
  bool answered = false;
  bool gone = false;          // the client has disconnected
  bool after_answer = false;  // sent after the order already had its reply
  Sequence floor = 0;  // for a read: the session's last acknowledged sequence when it was sent
  std::int64_t sent_ms = 0;  // monotonic clock
};

class Ledger {
 public:
  struct Order {
    Action action;
    Request request;
    std::uint64_t sent = 0;
    std::uint64_t answers = 0;          // successful replies
    std::optional<std::string> answer;  // the first successful reply
    Timestamp sent_at;                  // when the order of that reply was sent; keys expire

    bool repeatable() const {
      return action.key != 0 || (action.kind == Kind::submit && action.turn != 0);
    }
  };

  // `keep_ms`: how long a key is remembered. All times are monotonic.
  explicit Ledger(std::int64_t keep_ms) : keep_ms_(keep_ms) {}

  std::shared_ptr<Attempt> send(const Action& action, Timestamp now);
  // Records the reply to a command. `read` returns the stored fact at a sequence, if any.
  using ReadFact =
      std::function<std::optional<schema::StoredEvent>(const SessionId&, Sequence sequence)>;
  Checked replied(Attempt& attempt, const ports::Reply& reply, Timestamp now, const ReadFact& read);
  // Records the reply to a read.
  Checked read_replied(Attempt& attempt, const SessionId& session, const ports::Reply& reply);

  void vanish(std::uint32_t client);
  // After a crash no replies arrive.
  void forget_attempts() { attempts_.clear(); }
  // Every read sent before `sent_before_ms` has its reply.
  Checked check_reads_answered(std::int64_t sent_before_ms) const;
  // Every attempt has its reply.
  Checked check_answered() const;

  Sequence floor(const SessionId& session) const;
  const std::map<std::uint32_t, Order>& orders() const { return orders_; }
  const std::map<SessionId, std::vector<Acknowledged>>& acknowledged() const {
    return acknowledged_;
  }
  // How often each order may have left its mark in the log.
  std::map<std::string, Marks> marks() const;

 private:
  Checked good(Order& order, const Attempt& attempt, const std::string& reply, Timestamp now,
               const ReadFact& read);
  Checked bad(const Order& order, const Attempt& attempt, const Error& error, Timestamp now) const;
  bool remembered(const Order& order, Timestamp now) const;

  std::int64_t keep_ms_;
  Timestamp latest_{};
  std::map<std::uint32_t, Order> orders_;
  std::vector<std::shared_ptr<Attempt>> attempts_;
  std::map<SessionId, std::vector<Acknowledged>> acknowledged_;
  std::map<SessionId, Sequence> floors_;
};

}  // namespace agentrt::sim
