// policy/web_rules_test.cc: tests the decisions about web_fetch.
#include <doctest/doctest.h>

#include "policy/permission.h"

namespace agentrt::policy {
namespace {

using schema::Decision;
using schema::PermissionMode;
using schema::RuleEffect;
using schema::RuleOrigin;

using RuleSet = std::shared_ptr<const Rules>;

RuleSet rules_of(std::vector<schema::PolicyRule> sources) {
  auto rules = compile(sources);
  REQUIRE(rules);
  return std::make_shared<const Rules>(*std::move(rules));
}

Decision under(PermissionMode mode, const Asked& asked, const RuleSet& rules = no_rules()) {
  return judge(asked, {.rules = rules, .mode = mode}).decision;
}

}  // namespace

TEST_CASE("web_fetch is asked about in every mode but bypass, and rules name its hosts") {
  const auto page = [](std::string url) {
    return Asked{.tool = "web_fetch",
                 .text = std::move(url),
                 .cwd = "/ws",
                 .workspace = "/ws",
                 .access = Access::read_only};
  };
  using enum PermissionMode;
  for (const PermissionMode mode : {default_, untrusted, on_request, on_failure, plan, auto_})
    CHECK(under(mode, page("https://a.org/")) == Decision::ask);
  CHECK(under(never, page("https://a.org/")) == Decision::unavailable);
  CHECK(under(bypass, page("https://a.org/")) == Decision::allow);

  const RuleSet rules =
      rules_of({{RuleEffect::allow, "web_fetch(a.org)", RuleOrigin::user},
                {RuleEffect::allow, "web_fetch(*.b.org)", RuleOrigin::user},
                {RuleEffect::allow, R"(web_fetch("https://c.org/x"))", RuleOrigin::user},
                {RuleEffect::deny, "web_fetch(bad.b.org)", RuleOrigin::user}});
  const auto judged = [&](std::string url) { return under(default_, page(std::move(url)), rules); };
  CHECK(judged("https://a.org:8443/x") == Decision::allow);
  CHECK(judged("https://www.a.org/") == Decision::ask);
  CHECK(judged("https://b.org/") == Decision::ask);
  CHECK(judged("https://www.b.org/") == Decision::allow);
  CHECK(judged("https://bad.b.org/") == Decision::deny);
  CHECK(judged("https://very.bad.b.org/") == Decision::deny);
  CHECK(judged("https://c.org/x") == Decision::allow);
  CHECK(judged("https://c.org/x?y") == Decision::ask);
  CHECK(judged("https://a.org.evil.example/") == Decision::ask);
}

}  // namespace agentrt::policy
