#include "store/identity.h"

#include <cstring>

#include "base/check.h"

namespace agentrt::store {
namespace {

FreshIds fresh_ids(Timestamp now, const RandomBytes& random) {
  check(static_cast<bool>(random), "a new store is given a source of random bytes");
  std::uint64_t seed = 0;
  const std::string drawn = random(sizeof seed);
  check(drawn.size() == sizeof seed, "the random source gives as many bytes as asked for");
  std::memcpy(&seed, drawn.data(), sizeof seed);
  return FreshIds(now, seed);
}

}  // namespace

GenerationId fresh_generation(Timestamp now, const RandomBytes& random) {
  return fresh_ids(now, random).next<GenerationId>();
}

Identity fresh_identity(Timestamp now, const RandomBytes& random) {
  FreshIds ids = fresh_ids(now, random);
  Identity identity;
  identity.runtime = ids.next<RuntimeId>();
  identity.generation = ids.next<GenerationId>();
  identity.hash_key = random(kHashKeyBytes);
  check(identity.hash_key.size() == kHashKeyBytes,
        "the random source gives as many bytes as asked for");
  return identity;
}

}  // namespace agentrt::store
