#include "base/random_bytes.h"

#include <sys/random.h>

#include "base/check.h"

namespace agentrt {

std::string random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  check(count <= kRandomBytesMax &&
            ::getrandom(bytes.data(), count, 0) == static_cast<ssize_t>(count),
        "the system provides random bytes");
  return bytes;
}

}  // namespace agentrt
