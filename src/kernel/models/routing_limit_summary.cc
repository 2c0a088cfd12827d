// kernel/models/routing_limit_summary.cc: which models a turn could use, which one it got and why,
// and what it may cost.
#include "kernel/models/models.h"

namespace agentrt::kernel::models {

using namespace schema;

namespace {

struct Model {
  SessionId session_id;
  Json task_profile;
  std::optional<std::uint64_t> candidate_count;
  std::optional<bool> single_candidate;
  std::optional<std::string> selected_provider;
  std::optional<std::string> selected_model;
  std::optional<std::string> decision_reason;
  std::vector<std::string> fallbacks;
  Json cost;
  Json limits;
  Json rates;
  Honesty limit_state = Honesty::not_applicable;
};
BOOST_DESCRIBE_STRUCT(Model, (),
                      (session_id, task_profile, candidate_count, single_candidate,
                       selected_provider, selected_model, decision_reason, fallbacks, cost, limits,
                       rates, limit_state))

// The newest turn of the session, or of the thread that the model is narrowed to.
const state::Turn* newest_turn(const Source& source) {
  const state::Turn* newest = nullptr;
  for (const auto& [id, thread] : source.view.threads)
    for (const auto* turn : {&thread.active, &thread.last})
      if (*turn && includes(source, id) && (!newest || (*turn)->submitted > newest->submitted))
        newest = &**turn;
  return newest;
}

}  // namespace

Result<std::string> routing_limit_summary(const Source& source) {
  const RoutingLimitSummary& routing = source.view.routing;
  const state::Turn* turn = newest_turn(source);
  Model model;
  model.session_id = source.view.id;
  model.task_profile = absent(Honesty::unknown, "the view keeps no task profile");
  model.candidate_count = routing.candidate_count;
  model.single_candidate = routing.single_candidate;
  model.selected_provider = source.thread && turn ? turn->provider : routing.selected_provider;
  model.selected_model = source.thread && turn ? turn->model : routing.selected_model;
  model.decision_reason = routing.decision_reason;
  if (turn) model.fallbacks = turn->fallback;
  model.cost = absent(Honesty::not_applicable, "this version records no costs");
  model.limits = absent(Honesty::not_applicable, "this version has no cost limits");
  model.rates = absent(Honesty::not_applicable, "this version records no rate limits");
  model.limit_state = routing.limit_state;
  return finished(model, source);
}

}  // namespace agentrt::kernel::models
