// validate/model_rules.h: requests to models, the routing and the cost that explain them, and the
// items that a simple client lives on.
#pragma once

#include "schema/provisional.h"
#include "validate/hearing.h"

namespace agentrt::validate {

class ModelRules {
 public:
  explicit ModelRules(Hearing& hearing) : hearing_(hearing) {}

  void operator()(const schema::ModelRequested& p);
  void operator()(const schema::ModelDelta& p);
  void operator()(const schema::ReasoningDelta& p);
  void operator()(const schema::ModelCompleted& p);
  void operator()(const schema::ModelFailed& p);
  void operator()(const schema::TaskAttemptCompleted& p);
  void operator()(const schema::TaskAttemptFailed& p);
  void operator()(const schema::ItemStarted& p);
  void operator()(const schema::ItemUpdated& p);
  void operator()(const schema::ItemCompleted& p);
  void operator()(const schema::RoutingCandidatesResolved& p);
  void operator()(const schema::RoutingDecided& p);
  void operator()(const schema::RoutingSingleCandidate& p);
  void operator()(const schema::RoutingFallbackApplied& p);
  void operator()(const schema::RoutingNotPossible& p);
  void operator()(const schema::CostRecorded& p);
  void operator()(const schema::QuotaLow& p);
  void operator()(const schema::QuotaBlocked& p);
  void operator()(const schema::LimitChanged& p);
  void operator()(const schema::TurnCompleted& p);
  void operator()(const schema::TurnFailed& p);

 private:
  struct Request {
    std::string id;
    bool open = true;
    bool billed = false;
    std::uint64_t deltas = 0;
    std::uint64_t bytes = 0;  // of the text so far
    Key text = 0;             // hash of it
  };
  struct Item {
    schema::ItemKind kind = schema::ItemKind::agent_message;
    bool open = true;
  };
  // What a turn has asked and shown; dropped with the turn.
  struct Turn {
    std::uint64_t requests = 0;  // open ones
    std::uint64_t items = 0;     // open ones
    Key asked = 0;               // the request made last
    bool last_failed = false;    // the request that ended last
    bool routed = false;
    bool not_possible = false;
    std::string provider, model;  // selected ones
  };

  Key request_key() const;
  Request* open_request(std::string_view what);
  void close_request(Request& request);
  void selected(const schema::RoutingOutcome& p);
  void check_routing(const schema::ModelRequested& p, Turn& turn);
  Item* open_item();
  void attempt_ended();
  void turn_ended();
  Turn& turn() { return turns_.at(hearing_.key(hearing_.head().turn_id)); }
  Key quota_key(const std::string& limit, const std::string& scope) const;

  Hearing& hearing_;
  Table<Request> requests_;
  Table<Item> items_;
  Table<Turn> turns_;
  Table<std::optional<Timestamp>> blocked_;  // quotas that have blocked, and when
};

}  // namespace agentrt::validate
