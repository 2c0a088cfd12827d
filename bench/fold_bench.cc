// bench/fold_bench.cc: measures folding of decoded facts, decoding of stored bytes, both together,
// and encoding of payloads. The facts are those of plain turns with twenty text fragments each.
#include <benchmark/benchmark.h>

#include "state/session.h"
#include "turn_facts.h"

using namespace agentrt;
using namespace agentrt::schema;

namespace {

constexpr int kTurns = 50;

std::vector<StoredEvent> stored_events() { return bench::stored_turns(kTurns); }

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
