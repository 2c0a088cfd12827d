// schema/json_loose_test.cc: tolerant decoding keeps the valid members.
#include "schema/json_loose.h"

#include <doctest/doctest.h>

#include "schema/facts.h"
#include "schema/facts/permission.h"

namespace agentrt::schema {
namespace {

template <class T>
struct Reading {
  bool object = false;
  T read;
  Met met;
};

template <class T>
Reading<T> loosely(std::string_view text) {
  REQUIRE(check_json(text));
  Reading<T> out;
  out.object = read_loosely(text, out.read, out.met);
  return out;
}

}  // namespace

TEST_CASE("a member that does not fit is remembered and the rest is read on") {
  const auto got = loosely<RunStatus>(R"({"status":"dancing","phase":7,"title":"Working"})");
  CHECK(got.object);
  CHECK(got.read.status == Status::preparing);
  CHECK(got.read.phase.empty());
  CHECK(got.read.title == "Working");
  CHECK(got.met.has("title"));
  CHECK(!got.met.has("status"));
  REQUIRE(got.met.misfits.size() == 2);
  CHECK(got.met.misfits[0].member == "status");
  CHECK(got.met.misfits[0].what.find("expected one of") != std::string::npos);
  CHECK(got.met.misfits[1].what == ": expected a string");
}

TEST_CASE("what does not fit is not there, neither in whole nor in part") {
  const auto action =
      loosely<ActionRequired>(R"({"actionType":"form","prompt":7,"decisions":["allow",7]})");
  CHECK(!action.read.prompt);
  CHECK(!action.read.decisions);
  CHECK(action.met.misfits.size() == 2);
  const auto answer = loosely<ModelCompleted>(
      R"({"text":1,"toolCalls":7,"usage":{"inputTokens":5,"outputTokens":"x"}})");
  CHECK(!answer.read.text);
  CHECK(answer.read.usage == Usage{});
  const auto asked =
      loosely<TurnSubmitted>(R"({"input":[{"type":"text","text":"a"},{"type":"song"}]})");
  CHECK(asked.read.input.empty());
  CHECK(asked.met.misfits.front().what.find("[1]") != std::string::npos);
}

TEST_CASE("null counts as absent") {
  const auto got = loosely<RunStatus>(R"({"status":null,"phase":"p","title":null})");
  CHECK(got.met.misfits.empty());
  CHECK(!got.met.has("status"));
  CHECK(got.met.has("phase"));
}

TEST_CASE("members may come in any order, and unknown ones are passed over") {
  const auto got = loosely<RunStatus>(
      R"({"z":{"deep":[1,{"a":null}]},"title":"T","y":[],"status":"running","phase":"p","x":"x"})");
  CHECK(got.met.misfits.empty());
  CHECK(got.read.status == Status::running);
  CHECK(got.read.title == "T");
  CHECK(got.met.members.size() == 3);
}

TEST_CASE("names are read with their escapes") {
  CHECK(loosely<RunStatus>(R"({"t\u0069tle":"T"})").read.title == "T");
}

TEST_CASE("what is no object is not read") {
  for (const std::string_view text : {"[]", "7", "null", "\"{}\"", "true"})
    CHECK_MESSAGE(!loosely<RunStatus>(text).object, text);
  CHECK(loosely<RunStatus>("{}").object);
  CHECK(loosely<RunStatus>("  {}  ").object);
}

TEST_CASE("what a reading met is kept until it is cleared") {
  Met met;
  RunStatus status;
  REQUIRE(read_loosely(R"({"title":"a","phase":1})", status, met));
  met.clear();
  REQUIRE(read_loosely(R"({"phase":"b"})", status, met));
  CHECK(met.members.size() == 1);
  CHECK(met.misfits.empty());
}

TEST_CASE("numbers keep to the type that they are read into") {
  for (const std::string_view text :
       {R"({"position":-1})", R"({"position":1.5})", R"({"position":"1"})",
        R"({"position":99999999999999999999})"}) {
    const auto got = loosely<QueueChanged>(text);
    CHECK_MESSAGE(got.met.misfits.size() == 1, text);
    CHECK(got.read.position == 0);
  }
}

}  // namespace agentrt::schema
