// control/hooks.cc: decides what a hook's outcome means for its turn.
#include "control/hooks.h"

#include <fmt/format.h>

#include "control/flow.h"
#include "policy/hooks.h"
#include "schema/tools.h"
#include "state/read_models.h"

namespace agentrt::control {

using namespace schema;

namespace {

// Rewritten input that is too large or not an object makes the run a failure.
std::optional<Failure> wrong_rewrite(const HookOutcome& outcome) {
  if (!outcome.updated_input) return std::nullopt;
  const std::string& text = outcome.updated_input->text;
  if (text.size() > kToolArgsBytesMax)
    return Failure{
        Category::invalid_input,
        fmt::format("the updatedInput of the hook is larger than {} KiB", kToolArgsBytesMax >> 10),
        false};
  if (!check_json(text) || !text.starts_with('{'))
    return Failure{Category::invalid_input, "the updatedInput of the hook is not a JSON object",
                   false};
  return std::nullopt;
}

// The text of hooks for a model is stored in facts and sent with every later request of the turn.
constexpr std::size_t kHookTextBytesMax = 16 * 1024;

std::string clipped(const std::string& text) {
  const std::string_view kept = utf8_prefix(text, kHookTextBytesMax);
  return std::string(kept) + (kept.size() < text.size() ? " [cut off]" : "");
}

HookCompleted completed(const state::HookRun& run, const HookOutcome& outcome, Sequence sequence) {
  HookCompleted out{.point = run.point, .hook_run_id = run.id};
  out.continue_ = outcome.continue_;
  out.block = outcome.block;
  out.decision = outcome.decision;
  out.reason = outcome.reason;
  if (outcome.updated_input) {
    out.updated_input = outcome.updated_input;
    out.updated_input_ref = state::log_ref(sequence);
  }
  if (!outcome.additional_context.empty()) {
    std::string whole;
    for (const std::string& text : outcome.additional_context)
      whole += (whole.empty() ? "" : "\n") + text;
    out.additional_context = std::vector<std::string>{clipped(whole)};
    out.additional_context_refs = std::vector<std::string>{state::log_ref(sequence)};
  }
  if (outcome.updated_tool_output) {
    out.updated_tool_output = clipped(*outcome.updated_tool_output);
    out.updated_tool_output_ref = state::log_ref(sequence);
  }
  if (outcome.suppress_output) out.suppress_output = true;
  if (!outcome.audit.empty()) out.audit_refs = outcome.audit;
  out.duration_ms = outcome.duration_ms;
  return out;
}

HookScope scope_of(const Facts& facts, const Turn& turn, const state::HookRun& run) {
  if (!run.call) return {facts.of(turn.ids), run.id};
  return {ToolScope{facts.of(turn.ids), run.step, *run.call}, run.id};
}

}  // namespace

std::optional<std::uint64_t> next_hook(const std::vector<HookSpec>& hooks, HookPoint point,
                                       std::uint64_t from, std::string_view subject) {
  for (std::uint64_t i = from; i < hooks.size(); ++i)
    if (policy::hook_applies(hooks[i], point, subject)) return i;
  return std::nullopt;
}

OnFailure fail_hook(Facts& facts, const Turn& turn, const Failure& error,
                    std::int64_t duration_ms) {
  const state::HookRun& run = *turn.hook;
  const OnFailure on_failure = run.hook.on_failure;
  facts.add(scope_of(facts, turn, run), HookFailed{.point = run.point,
                                                   .hook_run_id = run.id,
                                                   .error = error,
                                                   .on_failure = on_failure,
                                                   .duration_ms = duration_ms});
  if (on_failure == OnFailure::open)
    facts.add(scope_of(facts, turn, run),
              RuntimeWarning{
                  .message = fmt::format("a hook at {} failed; the turn continues without it: {}",
                                         name_of(run.point), error.message)});
  return on_failure;
}

Decided hook_ended(const Session& view, const ReportHookEnded& report, Inputs inputs) {
  const Thread* thread = thread_of_active(view, report.turn);
  if (!thread || !thread->active->hook || thread->active->hook->id != report.run)
    return Unchanged{};
  const Turn& turn = *thread->active;
  const state::HookRun run = *turn.hook;
  Facts facts{view, inputs};
  std::optional<Failure> failure = report.outcome.failure;
  if (!failure) failure = wrong_rewrite(report.outcome);
  HookVerdict how = HookVerdict::fine;
  std::string reason = report.outcome.reason.value_or("no reason given");
  if (failure) {
    if (fail_hook(facts, turn, *failure, report.outcome.duration_ms) == OnFailure::closed)
      how = HookVerdict::fails;
    reason = "it failed: " + failure->message;
  } else {
    if (!report.outcome.continue_)
      how = HookVerdict::ends;
    else if (report.outcome.block || report.outcome.decision == Decision::deny)
      how = HookVerdict::blocks;
    facts.add(scope_of(facts, turn, run), completed(run, report.outcome, facts.last() + 1));
  }
  if (thread->status == Status::blocked || turn.boot != inputs.boot) return accept(facts);
  Flow{facts, view, *thread, inputs}.heard(run.point, how, reason);
  return accept(facts);
}

}  // namespace agentrt::control
