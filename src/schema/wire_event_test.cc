// schema/wire_event_test.cc: written events decode to the same bytes.
#include "schema/wire_event.h"

#include <doctest/doctest.h>

#include "schema/testing/samples.h"

namespace agentrt::schema {

TEST_CASE("every fact type read from the wire is the event that was written") {
  for (const Draft& draft : samples::drafts()) {
    const StoredEvent event = encode(draft, 7, Timestamp{1'790'000'000'123}, RuntimeId{"rt_1"});
    std::string text;
    write_event(text, event);
    const auto back = read_event(text);
    REQUIRE(back.has_value());
    CHECK(*back == event);
  }
}

TEST_CASE("a text that is no event is refused with what is wrong") {
  for (const char* text :
       {"", "[]", "{}", R"({"type":"x","sessionId":"s","sequence":0,"payload":{}})",
        R"({"type":"x","sessionId":"s","sequence":1,"timestamp":"yesterday","payload":{}})",
        R"({"type":"x","sessionId":"s","sequence":1,"payload":[]})",
        R"({"type":"x","sessionId":"s","sequence":-1,"payload":{}})"}) {
    CAPTURE(text);
    const auto event = read_event(text);
    REQUIRE_FALSE(event.has_value());
    CHECK(event.error().code == Code::invalid_params);
  }
}

}  // namespace agentrt::schema
