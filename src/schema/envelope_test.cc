#include "schema/envelope.h"

#include <doctest/doctest.h>

#include "schema/catalogue.h"
#include "schema/testing/samples.h"

namespace agentrt::schema {
namespace {

const Timestamp kAt{1'778'207'400'000};  // 2026-05-08T02:30:00.000Z
const RuntimeId kRuntime{"rt_1"};

StoredEvent stored(const Draft& draft, Sequence sequence = 7) {
  return encode(draft, sequence, kAt, kRuntime);
}

std::string rendered(const StoredEvent& event) {
  std::string out;
  write_event(out, event);
  return out;
}

// With a span that was not derived from its ids, as earlier versions wrote them.
const Draft kDelta = [] {
  Draft draft{samples::scope<ModelScope>(), ModelDelta{"hi"}};
  draft.ids.span_id = SpanId{"b7ad6b7169203331"};
  return draft;
}();

TEST_CASE("every fact type is read back as it was written") {
  for (const Draft& draft : samples::drafts()) {
    CAPTURE(type_of(draft.payload));
    const StoredEvent event = stored(draft);
    const auto fact = decode(event);
    REQUIRE(fact);
    CHECK(fact->sequence == 7);
    CHECK(fact->at == kAt);
    CHECK(fact->ids == draft.ids);
    CHECK(fact->payload == draft.payload);
  }
}

TEST_CASE("every fact type with nothing but its defaults is read back as it was written") {
  samples::for_each_fact_type([]<class P>(std::type_identity<P>) {
    CAPTURE(P::kType);
    const auto fact = decode(stored(Draft{samples::scope<typename P::Scope>(), P{}}));
    REQUIRE(fact);
    CHECK(fact->payload == Payload{P{}});
  });
}

TEST_CASE("known_types lists each type once, in the order of the list") {
  const auto drafts = samples::drafts();
  REQUIRE(known_types().size() == drafts.size());
  for (std::size_t i = 0; i < drafts.size(); ++i)
    CHECK(known_types()[i] == type_of(drafts[i].payload));
}

TEST_CASE("an event is its head, its payload's bytes and a brace, and valid JSON") {
  for (const Draft& draft : samples::drafts()) {
    const StoredEvent event = stored(draft);
    std::string head;
    write_head(head, event);
    const std::string whole = rendered(event);
    CHECK(whole == head + ",\"payload\":" + event.payload + "}");
    CHECK_MESSAGE(check_json(whole), whole);
  }
}

TEST_CASE("the envelope names its members in the catalogue's order") {
  CHECK(rendered(stored(kDelta)) ==
        R"({"type":"model.delta","eventId":"evt_sess_1_7","schemaVersion":"0.4.0",)"
        R"("timestamp":"2026-05-08T02:30:00.000Z","sequence":7,"runtimeId":"rt_1",)"
        R"("sessionId":"sess_1","threadId":"thread_1","turnId":"turn_1","taskId":"task_1",)"
        R"("runId":"run_1","attemptId":"attempt_1","modelRequestId":"mreq_1",)"
        R"("traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"b7ad6b7169203331",)"
        R"("payload":{"text":"hi"}})");
  std::vector<std::string_view> members{"type",     "eventId",   "schemaVersion", "timestamp",
                                        "sequence", "runtimeId", "sessionId"};
  boost::mp11::mp_for_each<codec::Members<Ids>>(
      [&](auto d) { members.push_back(codec::kWireName<decltype(d)>.view()); });
  members.push_back("payload");
  members.push_back("refs");
  CHECK(std::ranges::equal(members, envelope_members()));
}

TEST_CASE("an event of the session alone has no ids beside the session's") {
  const StoredEvent event =
      stored({samples::scope<SessionScope>(), RuntimeWarning{"code", "message"}});
  CHECK(event.scope.empty());
  CHECK(check_json(rendered(event)));
  CHECK(decode(event)->ids == samples::scope<SessionScope>().ids());
}

TEST_CASE("event_id is a function of session and sequence and is in the head") {
  CHECK(event_id(SessionId{"sess_1"}, 7) == "evt_sess_1_7");
  CHECK(rendered(stored(kDelta, 12)).contains(R"("eventId":"evt_sess_1_12")"));
}

TEST_CASE("the request that caused a fact is kept with it") {
  SessionScope scope{SessionId{"sess_1"}};
  scope.set_request(RequestId{"req_9"});
  const StoredEvent event = stored({scope, SessionUpdated{}});
  CHECK(event.scope == R"("requestId":"req_9")");
  CHECK(decode(event)->ids.request_id == RequestId{"req_9"});
}

TEST_CASE("a type of a newer build is kept and folded into nothing") {
  StoredEvent event = stored(kDelta);
  event.type = "model.dreamt";
  event.payload = R"({"of":["sheep"]})";
  const auto fact = decode(event);
  REQUIRE(fact);
  CHECK(fact->payload == Payload{UnknownPayload{"model.dreamt"}});
  CHECK(type_of(fact->payload) == "model.dreamt");
  CHECK(fact->ids == kDelta.ids);
}

TEST_CASE("members and ids of a newer build do not hinder reading") {
  StoredEvent event = stored(kDelta);
  event.scope += R"(,"dreamId":"d1")";
  event.payload = R"({"text":"hi","tokens":[{"id":1}]})";
  const auto fact = decode(event);
  REQUIRE(fact);
  CHECK(fact->payload == kDelta.payload);
  CHECK(fact->ids == kDelta.ids);
}

TEST_CASE("a payload that cannot be read is an error, not a default") {
  StoredEvent event = stored(kDelta);
  for (const std::string_view damaged : {"", "{", "[]", R"({"text":7})", R"({"text":"hi)"}) {
    CAPTURE(damaged);
    event.payload = damaged;
    CHECK_FALSE(decode(event));
  }
}

// SHA-256(previous ‖ head ‖ SHA-256(payload)), computed with another program.
TEST_CASE("chain gives the known answer") {
  const Digest first = chain(Digest{}, stored(kDelta, 1));
  CHECK(hex(bytes_of(first)) == "4d24488c6aa020d9bbf292b194ce371d8dcfdecb665222403a68150b8a0949c5");
  const Digest second = chain(first, stored(kDelta, 2));
  CHECK(hex(bytes_of(second)) ==
        "9a20a6ef3b90665f1fc79e7e4dbcf3cf5958725cf64a137c8f744922ec0bec0b");
}

TEST_CASE("chain changes with every part of a row") {
  const StoredEvent event = stored(kDelta);
  const Digest original = chain(Digest{}, event);
  Digest other{};
  other[31] = 1;
  CHECK(chain(other, event) != original);
  const auto changed = [&](auto change) {
    StoredEvent copy = event;
    change(copy);
    return chain(Digest{}, copy) != original;
  };
  CHECK(changed([](StoredEvent& e) { e.session = SessionId{"sess_2"}; }));
  CHECK(changed([](StoredEvent& e) { ++e.sequence; }));
  CHECK(changed([](StoredEvent& e) { ++e.at.ms; }));
  CHECK(changed([](StoredEvent& e) { e.type += 'x'; }));
  CHECK(changed([](StoredEvent& e) { e.schema_version += 'x'; }));
  CHECK(changed([](StoredEvent& e) { e.runtime = RuntimeId{"rt_2"}; }));
  CHECK(changed([](StoredEvent& e) { e.scope.clear(); }));
  CHECK(changed([](StoredEvent& e) { e.payload += ' '; }));
}

}  // namespace
}  // namespace agentrt::schema
