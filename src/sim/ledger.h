// sim/ledger.h: what clients asked for and what they were told.
//
// An order is one command as a client means it: sent once or many times, by one client or several
// of the same principal, always with the same params. An order with a key or an id of the caller's
// choice may be repeated and must have one effect and one answer. The ledger keeps every answer and
// says at once when one cannot stand beside the others.
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

// A client's wait for one reply.
struct Attempt {
  std::uint32_t order = 0;
  std::uint32_t client = 0;
  bool answered = false;
  bool gone = false;          // nobody waits for the reply any more
  bool after_answer = false;  // sent when the order had its answer already
  Sequence floor = 0;  // of a read: what had been acknowledged of the session when it was sent
  std::int64_t sent_ms = 0;  // by the clock that does not jump
};

class Ledger {
 public:
  struct Order {
    Action action;
    Request request;
    std::uint64_t sent = 0;
    std::uint64_t answers = 0;          // good ones
    std::optional<std::string> answer;  // the first good one
    Timestamp sent_at;                  // when that was asked for: a key may be forgotten later

    bool repeatable() const {
      return action.key != 0 || (action.kind == Kind::submit && action.turn != 0);
    }
  };

  // How long a key is remembered. All times are those of a clock that is never set.
  explicit Ledger(std::int64_t keep_ms) : keep_ms_(keep_ms) {}

  std::shared_ptr<Attempt> send(const Action& action, Timestamp now);
  // Takes the reply to a command. `read` gives the stored fact at a place, or nothing.
  using ReadFact =
      std::function<std::optional<schema::StoredEvent>(const SessionId&, Sequence sequence)>;
  Checked replied(Attempt& attempt, const ports::Reply& reply, Timestamp now, const ReadFact& read);
  // Takes the reply to a read.
  Checked read_replied(Attempt& attempt, const SessionId& session, const ports::Reply& reply);

  void vanish(std::uint32_t client);
  // After a crash no reply comes.
  void forget_attempts() { attempts_.clear(); }
  // No read that was sent before `sent_before_ms` still waits for its answer.
  Checked check_reads_answered(std::int64_t sent_before_ms) const;
  // Every attempt has its answer.
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
