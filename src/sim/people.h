// sim/people.h: those who answer what turns wait for: in time or late, rightly or not, and often
// two of them at once.
//
// A plan cannot name a question, since only the run brings it up. An order to answer is about what
// waits when it is first sent; sent again, it is about the same question, whatever has become of
// it.
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
  // The command as this order sends it. REQUIRES: action.kind is answer.
  Request request(const Action& action, Watch& watch);
  // The order was told that its answer counts. Only one of those about a question may be.
  Checked told(std::uint32_t order);
  // A last answer to everything that still waits.
  std::vector<Request> last_answers(Watch& watch);

 private:
  struct Order {
    Request request;
    std::string about;
  };

  std::optional<Question> waiting_in(const SessionId& session, Watch& watch);

  std::map<std::uint32_t, Order> orders_;
  std::map<std::string, std::uint32_t> winners_;  // by action
  std::optional<Question> last_;                  // that anyone answered
  std::uint64_t last_answers_ = 0;
};

}  // namespace agentrt::sim
