// Fuzzes the decoders with text that was cut, modified or made up. They may reject or accept it,
// but must not crash; accepted commands must encode to valid JSON again.
#include <random>

#include <doctest/doctest.h>

#include "schema/envelope.h"
#include "schema/testing/samples.h"

namespace agentrt::schema {
namespace {

constexpr std::uint64_t kSeed = 20'260'508;
constexpr int kRoundsPerText = 60;

// Applies a few random cuts, changes, insertions and duplications.
std::string damaged(std::string text, std::mt19937_64& random) {
  static constexpr std::string_view kSpice =
      "{}[]\",:\\0189-+.eEutfn \n\x00\x1f\x7f\x80\xc3\xed\xff";
  for (auto rounds = random() % 3 + 1; rounds > 0 && !text.empty(); --rounds) {
    const std::size_t at = random() % text.size();
    const std::size_t size = random() % std::min<std::size_t>(text.size() - at, 24);
    const char c = kSpice[random() % kSpice.size()];
    switch (random() % 6) {
      case 0:
        text.resize(at);
        break;
      case 1:
        text[at] = c;
        break;
      case 2:
        text.insert(at, 1, c);
        break;
      case 3:
        text.erase(at, size);
        break;
      case 4:
        text.insert(random() % text.size(), text.substr(at, size));
        break;
      default:
        text[at] = static_cast<char>(text[at] ^ (1U << random() % 8));
        break;
    }
  }
  return text;
}

TEST_CASE("damaged params are refused or understood, never more") {
  std::mt19937_64 random{kSeed};
  samples::for_each_command_type([&]<class C>(std::type_identity<C>) {
    const std::string text = to_json(samples::whole<C>());
    for (int i = 0; i < kRoundsPerText * 4; ++i) {
      const auto command = read_command(C::kTraits.name, damaged(text, random));
      if (!command) continue;
      const std::string again = canonical_params(*command);
      CHECK_MESSAGE(check_json(again), again);
    }
  });
}

TEST_CASE("damaged rows are refused or understood, never more") {
  std::mt19937_64 random{kSeed + 1};
  int refused = 0;
  for (const Draft& draft : samples::drafts()) {
    const StoredEvent event = encode(draft, 1, Timestamp{0}, RuntimeId{"rt_1"});
    for (int i = 0; i < kRoundsPerText; ++i) {
      StoredEvent copy = event;
      copy.payload = damaged(event.payload, random);
      if (i % 2) copy.scope = damaged(event.scope, random);
      refused += !decode(copy);
    }
  }
  CHECK(refused > 0);
}

TEST_CASE("noise is never taken for a command") {
  std::mt19937_64 random{kSeed + 2};
  for (int i = 0; i < 2'000; ++i) {
    std::string noise(random() % 200, '\0');
    for (char& c : noise) c = static_cast<char>(random());
    CHECK_FALSE(read_command("submit_turn", noise));
  }
}

}  // namespace
}  // namespace agentrt::schema
