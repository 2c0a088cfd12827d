// control/sessions_test.cc: tests the creation and update of sessions.
#include <doctest/doctest.h>

#include "control/testing/given.h"

namespace agentrt::control {

using namespace schema;
using state::Given;
using state::kSession;

namespace {

CreateSession named_session() { return {.session_id = kSession, .title = "mine", .cwd = "/w"}; }

Given created() {
  Given past;
  return past.fact(SessionScope{kSession},
                   SessionCreated{.title = "mine", .cwd = "/w", .params_hash = "hash_1"});
}

}  // namespace

TEST_CASE("create_session makes the session and answers with its sequence") {
  const Outcome outcome = when(Given{}, named_session());
  CHECK(outcome.shape() == "session.created");
  CHECK(outcome.payload_of<SessionCreated>() ==
        SessionCreated{.title = "mine", .cwd = "/w", .params_hash = "hash_1"});
  CHECK(outcome.reply_text() ==
        R"({"sessionId":"sess_1","title":"mine","cwd":"/w","archived":false,"sequence":1})");
}

TEST_CASE("create_session without an id keeps no hash and takes the default workspace") {
  const Outcome outcome = when(Given{}, CreateSession{});
  CHECK(outcome.payload_of<SessionCreated>() == SessionCreated{.cwd = "/w"});
}

TEST_CASE("create_session again with the same params gives the same reply and no new fact") {
  const Outcome first = when(Given{}, named_session());
  const Outcome again = when(created(), named_session());
  CHECK(again.shape() == "unchanged");
  CHECK(again.reply_text() == first.reply_text());
}

TEST_CASE("create_session again gives the first reply after the default workspace changed") {
  const CreateSession command{.session_id = kSession, .title = "mine"};
  Settings elsewhere = usual_settings();
  elsewhere.default_cwd = "/elsewhere";
  Inputs inputs = inputs_at(state::kStart);
  inputs.settings = &elsewhere;
  const Outcome again = when(created().view(), command, inputs);
  CHECK(again.shape() == "unchanged");
  CHECK(again.reply_text() == when(Given{}, command).reply_text());
}

TEST_CASE("create_session with other params is an idempotency conflict") {
  Inputs inputs = inputs_at(state::kStart);
  inputs.params_hash = "hash_2";
  CHECK(when(created().view(), named_session(), inputs).shape() == "refused: idempotency_conflict");
}

TEST_CASE("create_session of a session that a submit made is an idempotency conflict") {
  CHECK(when(Given{}.session(), named_session()).shape() == "refused: idempotency_conflict");
}

TEST_CASE("create_session refuses a relative workspace and metadata that is no object") {
  CHECK(when(Given{}, CreateSession{.cwd = "w"}).shape() == "refused: invalid_params");
  CHECK(when(Given{}, CreateSession{.metadata = Json{"[1]"}}).shape() == "refused: invalid_params");
  CHECK(when(Given{}, CreateSession{.metadata = Json{"{}"}}).shape() == "session.created");
}

TEST_CASE("update_session changes what it names and keeps the rest") {
  const Outcome outcome = when(created(), UpdateSession{.session_id = kSession, .archived = true});
  CHECK(outcome.shape() == "session.updated");
  CHECK(outcome.payload_of<SessionUpdated>() == SessionUpdated{.archived = true});
  CHECK(outcome.reply_text() ==
        R"({"sessionId":"sess_1","title":"mine","cwd":"/w","archived":true,"sequence":2})");
  CHECK(outcome.after.title == "mine");
  CHECK(outcome.after.archived);
}

TEST_CASE("update_session refuses an unknown session, an empty change and bad metadata") {
  CHECK(when(Given{}, UpdateSession{.session_id = kSession, .title = "x"}).shape() ==
        "refused: not_found");
  CHECK(when(created(), UpdateSession{.session_id = kSession}).shape() ==
        "refused: invalid_params");
  CHECK(when(created(), UpdateSession{.session_id = kSession, .metadata = Json{"1"}}).shape() ==
        "refused: invalid_params");
}

}  // namespace agentrt::control
