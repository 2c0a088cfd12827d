// base/random_bytes.h: random bytes of the operating system, for tokens and other secrets.
#pragma once

#include <cstddef>
#include <string>

namespace agentrt {

inline constexpr std::size_t kRandomBytesMax = 256;  // of one call

// Stops the process if the system provides none.
std::string random_bytes(std::size_t count);

}  // namespace agentrt
