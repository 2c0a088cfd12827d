// sim/people.h: simulated people who answer the actions that turns wait for: in time or late,
// validly or not, and often two at once.
//
// A plan cannot name an action, since actions arise only during the run. An order to answer refers
// to an action that is open when the order is first sent, or now and then to the one answered last.
// If the order is sent again, it refers to the same action, whatever its state.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/plan.h"
#include "sim/watch.h"

namespace agentrt::sim {

class People {
 public:
  // The command that this order sends. REQUIRES: action.kind is answer.
  Request request(const Action& action, Watch& watch);
  // The runtime accepted this order's answer. At most one order per action may be accepted.
  Checked told(std::uint32_t order);
  // The question that the session waits for.
  std::optional<Question> waiting_in(const SessionId& session, Watch& watch);
  // A plain answer to the question, as typed at a terminal, under an order of its own.
  std::pair<std::uint32_t, Request> typed(const Question& question, bool yes);
  // A final answer to every open action.
  std::vector<Request> last_answers(Watch& watch);

 private:
  struct Order {
    Request request;
    std::string about;
  };
  static constexpr std::uint32_t kFirstTyped = 1'000'000;  // orders of plans are far below

  std::map<std::uint32_t, Order> orders_;
  std::map<std::string, std::uint32_t> winners_;  // by action
  std::optional<Question> last_;                  // the one answered last
  std::uint64_t last_answers_ = 0;
  std::uint32_t last_typed_ = kFirstTyped;
};

}  // namespace agentrt::sim
