// How long the decisions about one command take that a person approves, under the rules of a
// project: the model asks for it, its binding is inspected, the person answers, it runs and ends.
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "control/testing/given_calls.h"

namespace {

using namespace agentrt;
using namespace agentrt::control;

schema::Policy project_policy() {
  schema::Policy policy;
  for (const char* words :
       {"git status", "git log", "git diff", "git show",   "git add",     "git commit", "ls",
        "cat",        "head",    "tail",     "grep",       "rg",          "find",       "wc",
        "sort",       "uniq",    "echo",     "cd",         "cut",         "tr",         "jq",
        "xargs",      "sed",     "awk",      "cargo test", "cargo build", "npm test",   "npm run",
        "go test",    "cmake",   "make",     "ctest",      "test",        "[",          "date",
        "stat",       "du",      "which",    "basename",   "dirname"})
    policy.rules.push_back({schema::RuleEffect::allow, "shell(" + std::string(words) + ":*)",
                            schema::RuleOrigin::user});
  for (const char* words : {"git push", "rm", "curl"})
    policy.rules.push_back(
        {schema::RuleEffect::ask, "shell(" + std::string(words) + ":*)", schema::RuleOrigin::user});
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
