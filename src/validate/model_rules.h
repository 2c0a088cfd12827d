// validate/model_rules.h: rules for model requests, their routing and cost, and items.
#pragma once

#include "schema/provisional.h"
#include "validate/rule_context.h"

namespace agentrt::validate {

class ModelRules {
 public:
  explicit ModelRules(RuleContext& hearing) : hearing_(hearing) {}

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
  void operator()(const schema::ToolStarted& p);
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
    Key text = 0;             // hash of the text so far
  };
  struct Item {
    schema::ItemKind kind = schema::ItemKind::agent_message;
    bool open = true;
    std::uint64_t bytes = 0;  // as of its last update
    Key call = 0;             // 0: it is not the item of a call
  };
  // The requests and items of a turn; dropped when the turn ends.
  struct Turn {
    std::uint64_t requests = 0;  // open
    std::uint64_t items = 0;     // open
    Key asked = 0;               // the newest request
    bool last_failed = false;    // whether the last request to end failed
    bool routed = false;
    bool not_possible = false;
    std::string provider, model;  // as selected
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

  RuleContext& hearing_;
  Table<Request> requests_;
  Table<Item> items_;
  Table<Turn> turns_;
  Table<std::optional<Timestamp>> blocked_;  // when each quota last blocked
};

}  // namespace agentrt::validate
