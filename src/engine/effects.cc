#include "engine/effects.h"

#include <algorithm>

#include "state/policies.h"

namespace agentrt::engine {

using namespace schema;

namespace {

constexpr std::int64_t kBusyRetryMs = 50;  // retry delay if the worker is full

std::optional<std::uint64_t> context_of(const std::vector<Candidate>& candidates,
                                        const std::string& name) {
  const auto found = std::ranges::find(candidates, name, &Candidate::name);
  return found == candidates.end() ? std::nullopt : found->context_tokens;
}

// By the capabilities that the configuration gives the model (config/models.h).
conversation::ImagesSent images_for(const std::vector<Candidate>& candidates,
                                    const std::string& name) {
  const auto found = std::ranges::find(candidates, name, &Candidate::name);
  if (found == candidates.end()) return conversation::ImagesSent::attached;
  const auto has = [&](std::string_view word) {
    return std::ranges::find(found->capabilities, word) != found->capabilities.end();
  };
  if (has("text_only")) return conversation::ImagesSent::none;
  return has("images") ? conversation::ImagesSent::all : conversation::ImagesSent::attached;
}

// An item of a job sees the job's instruction and its own input, and no earlier turns.
void add_item(const state::Session& view, const TurnIds& turn, conversation::MaterialQuery& query,
              ports::JobInputs* inputs) {
  const state::Turn* own = state::find_turn(view, turn.turn);
  if (!own || !own->item) return;
  const auto job = view.jobs.find(turn.job.value_or(JobId{}));
  if (job == view.jobs.end() || !inputs) return;
  const JobRecord& record = job->second.record;
  if (record.runner.kind != RunnerKind::turn) return;
  query.instruction = record.runner.instruction.value_or("");
  if (record.runner.output_schema)
    query.instruction +=
        "\n\nAnswer with one JSON object and nothing else. It must match this JSON Schema:\n" +
        record.runner.output_schema->text;
  query.item = [inputs, ref = record.input_ref, at = own->item->at] {
    return inputs->bytes(ref, at.offset, at.size);
  };
}

}  // namespace

const state::ToolCall& call_of(const state::Session& view, const TurnId& turn,
                               const ToolCallId& call) {
  const state::Turn* found = state::find_turn(view, turn);
  check(found != nullptr, "a plan is of its view");
  const auto at = std::ranges::find(found->tools, call, &state::ToolCall::id);
  check(at != found->tools.end(), "a plan is of its view");
  return *at;
}

TurnId environment_of(const TurnIds& turn) {
  return turn.job ? TurnId{turn.job->text()} : turn.turn;
}

policy::Effective effective_policy(const Engine::Parts& parts, const state::Session& view,
                                   const state::Turn& turn) {
  std::vector<policy::Sources> chain;
  std::vector<PolicyRule> room;
  const auto& granted = state::granted_to(view, turn, room);
  for (const state::Governing& each : state::governing(view, turn))
    chain.push_back({*each.policy, granted, view.mode, *each.options, each.write_roots});
  return policy::derive(chain, parts.home, parts.rule_sets);
}

// A call without a command is not bound to an environment, which may differ between boots.
Result<Binding> look_at(ports::Inspector& inspector, const ports::ProcessRequest& request,
                        const std::vector<std::string>& files) {
  TRY_ASSIGN(Binding binding, inspector.inspect(request, files));
  if (request.argv.empty()) {
    binding.environment_names.clear();
    binding.environment_digest.clear();
  }
  return binding;
}

Failure failure_of(const Error& error) {
  const bool passes = error.code == Code::unavailable || error.code == Code::overloaded;
  return {passes ? Category::unavailable : Category::invalid_input, error.message, passes};
}

void run_soon(ports::Loop& loop, ports::Worker& worker, std::shared_ptr<ports::Step> task) {
  if (!worker.run([task] { (*task)(); }))
    loop.after(kBusyRetryMs, [&loop, &worker, task] { run_soon(loop, worker, task); });
}

ports::HistoryQuery history_of(const state::Session& view, const TurnIds& turn) {
  ports::HistoryQuery query;
  query.session = view.id;
  query.thread = turn.thread;
  query.turn = turn.turn;
  query.up_to = view.sequence;
  if (const state::Thread* thread = state::find_thread(view, turn.thread)) {
    query.omitted_through = thread->omitted_through;
    if (thread->rollback) query.rolled_back = thread->rollback->at;
    if (thread->fork)
      for (const InheritedPart& part : thread->fork->parts)
        query.inherited.push_back({part.session_id.value_or(view.id), part.thread_id, part.up_to});
    if (!thread->boundaries.empty()) {
      const ContextBoundary& boundary = thread->boundaries.back();
      query.covered_in = boundary.session_id.value_or(view.id);
      query.covered_through = boundary.covers_through;
      query.continuation_ref = boundary.continuation_ref;
    }
  }
  if (const state::Turn* own = state::find_turn(view, turn.turn)) {
    query.submitted = own->submitted;
    query.catalog = own->call ? own->call->catalog : own->catalog;
    query.alone = own->item.has_value();
    if (own->compaction) query.summary = own->compaction->summary;
  }
  return query;
}

conversation::MaterialQuery query_of(const state::Session& view, const TurnIds& turn,
                                     const std::vector<Candidate>& candidates,
                                     const std::string& model, const Engine::Parts& parts) {
  conversation::MaterialQuery query;
  query.session = view.id;
  query.turn = turn;
  query.cwd = view.cwd;
  query.context_tokens = context_of(candidates, model);
  query.images = images_for(candidates, model);
  query.history = history_of(view, turn);
  query.tool_bytes = view.catalog_bytes;
  add_item(view, turn, query, parts.job_inputs);
  if (const state::Subagent* subagent = state::subagent_of(view, turn.thread))
    query.role = subagent->role;
  query.redactor = parts.redactor;
  for (const state::StoredText& text : view.stored_texts) query.stored[text.digest] = text.ref;
  return query;
}

}  // namespace agentrt::engine
