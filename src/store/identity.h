// store/identity.h: the ids and the secret key that a store gets when it is created. Only the
// generation may change later.
//
// The source of randomness is a parameter, so a simulation with a fixed seed gets the same store
// every time.
#pragma once

#include <functional>
#include <string>

#include "base/ids.h"

namespace agentrt::store {

// Returns exactly the requested number of random bytes.
using RandomBytes = std::function<std::string(std::size_t)>;

inline constexpr std::size_t kHashKeyBytes = 32;

struct Identity {
  RuntimeId runtime;
  GenerationId generation;
  std::string hash_key;  // kHashKeyBytes secret bytes

  bool operator==(const Identity&) const = default;
};

Identity fresh_identity(Timestamp now, const RandomBytes& random);
// A new generation, for a store whose history differs from what readers have seen (see
// store/sqlite/witness.h).
GenerationId fresh_generation(Timestamp now, const RandomBytes& random);

}  // namespace agentrt::store
