#include "adapters/mcp/login/challenge.h"

#include <doctest/doctest.h>

using namespace agentrt;
using namespace agentrt::adapters;

TEST_CASE("a Bearer challenge names its metadata, scopes and error") {
  const auto read = read_challenge(
      R"(Bearer realm="x", error="insufficient_scope", scope="a:read  b a:read", )"
      R"(resource_metadata="https://t.example/.well-known/oauth-protected-resource/mcp")");
  REQUIRE(read);
  CHECK(read->resource_metadata == "https://t.example/.well-known/oauth-protected-resource/mcp");
  CHECK(*read->scopes == std::vector<std::string>{"a:read", "b"});
  CHECK(read->lacks_scopes());
}

TEST_CASE("other schemes are skipped") {
  const auto read = read_challenge(
      R"(Basic realm="scope=\"no\"", Negotiate, bearer scope=one, Digest scope="two")");
  REQUIRE(read);
  CHECK(*read->scopes == std::vector<std::string>{"one"});
  CHECK(!read->resource_metadata);
  CHECK(*read_challenge("") == Challenge{});
  CHECK(*read_challenge("Bearer") == Challenge{});
  CHECK(*read_challenge("Basic scope=\"x\"") == Challenge{});
}

TEST_CASE("of a malformed challenge the understood part counts") {
  for (const char* text : {"Bearer scope=\"", "Bearer =,=,\"\"", "\"\"\"", "Bearer scope=\"a\\",
                           ",,,=", "Bearer scope = \"a b\" ,"})
    CHECK_MESSAGE(read_challenge(text), text);
  CHECK(read_challenge("Bearer scope = \"a b\" ,")->scopes->size() == 2);
}

TEST_CASE("limits of a challenge") {
  const std::string blanks(kChallengeBytesMax, ' ');
  CHECK(read_challenge(blanks));
  CHECK(read_challenge(blanks + " ").error().code == Code::too_large);
  std::string scopes;
  for (std::size_t i = 0; i < kScopesMax; ++i) scopes += "s" + std::to_string(i) + " ";
  CHECK(read_scopes(scopes)->size() == kScopesMax);
  CHECK(read_scopes(scopes + "one_more").error().code == Code::limit_exceeded);
}
