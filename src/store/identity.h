// store/identity.h: what a store is born with. It keeps all but the generation for its life.
//
// Randomness is a parameter: a simulation that seeds it gets the same store every time.
#pragma once

#include <functional>
#include <string>

#include "base/ids.h"

namespace agentrt::store {

// Gives exactly as many random bytes as asked for.
using RandomBytes = std::function<std::string(std::size_t)>;

inline constexpr std::size_t kHashKeyBytes = 32;

struct Identity {
  RuntimeId runtime;
  GenerationId generation;
  std::string hash_key;  // kHashKeyBytes secret bytes

  bool operator==(const Identity&) const = default;
};

Identity fresh_identity(Timestamp now, const RandomBytes& random);
// For a store whose history is not the one that readers have seen.
GenerationId fresh_generation(Timestamp now, const RandomBytes& random);

}  // namespace agentrt::store
