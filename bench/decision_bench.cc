// How long the decisions about one command take that a person approves, under the rules of a
// project: the model asks for it, its binding is inspected, the person answers, it runs and ends.
#include <benchmark/benchmark.h>

#include "control/testing/given_calls.h"
#include "project_rules.h"

namespace {

using namespace agentrt;
using namespace agentrt::control;

schema::Policy project_policy() {
  schema::Policy policy;
  policy.rules = project_rules(schema::RuleEffect::ask);
  return policy;
}

void approved_command(benchmark::State& state) {
  const state::Given past = asked_under(project_policy());
  const state::Session before = past.view();
  const Inputs inputs = inputs_at(past.now());
  const auto then = [&](const state::Session& view, const auto& what) {
    return when(view, what, inputs).after;
  };
  for (auto _ : state) {
    state::Session view = then(before, asks_for({"git status && rm -rf build"}));
    view = then(view, inspected_of(view));
    view = then(view, answer_to(view, "allow"));
    schema::ReportProcessReady ready = ready_of(view);
    ready.binding = inspected_of(view).binding;
    view = then(view, ready);
    view = then(view, end_of(view, 0));
    if (!turn_of(view).tools.empty()) return state.SkipWithError("the command did not end");
    benchmark::DoNotOptimize(view);
  }
}
BENCHMARK(approved_command);

}  // namespace

BENCHMARK_MAIN();
