// base/base_test.cc: tests for ids, timestamps and digests, one small case per rule.
#include <doctest/doctest.h>

#include <set>

#include "base/digest.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"

namespace agentrt {

TEST_CASE("a timestamp is written with milliseconds and read back") {
  const Timestamp at{1'778'207'400'007};
  CHECK(format(at) == "2026-05-08T02:30:00.007Z");
  CHECK(parse_timestamp(format(at)) == at);
  CHECK(format(Timestamp{-1}) == "1969-12-31T23:59:59.999Z");
}

TEST_CASE("a text that is no timestamp is refused") {
  for (const char* text : {"", "2026-05-08", "2026-13-08T02:30:00.007Z", "2026-05-08T24:30:00.007Z",
                           "2026-05-08T02:30:00.00xZ", "2026-02-30T02:30:00.000Z"})
    CHECK_FALSE(parse_timestamp(text).has_value());
}

TEST_CASE("ids of one command sort in the order they were made") {
  FreshIds ids{Timestamp{1'000}, 7};
  const auto first = ids.next<TurnId>();
  const auto second = ids.next<TurnId>();
  CHECK(first < second);
  CHECK(first.text().starts_with("turn_"));
  CHECK(first.text().size() == std::string_view("turn_").size() + 26);
}

TEST_CASE("ids sort by time and repeat under the same seed") {
  CHECK(FreshIds{Timestamp{1'000}, 9}.next<TurnId>() <
        FreshIds{Timestamp{1'001}, 1}.next<TurnId>());
  CHECK(FreshIds{Timestamp{5}, 9}.next<TurnId>() == FreshIds{Timestamp{5}, 9}.next<TurnId>());
}

TEST_CASE("ids drawn in the same millisecond never meet") {
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed)
    CHECK(seen.insert(FreshIds{Timestamp{1}, seed * 77}.next<TurnId>().text()).second);
}

TEST_CASE("a caller's id keeps to the documented characters and length") {
  CHECK(well_formed_id("sess_1.a:B-c"));
  CHECK(well_formed_id(std::string(128, 'x')));
  for (const std::string& text : {std::string{}, std::string(129, 'x'), std::string("a b"),
                                  std::string("a/b"), std::string("a\0b", 3), std::string("é")})
    CHECK_FALSE(well_formed_id(text));
}

TEST_CASE("digests agree with the published test vectors") {
  CHECK(hex(bytes_of(sha256("abc"))) ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256("ab", "", "c") == sha256("abc"));
  CHECK(hex(bytes_of(hmac_sha256("Jefe", "what do ya want for nothing?"))) ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST_CASE("every error code has a name of its own that leads back to it") {
  for (int i = 0; i <= static_cast<int>(Code::storage_full); ++i) {
    const Code code = static_cast<Code>(i);
    CHECK(code_of(code_name(code)) == code);
    CHECK(http_status(code) >= 400);
  }
}

}  // namespace agentrt
