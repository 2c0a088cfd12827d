// runtime/open_work_test.cc: tests what keeps a background owner alive.
#include <doctest/doctest.h>

#include "runtime/open_work.h"

namespace agentrt::runtime {

TEST_CASE("each kind of open work keeps the owner, and nothing else does") {
  CHECK_FALSE(needed({}));
  CHECK(needed({.connections = 1}));
  CHECK(needed({.sessions = 1}));
  CHECK(needed({.timers = 1}));
  CHECK(needed({.recovering = true}));
}

}  // namespace agentrt::runtime
