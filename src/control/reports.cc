// control/reports.cc: decides the engine's reports: a turn is prepared, text was streamed, a
// request has ended. A report about a request or turn that has already ended changes nothing.
#include <algorithm>

#include <fmt/format.h>

#include "control/context/compaction.h"
#include "control/context/contexts.h"
#include "control/flow.h"
#include "control/jobs/jobs.h"
#include "control/output_facts.h"
#include "control/tool_calls.h"
#include "control/turn_facts.h"
#include "policy/fallback.h"
#include "policy/routing.h"
#include "schema/tools.h"
#include "state/read_models.h"

namespace agentrt::control {

using namespace schema;

namespace {

constexpr std::int64_t kItemUpdateEveryMs = 1'000;
constexpr std::size_t kDeltaBytesMax = 64 * 1024;  // per fact

TaskProfileResolved plain_profile(const Turn& turn) {
  return {.kind = "chat",
          .source = turn.source,
          .required_capabilities = {},
          .latency_target = "interactive",
          .budget_class = "unlimited",
          .fallback_policy = "configured_chain",
          .settings_source = turn.options.model ? "request" : "configuration"};
}

// The number of omitted turns: all earlier turns of the thread that are not in the window.
HistoryWindowLoaded with_omitted(HistoryWindowLoaded window, const Thread& thread) {
  const std::uint64_t not_earlier = thread.queue.size() + 1;
  const std::uint64_t earlier = thread.turns - std::min(not_earlier, thread.turns);
  window.omitted = earlier - std::min(window.turns, earlier);
  return window;
}

policy::RoutingAnswer routing_of(const Turn& turn, const ReportPrepared& report) {
  return policy::route(policy::question_of(turn.options, state::switched_model(turn), report));
}

// Routes the turn, or blocks it if there is no model. True: it continues.
bool route(Facts& facts, const Turn& turn, const policy::RoutingAnswer& answer) {
  std::visit([&](const auto& routing) { facts.add(facts.of(turn.ids), routing); }, answer);
  const RoutingOutcome& outcome = policy::outcome_of(answer);
  if (!outcome.selected_name && turn.item) {  // no person waits for the turn of an item
    facts.fail(turn, {Category::unavailable, outcome.decision_reason, false});
    return false;
  }
  if (!outcome.selected_name) {
    facts.block(turn, "no_model", "No model available",
                outcome.decision_reason + "; configure one, then resume the thread");
    return false;
  }
  return true;
}

// Adds delta facts for the pieces, opens their items, and shows the calls that are being written.
class Stream {
 public:
  Stream(Facts& facts, const Turn& turn, Inputs& inputs)
      : facts_(facts),
        turn_(turn),
        inputs_(inputs),
        message_(turn.message_item),
        reasoning_(turn.reasoning_item),
        first_(turn.call->first_delta),
        last_(turn.call->last_delta),
        writing_(turn.call->writing),
        first_reasoning_(turn.call->first_reasoning),
        last_reasoning_(turn.call->last_reasoning) {}

  void add(const std::vector<ReportFragments::Piece>& pieces) {
    if (pieces.empty()) return;
    note_begin();
    std::uint64_t text_bytes = turn_.call->text_bytes;
    const bool had_message = message_.has_value();
    for (const ReportFragments::Piece& piece : pieces) {
      open(piece.reasoning ? reasoning_ : message_,
           piece.reasoning ? ItemKind::reasoning : ItemKind::agent_message);
      if (!piece.reasoning) text_bytes += piece.text.size();
      deltas(piece);
    }
    if (had_message && inputs_.now - turn_.item_at >= kItemUpdateEveryMs)
      facts_.add(StepScope{facts_.of(turn_.ids), *message_}, ItemUpdated{.text_bytes = text_bytes});
  }

  // A call gets its id when it is first seen. Reports that do not fit the ones before are ignored.
  void add(const std::vector<ReportFragments::WrittenCall>& calls) {
    for (const ReportFragments::WrittenCall& call : calls) {
      const bool is_new = call.number == writing_.size() && call.number < kToolCallsMax;
      if (is_new) {
        note_begin();
        writing_.push_back({inputs_.ids.next<StepId>(), inputs_.ids.next<ToolCallId>(), call.name});
      }
      if (call.number >= writing_.size() || writing_[call.number].tool != call.name) continue;
      const state::WrittenCall& item = writing_[call.number];
      const ToolScope scope{facts_.of(turn_.ids), item.step, item.id};
      const ItemKind kind = item_of(call.name);
      if (is_new) facts_.add(scope, ItemStarted{.kind = kind, .tool_name = call.name});
      facts_.add(scope,
                 ItemUpdated{.kind = kind, .text_bytes = call.bytes, .preview = call.preview});
    }
  }

  // The calls of a complete answer. A call that was shown while it was written keeps its id.
  std::vector<RequestedCall> calls_of(const std::vector<AskedCall>& asked) {
    std::vector<RequestedCall> out;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const bool shown = i < writing_.size() && writing_[i].tool == asked[i].name;
      out.push_back({shown ? writing_[i].id : inputs_.ids.next<ToolCallId>(),
                     asked[i].name,
                     asked[i].args,
                     {}});
      if (asked[i].args_omitted) out.back().args_omitted = true;
      out.back().wrong = asked[i].wrong;
    }
    return out;
  }

  // Ends the items of calls that the complete answer does not contain.
  void close_abandoned(const std::vector<AskedCall>& asked) {
    for (std::size_t i = 0; i < writing_.size(); ++i)
      if (i >= asked.size() || writing_[i].tool != asked[i].name)
        facts_.add(ToolScope{facts_.of(turn_.ids), writing_[i].step, writing_[i].id},
                   ItemCompleted{.kind = item_of(writing_[i].tool),
                                 .status = Status::failed,
                                 .error = Failure{Category::provider,
                                                  "the answer ended without this call", false}});
  }

  const std::vector<state::WrittenCall>& writing() const { return writing_; }
  const std::optional<StepId>& message() const { return message_; }
  const std::optional<StepId>& reasoning() const { return reasoning_; }
  std::string text_ref() const { return state::log_ref(first_, last_); }
  std::string reasoning_ref() const { return state::log_ref(first_reasoning_, last_reasoning_); }

  ModelScope scope() const { return ModelScope{facts_.of(turn_.ids), turn_.call->id}; }

 private:
  void open(std::optional<StepId>& item, ItemKind kind) {
    if (item) return;
    item = inputs_.ids.next<StepId>();
    facts_.add(StepScope{facts_.of(turn_.ids), *item}, ItemStarted{.kind = kind});
  }
  void note_begin() {
    if (!message_ && !reasoning_ && writing_.empty())
      facts_.add(facts_.of(turn_.ids),
                 RunStatus{.status = Status::streaming, .phase = "model", .title = "Answering"});
  }
  void deltas(const ReportFragments::Piece& piece) {
    std::string_view rest = piece.text;
    while (!rest.empty()) {
      std::string_view part = utf8_prefix(rest, kDeltaBytesMax);
      if (part.empty()) part = rest.substr(0, kDeltaBytesMax);  // not valid UTF-8
      rest.remove_prefix(part.size());
      if (piece.reasoning) {
        facts_.add(scope(), ReasoningDelta{std::string(part)});
        if (first_reasoning_ == 0) first_reasoning_ = facts_.last();
        last_reasoning_ = facts_.last();
      } else {
        facts_.add(scope(), ModelDelta{std::string(part)});
        if (first_ == 0) first_ = facts_.last();
        last_ = facts_.last();
      }
    }
  }

  Facts& facts_;
  const Turn& turn_;
  Inputs& inputs_;
  std::optional<StepId> message_, reasoning_;
  Sequence first_, last_;
  std::vector<state::WrittenCall> writing_;
  Sequence first_reasoning_, last_reasoning_;
};

// Stores the text inline if it is short, otherwise a preview and the ref of the whole text.
// `beside`: bytes of other members of the fact.
template <class P>
void put_text(P& payload, const std::string& text, std::uint64_t bytes, const std::string& ref,
              std::size_t beside = 0) {
  if (bytes + beside <= kTextInlineMax) {
    payload.text = text;
  } else {
    payload.preview = std::string(utf8_prefix(text, kPreviewBytes));
    payload.output_ref = ref;
  }
}

// Adds the outputs of the raw request and response, and their refs in the final fact.
template <class P>
void put_raw(Facts& facts, const ModelScope& scope, const std::optional<KeptExchange>& raw,
             P& payload, const Inputs& inputs) {
  if (!raw) return;
  add_output(facts, scope, raw->request, inputs);
  add_output(facts, scope, raw->response, inputs);
  payload.raw_request_ref = raw->request.ref.text();
  payload.raw_response_ref = raw->response.ref.text();
}

void close_answer(Facts& facts, const Stream& stream, const Turn& turn,
                  const ReportModelCompleted& report, std::vector<RequestedCall> calls,
                  const Inputs& inputs) {
  if (report.reasoning_bytes > 0) {
    ReasoningSummary summary;
    put_text(summary, report.reasoning, report.reasoning_bytes, stream.reasoning_ref());
    facts.add(stream.scope(), std::move(summary));
  }
  std::size_t args_bytes = 0;
  for (const RequestedCall& call : calls) args_bytes += call.args.text.size();
  ModelCompleted completed{.tool_calls = std::move(calls),
                           .stop_reason = report.stop_reason,
                           .usage = report.usage,
                           .provider = turn.call->provider,
                           .model = turn.call->model,
                           .duration_ms = inputs.since(turn.call->at)};
  const std::string ref = report.whole_text ? report.whole_text->ref.text() : stream.text_ref();
  if (report.whole_text)
    add_output(facts, stream.scope(), *report.whole_text, inputs, KeptFor::session);
  put_text(completed, report.text, report.text_bytes, ref, args_bytes);
  put_raw(facts, stream.scope(), report.raw, completed, inputs);
  completed.provider_state = report.provider_state;
  completed.first_token_ms = report.first_token_ms;
  facts.add(stream.scope(), std::move(completed));
  if (stream.reasoning()) {
    ItemCompleted item{.kind = ItemKind::reasoning};
    put_text(item, report.reasoning, report.reasoning_bytes, stream.reasoning_ref());
    facts.add(StepScope{facts.of(turn.ids), *stream.reasoning()}, std::move(item));
  }
  if (stream.message()) {
    ItemCompleted item{.kind = ItemKind::agent_message};
    put_text(item, report.text, report.text_bytes, ref, report.whole_text ? args_bytes : 0);
    facts.add(StepScope{facts.of(turn.ids), *stream.message()}, std::move(item));
  }
}

// Ends the items of a request that failed. They keep the text that was already shown.
void close_broken(Facts& facts, const Stream& stream, const Turn& turn,
                  const ReportModelFailed& report, const Failure& error) {
  const auto close = [&](const std::optional<StepId>& step, ItemKind kind, const std::string& text,
                         std::uint64_t bytes, const std::string& ref) {
    if (!step) return;
    ItemCompleted item{.kind = kind, .status = Status::failed, .error = error};
    if (bytes > 0) put_text(item, text, bytes, ref);
    facts.add(StepScope{facts.of(turn.ids), *step}, std::move(item));
  };
  close(stream.reasoning(), ItemKind::reasoning, report.reasoning, report.reasoning_bytes,
        stream.reasoning_ref());
  close(stream.message(), ItemKind::agent_message, report.text, report.text_bytes,
        stream.text_ref());
  Turn written = turn;
  written.reasoning_item.reset();
  written.message_item.reset();
  written.call->writing = stream.writing();
  facts.close_items(written, Status::failed, error);
}

bool asks_too_long_a_wait(const ReportModelFailed& report, const Settings& settings) {
  return report.retry_after_ms.value_or(0) > settings.retry_told_max_ms;
}

// The next model of the chain, if another one may answer. A compaction has none: if it fails, the
// oldest turns are omitted.
const Candidate* next_model_of(const Turn& turn, const policy::FailedRequest& failed,
                               const Settings& settings) {
  if (turn.call->purpose || turn.requests >= settings.turn_steps_max) return nullptr;
  return policy::next_model(failed, turn.fallback, turn.candidates);
}

// Continues the turn with another model.
void switch_model(Facts& facts, const Turn& turn, const policy::FailedRequest& failed,
                  const Candidate& next, FreshIds ids) {
  RoutingFallbackApplied applied;
  applied.routing_mode = "fallback";
  applied.decision_source = turn.options.fallback ? "request" : "configuration";
  applied.decision_reason =
      fmt::format("{} {}", failed.model_name, policy::clause_of(*failed.cause));
  applied.selected_name = next.name;
  applied.selected_provider = next.provider;
  applied.selected_model = next.model;
  applied.requested_model = turn.options.model;
  applied.candidate_count = turn.candidates.size();
  const auto used = std::ranges::find(turn.fallback, next.name);
  applied.fallback_chain.assign(std::next(used), turn.fallback.end());
  applied.from_name = turn.call->model_name;
  applied.from_provider = turn.call->provider;
  applied.from_model = turn.call->model;
  applied.cause = failed.cause;
  applied.failed_request_id = turn.call->id;
  facts.add(facts.of(turn.ids), std::move(applied));
  if (turn.pausing) return facts.hold_paused(turn);
  facts.request_model(turn, ids, next.provider, next.model, next.name);
}

std::optional<ModelRetry> retry_of(const Turn& turn, const ReportModelFailed& report,
                                   const Inputs& inputs) {
  const Settings& settings = *inputs.settings;
  if (!report.error.retryable || turn.retries >= settings.model_retries_max ||
      turn.requests >= settings.turn_steps_max || asks_too_long_a_wait(report, settings))
    return std::nullopt;
  const std::uint64_t status = report.provider_status.value_or(0);
  const bool busy = status == 429 || status == 503 || status == 529;
  const std::int64_t base = busy ? settings.retry_busy_ms : settings.retry_base_ms;
  const std::int64_t doubled = base << std::min<std::uint64_t>(turn.retries, 16);
  const std::int64_t after = std::max<std::int64_t>(
      0, report.retry_after_ms.value_or(std::min(doubled, settings.retry_max_ms)));
  return ModelRetry{turn.retries + 1, after, inputs.now + after};
}

}  // namespace

void adopt_policy(Facts& facts, const Session& view, const ThreadScope& thread, Policy policy) {
  // Sort hooks by point, so that an index into them advances with the turn.
  std::vector<HookSpec> hooks;
  for (HookSpec& hook : policy.hooks)
    hooks.insert(std::ranges::upper_bound(hooks, hook.point, {}, &HookSpec::point), hook);
  policy.hooks = std::move(hooks);
  std::vector<PolicyRule> gone;  // granted here for every session of the folder, taken back since
  for (const PolicyRule& rule : view.granted)
    if (rule.origin == RuleOrigin::always &&
        std::ranges::find(policy.rules, rule) == policy.rules.end())
      gone.push_back(rule);
  if (policy == state::policy_of(view, thread.ids().thread_id) && gone.empty()) return;
  PolicyChanged changed{.change = "resolved"};
  if (!gone.empty()) changed.removed = std::move(gone);
  changed.source = "configuration";
  changed.policy = std::move(policy);
  facts.add(thread, std::move(changed));
}

Decided prepared(const Session& view, const ReportPrepared& report, Inputs inputs) {
  const Thread* thread = thread_of_active(view, report.turn);
  if (!thread || thread->status == Status::blocked || thread->active->prepared) return Unchanged{};
  const Turn& turn = *thread->active;
  Facts facts{view, inputs};
  if (report.policy_failed) {
    close_tools(facts, turn, *report.policy_failed, inputs.boot);
    facts.fail(turn, *report.policy_failed);
    facts.start_next(*thread);
    return accept(facts);
  }
  adopt_policy(facts, view, facts.of(turn.ids), report.policy);
  Flow flow{facts, view, *thread, inputs};
  if (flow.asks_for_trust(report.policy.files)) return accept(facts);
  for (const KeptOutput& file : report.files)
    add_output(facts, facts.of(turn.ids), file, inputs, KeptFor::session);
  ContextResolved context = report.context;
  if (report.environment) context.environment = environment_of(*report.environment, *thread);
  context.home = inputs.settings->home;
  if (runs_command(view, turn)) {
    facts.add(facts.of(turn.ids), std::move(context));
    flow.go_on();
    return accept(facts);
  }
  if (report.history) facts.add(facts.of(turn.ids), with_omitted(*report.history, *thread));
  const policy::RoutingAnswer routing = routing_of(turn, report);
  ToolCatalogResolved catalog = flow.catalog(report.server_tools, report.missing_servers);
  describe_request({report, policy::outcome_of(routing), catalog, *thread, turn, *inputs.settings},
                   context);
  if (context.omitted_through > thread->omitted_through)
    facts.add(facts.of(turn.ids),
              RuntimeWarning{.code = "turns_omitted",
                             .message = "the oldest turns do not fit into the model's context and "
                                        "are not sent; compact_thread would summarise them",
                             .boot_id = {}});
  facts.add(facts.of(turn.ids), std::move(context));
  facts.add(facts.of(turn.ids), without_repetition(std::move(catalog), view));
  facts.add(facts.of(turn.ids), plain_profile(turn));
  facts.add(facts.of(turn.ids),
            RoutingCandidatesResolved{.candidate_count = report.candidates.size(),
                                      .candidates = report.candidates,
                                      .excluded = report.excluded,
                                      .hard_constraints = {},
                                      .preferences = {},
                                      .default_model = report.default_model,
                                      .fallback = report.fallback});
  if (route(facts, turn, routing)) flow.go_on();
  return accept(facts);
}

// The next model request offers these tools.
Decided tools_listed(const Session& view, const ReportToolsListed& report, Inputs inputs) {
  const Thread* thread = thread_of_active(view, report.turn);
  if (!thread || thread->status == Status::blocked || !thread->active->prepared) return Unchanged{};
  Facts facts{view, inputs};
  Flow flow{facts, view, *thread, inputs};
  facts.add(facts.of(thread->active->ids),
            without_repetition(flow.catalog(report.server_tools, report.missing_servers), view));
  return accept(facts);
}

Decided fragments(const Session& view, const ReportFragments& report, Inputs inputs) {
  const Thread* thread = thread_of_request(view, report.request);
  // Of a summary only the whole text is stored.
  if (!thread || thread->active->call->purpose) return Unchanged{};
  Facts facts{view, inputs};
  Stream stream{facts, *thread->active, inputs};
  stream.add(report.pieces);
  stream.add(report.calls);
  return accept(facts);
}

Decided model_completed(const Session& view, const ReportModelCompleted& report, Inputs inputs) {
  const Thread* thread = thread_of_request(view, report.request);
  if (!thread) return Unchanged{};
  const Turn& turn = *thread->active;
  if (turn.call->purpose) return summary_written(view, *thread, report, std::move(inputs));
  Facts facts{view, inputs};
  Stream stream{facts, turn, inputs};
  stream.add(report.pieces);
  close_answer(facts, stream, turn, report, stream.calls_of(report.calls), inputs);
  stream.close_abandoned(report.calls);
  Flow{facts, view, *thread, inputs}.go_on();
  return accept(facts);
}

Decided model_failed(const Session& view, const ReportModelFailed& report, Inputs inputs) {
  const Thread* thread = thread_of_request(view, report.request);
  if (!thread) return Unchanged{};
  const Turn& turn = *thread->active;
  Facts facts{view, inputs};
  Stream stream{facts, turn, inputs};
  if (!turn.call->purpose) stream.add(report.pieces);
  const policy::FailedRequest why{turn.call->model_name, report.cause, report.retry_after_ms};
  const Candidate* next = next_model_of(turn, why, *inputs.settings);
  std::optional<ModelRetry> retry;
  if (!next || !policy::prefers_next(why)) retry = retry_of(turn, report, inputs);
  Failure error = report.error;
  if (!next && asks_too_long_a_wait(report, *inputs.settings))
    error.message +=
        fmt::format("; it asks to wait {} s, so try again later", *report.retry_after_ms / 1'000);
  ModelFailed failed{.error = error,
                     .provider_status = report.provider_status,
                     .ended_by_provider = report.ended_by_provider,
                     .retry = retry,
                     .provider = turn.call->provider,
                     .model = turn.call->model,
                     .duration_ms = inputs.since(turn.call->at)};
  failed.cause = report.cause;
  failed.first_token_ms = report.first_token_ms;
  put_raw(facts, stream.scope(), report.raw, failed, inputs);
  facts.add(stream.scope(), std::move(failed));
  close_broken(facts, stream, turn, report, error);
  if (retry) {
    facts.add(facts.of(turn.ids),
              RunStatus{.status = Status::retrying,
                        .phase = "model",
                        .title = "Retrying",
                        .detail = fmt::format("retry {} of {} in {} ms: {}", retry->number,
                                              inputs.settings->model_retries_max, retry->after_ms,
                                              report.error.message)});
  } else if (turn.call->purpose) {
    summary_failed(facts, *thread, turn, error);
  } else if (report.cause == FaultCause::context_size && !turn.overflowed &&
             may_compact(*thread, turn, *inputs.settings)) {
    begin_compaction(facts, turn, "overflow");
  } else if (next) {
    switch_model(facts, turn, why, *next, inputs.ids);
  } else {
    facts.fail(turn, error);
    facts.start_next(*thread);
  }
  return accept(facts);
}

Decided retry_due(const Session& view, const ReportRetryDue& report, Inputs inputs) {
  const Thread* thread = thread_of_active(view, report.turn);
  if (!thread || thread->status == Status::blocked) return Unchanged{};
  const Turn& turn = *thread->active;
  if (turn.call || !turn.retry_at || !turn.model_name) return Unchanged{};
  FreshIds ids = inputs.ids;
  Facts facts{view, inputs};
  if (turn.pausing) {
    facts.hold_paused(turn);
    return accept(facts);
  }
  if (turn.compaction) {
    Flow{facts, view, *thread, inputs}.go_on();
    return accept(facts);
  }
  facts.request_model(turn, ids, turn.provider.value_or(""), turn.model.value_or(""),
                      *turn.model_name);
  return accept(facts);
}

}  // namespace agentrt::control
