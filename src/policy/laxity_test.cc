#include "policy/laxity.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace agentrt::policy {
namespace {

using schema::PermissionMode;
using schema::SandboxMode;

template <class E>
std::vector<E> every() {
  std::vector<E> out;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>(
      [&](auto each) { out.push_back(each.value); });
  return out;
}

}  // namespace

TEST_CASE("a mode that is at most as lax permits nothing that the other does not") {
  const std::vector<std::pair<PermissionMode, PermissionMode>> incomparable = {
      {PermissionMode::plan, PermissionMode::untrusted},
      {PermissionMode::never, PermissionMode::untrusted}};
  for (const PermissionMode a : every<PermissionMode>()) {
    CHECK(at_most_as_lax(a, a));
    CHECK(at_most_as_lax(a, PermissionMode::bypass));
    for (const PermissionMode b : every<PermissionMode>()) {
      CAPTURE(schema::name_of(a));
      CAPTURE(schema::name_of(b));
      const bool known = std::ranges::any_of(incomparable, [&](const auto& pair) {
        return pair == std::pair(a, b) || pair == std::pair(b, a);
      });
      CHECK((at_most_as_lax(a, b) || at_most_as_lax(b, a)) == !known);
    }
  }
  for (const PermissionMode mode :
       {PermissionMode::plan, PermissionMode::never, PermissionMode::untrusted})
    CHECK(at_most_as_lax(mode, PermissionMode::default_));
  CHECK(!at_most_as_lax(PermissionMode::bypass, PermissionMode::auto_));
  CHECK(at_most_as_lax(SandboxMode::read_only, SandboxMode::full_access));
  CHECK(at_most_as_lax(SandboxMode::read_only, SandboxMode::workspace_write));
  CHECK(at_most_as_lax(SandboxMode::workspace_write, SandboxMode::full_access));
  CHECK(!at_most_as_lax(SandboxMode::full_access, SandboxMode::workspace_write));
  CHECK(!at_most_as_lax(SandboxMode::workspace_write, SandboxMode::read_only));
}

TEST_CASE("a turn approves in advance when it is laxer than the standard ones") {
  std::vector<std::optional<PermissionMode>> modes = {std::nullopt};
  for (const PermissionMode mode : every<PermissionMode>()) modes.emplace_back(mode);
  std::vector<std::optional<SandboxMode>> sandboxes = {std::nullopt};
  for (const SandboxMode sandbox : every<SandboxMode>()) sandboxes.emplace_back(sandbox);
  for (const auto& mode : modes)
    for (const auto& sandbox : sandboxes) {
      const bool lax_mode = mode == PermissionMode::on_request ||
                            mode == PermissionMode::on_failure || mode == PermissionMode::auto_ ||
                            mode == PermissionMode::bypass;
      CHECK(approves_in_advance({.mode = mode, .sandbox = sandbox}) ==
            (lax_mode || sandbox == SandboxMode::full_access));
    }
}

}  // namespace agentrt::policy
