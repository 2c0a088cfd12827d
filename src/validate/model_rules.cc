#include "validate/model_rules.h"

namespace agentrt::validate {

using namespace schema;

namespace {

// FNV-1a, computed incrementally.
Key add_text(Key hash, std::string_view text) {
  if (hash == 0) hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace

// A runtime that does not name its requests makes one at a time per turn; deltas and ends without
// an id belong to the newest request.
Key ModelRules::request_key() const {
  const Head& head = hearing_.head();
  if (!head.model_request_id.empty()) return hearing_.key(head.model_request_id);
  const Turn* of_event = turns_.find(hearing_.key(head.turn_id));
  if (of_event && of_event->asked != 0 && head.type != ModelRequested::kType)
    return of_event->asked;
  return hearing_.key("request of " + head.turn_id);
}

ModelRules::Request* ModelRules::open_request(std::string_view what) {
  Request* request = requests_.find(request_key());
  if (request && request->open) return request;
  if (!request && hearing_.excuses(requests_)) return nullptr;
  hearing_.fail("model.order", fmt::format("{} of a request that {}", what,
                                           request ? "has ended" : "was not started"));
  return nullptr;
}

void ModelRules::operator()(const ModelRequested& p) {
  const Head& head = hearing_.head();
  const Key key = request_key();
  Turn& of_turn = turn();
  const Request* known = requests_.find(key);
  if (known && (known->open || !head.model_request_id.empty()))
    hearing_.fail("model.order",
                  fmt::format("request {} starts a second time", head.model_request_id));
  if (!known || !known->open) ++of_turn.requests;
  of_turn.asked = key;
  check_routing(p, of_turn);
  requests_.reopen(key);
  Request& request = requests_.at(key);
  request = {};
  request.id = head.model_request_id;
}

void ModelRules::check_routing(const ModelRequested& p, Turn& turn) {
  if (hearing_.partial) return;
  if (turn.not_possible)
    return hearing_.fail("routing.blocks", "a model request follows routing.not_possible");
  if (!turn.routed)
    return hearing_.fail("routing.explains", "no routing decision precedes the model request");
  const auto differs = [](const std::string& chosen, const std::string& asked) {
    return !chosen.empty() && !asked.empty() && chosen != asked;
  };
  if (differs(turn.provider, p.provider) || differs(turn.model, p.model))
    hearing_.fail("routing.matches",
                  fmt::format("the request goes to {}/{}, but {}/{} was selected", p.provider,
                              p.model, turn.provider, turn.model));
}

void ModelRules::operator()(const ModelDelta& p) {
  Request* request = open_request("a delta");
  if (!request) return;
  ++request->deltas;
  request->bytes += p.text.size();
  request->text = add_text(request->text, p.text);
}

void ModelRules::operator()(const ReasoningDelta&) {
  if (!hearing_.head().model_request_id.empty()) open_request("a delta");
}

void ModelRules::operator()(const ModelCompleted& p) {
  Request* request = open_request("the end");
  if (!request) return;
  if (p.text && request->deltas > 0 &&
      (p.text->size() != request->bytes || add_text(0, *p.text) != request->text))
    hearing_.fail("model.adds_up", fmt::format("the {} deltas have {} bytes, the text has {}{}",
                                               request->deltas, request->bytes, p.text->size(),
                                               p.text->size() == request->bytes ? " others" : ""));
  if (p.stop_reason == StopReason::tool_use && hearing_.has("toolCalls") && p.tool_calls.empty())
    hearing_.fail("model.adds_up", "stopReason is tool_use, but there are no tool calls");
  turn().last_failed = false;
  close_request(*request);
}

void ModelRules::operator()(const ModelFailed&) {
  Request* request = open_request("the end");
  if (!request) return;
  turn().last_failed = true;
  close_request(*request);
}

void ModelRules::close_request(Request& request) {
  const Key key = request_key();
  request.open = false;
  requests_.end(key);
  if (Turn& of_turn = turn(); of_turn.requests > 0) --of_turn.requests;
}

void ModelRules::operator()(const ItemStarted& p) {
  const Key key = hearing_.key(hearing_.head().step_id);
  if (items_.find(key))
    return hearing_.fail("item.order",
                         fmt::format("item {} starts a second time", hearing_.head().step_id));
  items_.at(key).kind = p.kind;
  if (const std::string& call = hearing_.head().tool_call_id; !call.empty())
    items_.at(key).call = hearing_.key(call);
  ++turn().items;
}

ModelRules::Item* ModelRules::open_item() {
  const std::string& id = hearing_.head().step_id;
  Item* item = items_.find(hearing_.key(id));
  if (item && item->open) return item;
  if (item || (!hearing_.excuses(items_)))
    hearing_.fail("item.order",
                  fmt::format("item {} {}", id, item ? "has ended" : "has not started"));
  return nullptr;
}

void ModelRules::operator()(const ItemUpdated& p) {
  Item* item = open_item();
  if (!item) return;
  if (hearing_.has("kind") && item->kind != p.kind)
    hearing_.fail("item.order", fmt::format("an item of kind {} changes to {}", name_of(item->kind),
                                            name_of(p.kind)));
  if (hearing_.has("textBytes") && p.text_bytes < item->bytes)
    hearing_.fail("item.order",
                  fmt::format("an item of {} bytes shrinks to {}", item->bytes, p.text_bytes));
  if (hearing_.has("textBytes")) item->bytes = p.text_bytes;
}

// A call may begin as an item while the model is still writing it. If the model request fails, the
// item ends and the call must not follow.
void ModelRules::operator()(const ToolStarted&) {
  const std::string& id = hearing_.head().step_id;
  if (id.empty()) return;
  const Item* item = items_.find(hearing_.key(id));
  if (item && !item->open && item->call != 0 &&
      item->call == hearing_.key(hearing_.head().tool_call_id))
    hearing_.fail("item.order", fmt::format("a call starts, but its item {} has ended", id));
}

void ModelRules::operator()(const ItemCompleted& p) {
  Item* item = open_item();
  if (!item) return;
  if (hearing_.has("kind") && item->kind != p.kind)
    hearing_.fail("item.order", fmt::format("an item of kind {} changes to {}", name_of(item->kind),
                                            name_of(p.kind)));
  if (hearing_.has("status") && !ended(p.status))
    hearing_.fail("item.order", fmt::format("an item ends with status {}", name_of(p.status)));
  const Key key = hearing_.key(hearing_.head().step_id);
  item->open = false;
  items_.end(key);
  if (Turn& of_turn = turn(); of_turn.items > 0) --of_turn.items;
}

void ModelRules::operator()(const RoutingCandidatesResolved& p) {
  if (hearing_.has("candidates") && hearing_.has("candidateCount") &&
      p.candidate_count != p.candidates.size())
    hearing_.fail("routing.counts",
                  fmt::format("candidateCount is {}, but {} candidates are listed",
                              p.candidate_count, p.candidates.size()));
}

void ModelRules::selected(const RoutingOutcome& p) {
  Turn& of_turn = turn();
  of_turn.routed = true;
  of_turn.not_possible = false;
  of_turn.provider = p.selected_provider.value_or("");
  of_turn.model = p.selected_model.value_or("");
  if (of_turn.model.empty())
    hearing_.fail("routing.counts", "the decision does not name the selected model");
}

void ModelRules::operator()(const RoutingDecided& p) {
  if (hearing_.has("candidateCount") && p.candidate_count == 0)
    hearing_.fail("routing.counts", "the decision has no candidates");
  selected(p);
}
void ModelRules::operator()(const RoutingFallbackApplied& p) { selected(p); }
void ModelRules::operator()(const RoutingSingleCandidate& p) {
  if (hearing_.has("candidateCount") && p.candidate_count != 1)
    hearing_.fail("routing.counts",
                  fmt::format("routing.single_candidate with {} candidates", p.candidate_count));
  selected(p);
}
void ModelRules::operator()(const RoutingNotPossible&) {
  Turn& of_turn = turn();
  of_turn.routed = true;
  of_turn.not_possible = true;
}

void ModelRules::operator()(const CostRecorded& p) {
  const Head& head = hearing_.head();
  if (p.amount_nanos < 0) hearing_.fail("cost.joins", "the cost is negative");
  if (head.model_request_id.empty()) return;
  Request* request = requests_.find(request_key());
  if (!request) {
    if (!hearing_.excuses(requests_))
      hearing_.fail("cost.joins",
                    fmt::format("there is no model request {}", head.model_request_id));
    return;
  }
  if (request->billed)
    hearing_.fail("cost.joins",
                  fmt::format("request {} is billed a second time", head.model_request_id));
  request->billed = true;
}

Key ModelRules::quota_key(const std::string& limit, const std::string& scope) const {
  return hearing_.key("quota " + limit + " " + scope);
}

void ModelRules::operator()(const QuotaLow& p) {
  // Daily quotas reset at midnight UTC.
  constexpr std::int64_t kDayMs = 86'400'000;
  const auto* blocked = blocked_.find(quota_key(p.limit, p.scope));
  const Timestamp now = hearing_.event.at.value_or(Timestamp{});
  if (blocked && *blocked && (*blocked)->ms / kDayMs == now.ms / kDayMs)
    hearing_.fail("quota.order", fmt::format("quota.low for {} after quota.blocked", p.limit));
}

void ModelRules::operator()(const QuotaBlocked& p) {
  blocked_.at(quota_key(p.limit, p.scope)) = hearing_.event.at.value_or(Timestamp{});
}

void ModelRules::operator()(const LimitChanged& p) {
  blocked_.at(quota_key(p.limit.value_or(""), p.scope.value_or(""))) = std::nullopt;
}

void ModelRules::operator()(const TurnCompleted&) {
  const Turn* ending = turns_.find(hearing_.key(hearing_.head().turn_id));
  if (ending && ending->last_failed)
    hearing_.fail("turn.earned", "the turn completed, but its last model request failed");
  turn_ended();
}

void ModelRules::operator()(const TurnFailed&) { turn_ended(); }

void ModelRules::operator()(const TaskAttemptCompleted&) { attempt_ended(); }
void ModelRules::operator()(const TaskAttemptFailed&) { attempt_ended(); }

void ModelRules::attempt_ended() {
  const Turn* of_attempt = turns_.find(hearing_.key(hearing_.head().turn_id));
  if (of_attempt && of_attempt->requests > 0)
    hearing_.fail("turn.closed", "the attempt ends while one of its model requests is open");
}

void ModelRules::turn_ended() {
  const Key key = hearing_.key(hearing_.head().turn_id);
  Turn* ending = turns_.find(key);
  if (!ending) return;
  if (ending->requests > 0)
    hearing_.fail("turn.closed",
                  fmt::format("{} model requests of the turn have no outcome", ending->requests));
  if (ending->items > 0)
    hearing_.fail("turn.closed", fmt::format("{} items of the turn have not ended", ending->items));
  *ending = {};
  turns_.end(key);
}

}  // namespace agentrt::validate
