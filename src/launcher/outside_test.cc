// launcher/outside_test.cc: tests the resources that are made outside a sandbox and sent inside.
#include "launcher/outside.h"

#include <doctest/doctest.h>

#include "launcher/testing/link_fixture.h"

namespace agentrt::launcher {

TEST_CASE("a file to enter a cgroup by that got lost is missed") {
  for (const std::int32_t said : {2, 3}) {
    Link link;
    const int given[] = {link.outside.get(), link.outside.get()};
    tell(link.outside.get(), Say::prepared, 0, said, {}, given);
    Prepared prepared;
    CHECK(await_prepared(link.inside.get(), prepared) == (said == 2));
    if (said == 2) CHECK(prepared.cgroups.size() == 2);
  }
}

}  // namespace agentrt::launcher
