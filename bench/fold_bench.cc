// bench/fold_bench.cc: measures folding of decoded facts, decoding of stored bytes, both together,
// and encoding of payloads. The facts are those of plain turns with twenty text fragments each.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "schema/envelope.h"
#include "state/session.h"

using namespace agentrt;
using namespace agentrt::schema;

namespace {

constexpr int kTurns = 50;
constexpr int kFragments = 20;

void add_turn(std::vector<Draft>& out, const SessionId& session, int number) {
  const TurnIds ids{ThreadId{"thread_main"},
                    TurnId{fmt::format("turn_{:026}", number)},
                    TaskId{fmt::format("task_{:026}", number)},
                    RunId{fmt::format("run_{:026}", number)},
                    AttemptId{fmt::format("attempt_{:026}", number)},
                    TraceId{fmt::format("{:032x}", number)},
                    SpanId{fmt::format("{:016x}", number)}};
  const TurnScope turn(session, ids);
  const ModelScope call(turn, ModelRequestId{fmt::format("mreq_{:026}", number)},
                        SpanId{fmt::format("{:016x}", number + 1)});
  const StepScope step(turn, StepId{fmt::format("step_{:026}", number)});
  TurnSubmitted submitted;
  submitted.input = {{InputKind::text, "What is the answer to this question?", {}}};
  submitted.source = "user";
  out.emplace_back(turn, TaskCreated{});
  out.emplace_back(turn, submitted);
  out.emplace_back(turn, TaskStarted{});
  out.emplace_back(turn, TaskAttemptStarted{});
  out.emplace_back(turn, TurnStarted{});
  out.emplace_back(turn, RunStatus{Status::preparing, "preparing", "Preparing", {}, {}});
  out.emplace_back(turn, ContextResolved{});
  out.emplace_back(turn, ToolCatalogResolved{});
  out.emplace_back(turn, TaskProfileResolved{});
  out.emplace_back(turn, RoutingCandidatesResolved{});
  out.emplace_back(turn, RoutingSingleCandidate{});
  out.emplace_back(call, ModelRequested{"script", "main", "main", "log:1", 1, BootId{"boot_1"}});
  out.emplace_back(step, ItemStarted{});
  for (int i = 0; i < kFragments; ++i)
    out.emplace_back(call, ModelDelta{"some words of an answer, and then "});
  out.emplace_back(call, ModelCompleted{});
  out.emplace_back(step, ItemCompleted{});
  out.emplace_back(turn, TurnCompleted{});
  out.emplace_back(turn, TaskAttemptCompleted{});
  out.emplace_back(turn, TaskCompleted{});
}

std::vector<StoredEvent> stored_events() {
  const SessionId session{"sess_00000000000000000000000001"};
  std::vector<Draft> drafts;
  drafts.emplace_back(SessionScope(session), SessionCreated{});
  drafts.emplace_back(ThreadScope(session, ThreadId{"thread_main"}), ThreadStarted{});
  for (int i = 0; i < kTurns; ++i) add_turn(drafts, session, i);
  std::vector<StoredEvent> out;
  for (const Draft& draft : drafts)
    out.push_back(encode(draft, out.size() + 1, Timestamp{1'780'000'000'000}, RuntimeId{"rt_1"}));
  return out;
}

void fold_decoded_facts(benchmark::State& bench) {
  std::vector<Fact> facts;
  for (const StoredEvent& event : stored_events()) facts.push_back(*decode(event));
  for (auto _ : bench) {
    state::Session session;
    for (const Fact& fact : facts) state::fold(session, fact);
    benchmark::DoNotOptimize(session);
  }
  bench.SetItemsProcessed(bench.iterations() * static_cast<std::int64_t>(facts.size()));
}
BENCHMARK(fold_decoded_facts);

void decode_stored_bytes(benchmark::State& bench) {
  const auto events = stored_events();
  for (auto _ : bench)
    for (const StoredEvent& event : events) benchmark::DoNotOptimize(decode(event));
  bench.SetItemsProcessed(bench.iterations() * static_cast<std::int64_t>(events.size()));
}
BENCHMARK(decode_stored_bytes);

void stored_bytes_to_view(benchmark::State& bench) {
  const auto events = stored_events();
  std::int64_t bytes = 0;
  for (const StoredEvent& event : events)
    bytes += static_cast<std::int64_t>(event.scope.size() + event.payload.size());
  for (auto _ : bench) {
    state::Session session;
    for (const StoredEvent& event : events) state::fold(session, *decode(event));
    benchmark::DoNotOptimize(session);
  }
  bench.SetItemsProcessed(bench.iterations() * static_cast<std::int64_t>(events.size()));
  bench.SetBytesProcessed(bench.iterations() * bytes);
}
BENCHMARK(stored_bytes_to_view);

void encode_facts(benchmark::State& bench) {
  std::vector<Fact> facts;
  for (const StoredEvent& event : stored_events()) facts.push_back(*decode(event));
  const RuntimeId runtime{"rt_1"};
  std::string payload;
  for (auto _ : bench)
    for (const Fact& fact : facts) {
      payload.clear();
      write_payload(payload, fact.payload);
      benchmark::DoNotOptimize(payload);
    }
  bench.SetItemsProcessed(bench.iterations() * static_cast<std::int64_t>(facts.size()));
}
BENCHMARK(encode_facts);

}  // namespace

BENCHMARK_MAIN();
