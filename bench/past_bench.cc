// bench/past_bench.cc: a read with atSequence in a long session, compared with decoding and folding
// the same facts. Prints one JSON object.
//
// past --out FOLDER [--facts N] [--at N] [--rounds N]
#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "kernel/past/past.h"
#include "store/sqlite/sqlite_store.h"
#include "turn_facts.h"

using namespace agentrt;

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kPerAppend = 500;

[[noreturn]] void die(const std::string& what) {
  fmt::print(stderr, "{}\n", what);
  std::exit(1);
}

template <class Work>
double best_ms(int rounds, const Work& work) {
  double best = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto begun = Clock::now();
    work();
    const std::chrono::duration<double, std::milli> took = Clock::now() - begun;
    if (best == 0 || took.count() < best) best = took.count();
  }
  return best;
}

std::unique_ptr<store::SqliteStore> filled_store(const std::string& folder,
                                                 const std::vector<schema::StoredEvent>& events) {
  store::SqliteOptions options;
  options.path = folder + "/past.db";
  options.now = Timestamp{1'780'000'000'000};
  options.random = [](std::size_t count) { return std::string(count, 's'); };
  auto opened = store::SqliteStore::open(std::move(options));
  if (!opened) die(opened.error().message);
  for (std::size_t at = 0; at < events.size(); at += kPerAppend) {
    store::Append append;
    append.session = events.front().session;
    append.expected = at;
    const auto first = events.begin() + static_cast<std::ptrdiff_t>(at);
    const auto count = std::min(kPerAppend, events.size() - at);
    append.events.assign(first, first + static_cast<std::ptrdiff_t>(count));
    const auto done = (*opened)->commit(std::span(&append, 1));
    if (!done.front()) die(done.front().error().message);
  }
  return *std::move(opened);
}

}  // namespace

int main(int count, char** words) {
  std::map<std::string, std::string> options{
      {"--out", "."}, {"--facts", "100000"}, {"--at", "100000"}, {"--rounds", "5"}};
  for (int i = 1; i + 1 < count; i += 2) options[words[i]] = words[i + 1];
  const std::size_t facts = std::stoull(options["--facts"]);
  const Sequence at = std::stoull(options["--at"]);
  const int rounds = std::stoi(options["--rounds"]);
  std::vector<schema::StoredEvent> events =
      bench::stored_turns(static_cast<int>(facts / bench::kFactsPerTurn) + 1);
  events.resize(facts);
  const auto store = filled_store(options["--out"], events);

  const control::Settings settings;
  const kernel::Limits limits;
  const std::atomic<bool> stopped{false};
  const kernel::PastSource source{*store, settings, limits, stopped};
  schema::GetSession query;
  query.session_id = events.front().session;
  query.at_sequence = at;
  const double past = best_ms(rounds, [&] {
    if (const auto reply = kernel::past_session(source, query); !reply) die(reply.error().message);
  });
  const double bare = best_ms(rounds, [&] {
    state::Session view;
    for (const schema::StoredEvent& event : events) {
      if (event.sequence > at) break;
      state::fold(view, *schema::decode(event));
    }
  });
  fmt::print(R"({{"past_ms":{:.3f},"bare_ms":{:.3f}}})"
             "\n",
             past, bare);
  return 0;
}
