#include "store/identity.h"

#include <cstring>

#include "base/check.h"

namespace agentrt::store {

Identity fresh_identity(Timestamp now, const RandomBytes& random) {
  check(static_cast<bool>(random), "a new store is given a source of random bytes");
  std::uint64_t seed = 0;
  const std::string drawn = random(sizeof seed);
  check(drawn.size() == sizeof seed, "the random source gives as many bytes as asked for");
  std::memcpy(&seed, drawn.data(), sizeof seed);
  FreshIds ids(now, seed);

  Identity identity;
  identity.runtime = ids.next<RuntimeId>();
  identity.generation = ids.next<GenerationId>();
  identity.hash_key = random(kHashKeyBytes);
  check(identity.hash_key.size() == kHashKeyBytes,
        "the random source gives as many bytes as asked for");
  return identity;
}

}  // namespace agentrt::store
