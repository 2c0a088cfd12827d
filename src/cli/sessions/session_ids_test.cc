#include "cli/sessions/session_ids.h"

#include <doctest/doctest.h>

namespace agentrt::cli {
namespace {

std::vector<SessionId> ids(std::initializer_list<const char*> texts) {
  std::vector<SessionId> out;
  for (const char* text : texts) out.emplace_back(text);
  return out;
}

constexpr const char* kFirst = "sess_06e4jk2m3a000abcdefghjkmnp";
constexpr const char* kSameTime = "sess_06e4jk2m3a000abzzzzzzzzzzz";
constexpr const char* kLater = "sess_06e4jk2m4b000abcdefghjkmnp";

}  // namespace

TEST_CASE("the time of creation is enough of a generated id") {
  CHECK(short_ids(ids({kFirst, kLater, "docs", "a_name_of_twenty_byte"})) ==
        std::vector<std::string>{"sess_06e4jk2m3a", "sess_06e4jk2m4b", "docs",
                                 "a_name_of_twenty_byte"});
}

TEST_CASE("ids of the same millisecond get longer prefixes") {
  const auto names = short_ids(ids({kFirst, kSameTime}));
  CHECK(names == std::vector<std::string>{"sess_06e4jk2m3a000abc", "sess_06e4jk2m3a000abz"});
  for (const std::string& name : names) CHECK(match_id(name, ids({kFirst, kSameTime})));
  CHECK(short_ids(ids({kFirst, kFirst})).front() == kFirst);
}

TEST_CASE("a prefix names the only session that begins with it") {
  const auto all = ids({kFirst, kSameTime, kLater, "docs", "docs-old"});
  CHECK(match_id("sess_06e4jk2m4", all)->text() == kLater);
  CHECK(match_id("docs", all)->text() == "docs");
  CHECK(match_id("docs-", all)->text() == "docs-old");
  const auto several = match_id("sess_06e4jk2m3a", all);
  REQUIRE(!several);
  CHECK(several.error().code == Code::invalid_params);
  CHECK(several.error().message.contains(kFirst));
  CHECK(several.error().message.contains(kSameTime));
  CHECK(several.error().details.contains("matches"));
}

TEST_CASE("an unknown id names the nearest ones") {
  const auto all = ids({kFirst, kLater, "docs", "release"});
  const auto none = match_id("dosc", all);
  REQUIRE(!none);
  CHECK(none.error().code == Code::not_found);
  CHECK(none.error().details == R"({"nearMatches":["docs"]})");
  CHECK(match_id("relaese", all).error().message.contains("did you mean release?"));
  CHECK(near_matches("sess_06e4jk2m9", all) == std::vector<std::string>{kFirst, kLater});
  CHECK(near_matches("nothing-like-it", all).empty());
  CHECK(match_id("nothing-like-it", all).error().details.empty());
  CHECK(match_id("x", {}).error().code == Code::not_found);
}

TEST_CASE("a long list of matches is shortened") {
  std::vector<SessionId> many;
  for (int i = 0; i < 20; ++i) many.emplace_back("run-" + std::to_string(i + 10));
  const auto several = match_id("run-", many);
  REQUIRE(!several);
  CHECK(several.error().message.contains("20 session ids"));
  CHECK(several.error().message.contains("and 12 more"));
}

}  // namespace agentrt::cli
