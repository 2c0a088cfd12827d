#include "schema/codec.h"

#include <doctest/doctest.h>

namespace agentrt::schema {
namespace {

BOOST_DEFINE_ENUM_CLASS(Mood, calm, default_, in_a_hurry)

struct Inner {
  std::uint8_t level = 0;
  std::optional<std::string> note;

  bool operator==(const Inner&) const = default;
};
BOOST_DESCRIBE_STRUCT(Inner, (), (level, note))

struct Outer {
  TurnId turn_id;
  std::string text;
  std::optional<bool> is_on;
  std::int32_t offset = 0;
  std::vector<Inner> parts;
  std::map<std::string, std::uint64_t> counts;
  Mood mood = Mood::calm;
  std::optional<Json> extra;
  Timestamp at;

  bool operator==(const Outer&) const = default;
};
BOOST_DESCRIBE_STRUCT(Outer, (), (turn_id, text, is_on, offset, parts, counts, mood, extra, at))

// The error message of strict decoding, or "" if `text` is accepted.
template <class T>
std::string complaint(std::string_view text) {
  T out;
  const auto done = from_json(text, out, Unknown::refuse);
  if (!done) CHECK(done.error().code == Code::invalid_params);
  return done ? "" : done.error().message;
}

// The required members of an Outer, plus `members`.
std::string outer(std::string_view members) {
  return R"({"turnId":"t","text":"","offset":0,"parts":[],"counts":{},"mood":"calm",)"
         R"("at":"2026-05-08T02:30:00.000Z")" +
         std::string(members) + "}";
}

// Like outer(), with the value of one member replaced.
std::string outer_with(std::string_view member, std::string_view value) {
  std::string text = outer("");
  const std::string key = "\"" + std::string(member) + "\":";
  const std::size_t from = text.find(key) + key.size();
  std::size_t to = from;
  while (text[to] != ',' && text[to] != '}') ++to;
  if (text[from] == '{') ++to;  // counts: {}
  return text.replace(from, to - from, value);
}

TEST_CASE("members are camelCase on the wire and keyword escapes leave no trace") {
  CHECK(codec::wire_name("turn_id").view() == "turnId");
  CHECK(codec::wire_name("as_of_sequence").view() == "asOfSequence");
  CHECK(codec::wire_name("default_").view() == "default");
  CHECK(name_of(Mood::default_) == "default");
  CHECK(name_of(Mood::in_a_hurry) == "in_a_hurry");
  CHECK(enum_of<Mood>("default") == Mood::default_);
  CHECK_FALSE(enum_of<Mood>("default_"));
}

TEST_CASE("absent optionals and absent ids are not written") {
  Outer value;
  CHECK(to_json(value) == R"({"text":"","offset":0,"parts":[],"counts":{},"mood":"calm",)"
                          R"("at":"1970-01-01T00:00:00.000Z"})");
  value.turn_id = TurnId{"turn_1"};
  value.is_on = false;
  value.parts = {{3, std::nullopt}, {4, "n"}};
  value.counts = {{"a", 1}, {"b", 2}};
  CHECK(to_json(value) == R"({"turnId":"turn_1","text":"","isOn":false,"offset":0,)"
                          R"("parts":[{"level":3},{"level":4,"note":"n"}],)"
                          R"("counts":{"a":1,"b":2},"mood":"calm",)"
                          R"("at":"1970-01-01T00:00:00.000Z"})");
}

TEST_CASE("what is written is read back as it was") {
  Outer value{.turn_id = TurnId{"turn_1"},
              .text = "quote \" slash \\ line \n nul \x01 \xf0\x9f\x98\x80",
              .is_on = true,
              .offset = -2'147'483'648,
              .parts = {{255, "x"}},
              .counts = {{"k", 18'446'744'073'709'551'615U}},
              .mood = Mood::default_,
              .extra = Json{R"([1, 2])"},
              .at = Timestamp{1'778'207'400'123}};
  Outer back;
  REQUIRE(from_json(to_json(value), back, Unknown::refuse));
  CHECK(back == value);
}

TEST_CASE("a lenient reader ignores what it does not know and keeps defaults for what is missing") {
  Outer back;
  REQUIRE(from_json(R"({"new":{"deep":[1]},"text":"a","text":"b"})", back, Unknown::ignore));
  CHECK(back.text == "b");
  CHECK(back == Outer{.text = "b"});
}

TEST_CASE("a strict reader refuses unknown, repeated and missing members by path") {
  CHECK(complaint<Outer>(outer("")) == "");
  CHECK(complaint<Outer>(outer(R"(,"colour":1)")) == "colour: unknown member");
  CHECK(complaint<Outer>(outer(R"(,"text":"again")")) == "text: given twice");
  CHECK(complaint<Outer>("{}") == "turnId: required member is missing");
  CHECK(complaint<Outer>(outer_with("parts", R"([{"level":1},{"note":"n"}])")) ==
        "parts[1].level: required member is missing");
  CHECK(complaint<Outer>(outer_with("parts", R"([{"level":1,"size":2}])")) ==
        "parts[0].size: unknown member");
}

TEST_CASE("a wrong type is refused with the exact path") {
  CHECK(complaint<Outer>("[]") == "expected a JSON object");
  CHECK(complaint<Outer>(outer_with("text", "7")) == "text: expected a string");
  CHECK(complaint<Outer>(outer_with("text", "null")) == "text: expected a string");
  CHECK(complaint<Outer>(outer(R"(,"isOn":"yes")")) == "isOn: expected true or false");
  CHECK(complaint<Outer>(outer(R"(,"isOn":null)")) == "isOn: expected true or false");
  CHECK(complaint<Outer>(outer_with("parts", "{}")) == "parts: expected an array");
  CHECK(complaint<Outer>(outer_with("parts", R"(["x"])")) == "parts[0]: expected an object");
  CHECK(complaint<Outer>(outer_with("parts", R"([{"level":[]}])")) ==
        "parts[0].level: expected a whole number, 0 or more");
  CHECK(complaint<Outer>(outer_with("counts", R"({"a b":-1})")) ==
        "counts.a b: expected a whole number, 0 or more");
  CHECK(complaint<Outer>(outer_with("at", R"("yesterday")")) ==
        "at: expected an instant like 2026-05-08T02:30:00.000Z");
}

TEST_CASE("numbers out of range or with a fraction are refused") {
  CHECK(complaint<Outer>(outer_with("offset", "2147483647")) == "");
  CHECK(complaint<Outer>(outer_with("offset", "2147483648")) ==
        "offset: the number is out of range");
  CHECK(complaint<Outer>(outer_with("offset", "9223372036854775808")) ==
        "offset: expected a whole number");
  CHECK(complaint<Outer>(outer_with("offset", "1.0")) == "offset: expected a whole number");
  CHECK(complaint<Outer>(outer_with("offset", "1e2")) == "offset: expected a whole number");
  CHECK(complaint<Outer>(outer_with("parts", R"([{"level":256}])")) ==
        "parts[0].level: the number is too large");
  CHECK(complaint<Outer>(outer_with("parts", R"([{"level":-1}])")) ==
        "parts[0].level: expected a whole number, 0 or more");
}

TEST_CASE("a word outside its list is refused with the list") {
  CHECK(complaint<Outer>(outer_with("mood", R"("angry")")) ==
        "mood: expected one of calm, default, in_a_hurry");
  CHECK(complaint<Outer>(outer_with("mood", R"("CALM")")) ==
        "mood: expected one of calm, default, in_a_hurry");
}

TEST_CASE("a caller's id must be well formed, a stored one is taken as it is") {
  const std::string longest(128, 'x');
  CHECK(complaint<Outer>(outer_with("turnId", "\"" + longest + "\"")) == "");
  for (const std::string& bad : {std::string(), longest + "x", std::string("a/b"),
                                 std::string("a b"), std::string("\xc3\xa9")}) {
    CAPTURE(bad);
    CHECK(
        complaint<Outer>(outer_with("turnId", "\"" + bad + "\"")).starts_with("turnId: an id is"));
    Outer back;
    CHECK(from_json(outer_with("turnId", "\"" + bad + "\""), back, Unknown::ignore));
  }
}

TEST_CASE("JSON that is not ours is carried byte for byte") {
  for (const std::string_view text :
       {"1.10", "9223372036854775808", "1e400", "-0", R"("a\u0041\/")", R"({"b": 1 ,"a":[ ]})",
        "[1.10,\t2]", "null", "true", R"({"k":1,"k":2})"}) {
    CAPTURE(text);
    Outer back;
    REQUIRE(from_json(outer(R"(,"extra":)" + std::string(text) + " "), back, Unknown::refuse));
    REQUIRE(back.extra);
    CHECK(back.extra->text == text);
    CHECK(to_json(*back.extra) == text);
  }
}

}  // namespace
}  // namespace agentrt::schema
