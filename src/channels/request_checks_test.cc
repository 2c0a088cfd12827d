#include "channels/request_checks.h"

#include <doctest/doctest.h>

namespace agentrt::channels {

TEST_CASE("only names of this machine and those it was given are its Host") {
  const std::vector<std::string> names = {"agent.example"};
  for (const char* host : {"127.0.0.1", "127.0.0.1:7717", "localhost", "LocalHost:1", "[::1]",
                           "[::1]:7717", "agent.example", "agent.example:443"})
    CHECK_MESSAGE(host_allowed(host, names), host);
  for (const char* host : {"", "evil.com", "127.0.0.1.evil.com", "localhost.", "localhost:", "::1",
                           "localhost:80x", "localhost:123456", "[::1", "[::1]x", "127.0.0.1 ",
                           "localhost@evil.com", "agent.example.evil.com", "127.1"})
    CHECK_MESSAGE(!host_allowed(host, names), host);
}

TEST_CASE("an Origin is the daemon's own only where it is the very Host") {
  CHECK(origin_is_own("http://localhost:7717", "localhost:7717"));
  CHECK(origin_is_own("https://agent.example", "agent.example"));
  for (const char* origin :
       {"null", "", "http://localhost", "http://localhost:3000", "http://127.0.0.1:7717",
        "file://localhost:7717", "http://localhost:7717.evil.com", "localhost:7717"})
    CHECK_MESSAGE(!origin_is_own(origin, "localhost:7717"), origin);
}

TEST_CASE("a content type is JSON with or without parameters") {
  CHECK(is_json("application/json"));
  CHECK(is_json("Application/JSON ; charset=utf-8"));
  for (const char* type : {"", "text/plain", "application/jsonp", "text/plain; application/json"})
    CHECK_MESSAGE(!is_json(type), type);
}

TEST_CASE("a stream is asked for by naming its media type") {
  CHECK(accepts_stream("text/event-stream"));
  CHECK(accepts_stream("application/json, text/event-stream;q=0.9"));
  CHECK(!accepts_stream("*/*"));
  CHECK(!accepts_stream(""));
}

TEST_CASE("a bearer token is what follows the scheme") {
  CHECK(bearer_token("Bearer abc") == "abc");
  CHECK(bearer_token("bearer  abc ") == "abc");
  CHECK(!bearer_token("Basic abc"));
  CHECK(!bearer_token("Bearer "));
  CHECK(!bearer_token("Bear"));
}

TEST_CASE("a trace is taken from a well-formed traceparent only") {
  const std::string trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  const SpanId parent{"00f067aa0ba902b7"};
  CHECK(trace_of("00-" + trace + "-00f067aa0ba902b7-01") ==
        TraceContext{TraceId{trace}, parent, true});
  CHECK(trace_of("00-" + trace + "-00f067aa0ba902b7-02") ==
        TraceContext{TraceId{trace}, parent, false});
  CHECK_FALSE(trace_of("00-" + trace + "-00f067aa0ba902b7")->sampled);
  for (const std::string& text :
       {std::string{}, "ff-" + trace + "-00f067aa0ba902b7-01", "00-" + trace,
        std::string{"00-00000000000000000000000000000000-00f067aa0ba902b7-01"},
        "00-" + trace + "-0000000000000000-01", "00-" + trace.substr(1) + "-00f067aa0ba902b7-01"})
    CHECK_MESSAGE(!trace_of(text), text);
}

TEST_CASE("a target is split into decoded segments and parameters") {
  const auto target = read_target("/v1/a%2Fb/c?x=1&y=a+b%21&z&=");
  REQUIRE(target);
  CHECK(target->path == std::vector<std::string>{"v1", "a/b", "c"});
  CHECK(target->query == Query{{"x", "1"}, {"y", "a b!"}, {"z", ""}, {"", ""}});
  CHECK(read_target("/")->path.empty());
  for (const char* text : {"", "*", "http://localhost/", "/%", "/%1", "/%zz", "/?a=%"})
    CHECK_MESSAGE(read_target(text).error().code == Code::invalid_params, text);
}

TEST_CASE("numbers and flags of a query are exact or refused by name") {
  const Query query = {{"limit", "10"}, {"bad", "-1"},   {"big", "18446744073709551616"},
                       {"empty", ""},   {"yes", "true"}, {"maybe", "maybe"}};
  CHECK(find_number(query, "limit").value() == 10);
  CHECK(find_number(query, "none").value() == std::nullopt);
  CHECK(find_flag(query, "yes").value() == true);
  CHECK(find_flag(query, "none").value() == std::nullopt);
  CHECK(find_flag(query, "maybe").error().code == Code::invalid_params);
  for (const char* name : {"bad", "big", "empty"})
    CHECK(find_number(query, name).error().message.starts_with(name));
}

}  // namespace agentrt::channels
