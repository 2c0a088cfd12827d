// validate/docs_test.cc: docs/conformance.md matches the rule table. AGENTRT_UPDATE_DOCS=1 rewrites
// the section.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "schema/catalogue.h"
#include "schema/provisional.h"
#include "validate/members.h"
#include "validate/rules.h"

namespace agentrt::validate {
namespace {

constexpr std::string_view kBegin = "<!-- rules: begin -->\n";
constexpr std::string_view kEnd = "<!-- rules: end -->\n";

std::filesystem::path page() {
  return std::filesystem::path(AGENTRT_SOURCE_DIR) / "docs/conformance.md";
}

std::string section() {
  std::string out;
  for (const Rule& rule : rules()) {
    out +=
        fmt::format("### {}\n\n{} Severity: {}; profile: {}{}.\n\nViolated by {}.\n\n", rule.id,
                    rule.protects, name_of(rule.severity), name_of(rule.profile),
                    rule.standing == Standing::provisional ? "; provisional" : "", rule.broken_by);
  }
  return out;
}

}  // namespace

TEST_CASE("the page on conformance has every rule as it is judged") {
  std::stringstream read;
  read << std::ifstream(page()).rdbuf();
  std::string text = read.str();
  const std::size_t begin = text.find(kBegin), end = text.find(kEnd);
  REQUIRE(begin != std::string::npos);
  REQUIRE(end != std::string::npos);
  const std::size_t from = begin + kBegin.size();
  if (std::getenv("AGENTRT_UPDATE_DOCS") != nullptr) {
    text.replace(from, end - from, section());
    std::ofstream(page()) << text;
  }
  CHECK(text.substr(from, text.find(kEnd) - from) == section());
}

TEST_CASE("rule ids are unique and their sentences are sentences") {
  std::set<std::string_view> ids;
  for (const Rule& rule : rules()) {
    CAPTURE(rule.id);
    CHECK(ids.insert(rule.id).second);
    CHECK(rule.protects.ends_with('.'));
    CHECK_FALSE(rule.broken_by.ends_with('.'));
    CHECK(find_rule(rule.id) == &rule);
  }
}

TEST_CASE("every type of the standard can be read, and each once") {
  std::set<std::string_view> types;
  boost::mp11::mp_for_each<
      boost::mp11::mp_transform<boost::mp11::mp_identity, schema::StandardFacts>>(
      [&]<class P>(boost::mp11::mp_identity<P>) { CHECK(types.insert(P::kType).second); });
  CHECK(types.size() == schema::event_types().size());
  for (const schema::EventType& type : schema::event_types()) CHECK(types.contains(type.type));
}

TEST_CASE("of the members with a fixed name a type's payload has at least one of each choice") {
  boost::mp11::mp_for_each<
      boost::mp11::mp_transform<boost::mp11::mp_identity, schema::StandardFacts>>(
      []<class P>(boost::mp11::mp_identity<P>) {
        for (const FixedMember& member : fixed_members(P::kType)) {
          bool there = false;
          for (const auto& row : schema::codec::kMemberRows<P>)
            there |= std::ranges::find(member.names, row.name) != member.names.end();
          CAPTURE(P::kType);
          CAPTURE(member.names.front());
          CHECK(there);
        }
      });
}

}  // namespace agentrt::validate
