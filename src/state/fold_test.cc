// state/fold_test.cc: tests the effect of each family of facts on a session.
#include <doctest/doctest.h>

#include "schema/testing/samples.h"
#include "state/read_models.h"
#include "state/testing/given.h"

namespace agentrt::state {

using namespace schema;

namespace {

Given started() { return Given{}.session().thread_started().running("1"); }

std::vector<std::string> names_of(const std::vector<Turn>& queue) {
  std::vector<std::string> out;
  for (const Turn& turn : queue) out.push_back(turn.ids.turn.text());
  return out;
}

QueueChanged change(QueueChange what, const std::string& name) {
  return {.change = what, .turn_id = TurnId{"turn_" + name}};
}

void check_round_trip(const Session& session) {
  Session read;
  const auto done = from_json(to_json(session), read, Unknown::refuse);
  const std::string problem = done ? "" : done.error().message;
  CHECK(problem == "");
  CHECK(read == session);
}

}  // namespace

TEST_CASE("session facts set what a session is, and change only what they name") {
  Given past;
  CHECK_FALSE(past.view().exists());
  past.fact(
      SessionScope{kSession},
      SessionCreated{
          .title = "mine", .cwd = "/w", .metadata = Json{R"({"a":1})"}, .params_hash = "hash"});
  past.wait(5).fact(SessionScope{kSession}, SessionUpdated{.archived = true});
  const Session& session = past.view();
  CHECK(session.exists());
  CHECK(session.title == "mine");
  CHECK(session.metadata == Json{R"({"a":1})"});
  CHECK(session.params_hash == "hash");
  CHECK(session.archived);
  CHECK(session.created_at == kStart);
  CHECK(session.at == kStart + 5);
  CHECK(session.sequence == 2);
}

TEST_CASE("a submitted turn runs at once or waits behind the one that runs") {
  const Given past = started().queued("2").queued("3");
  const Thread& thread = past.thread();
  CHECK(thread.active->ids == turn_ids("1"));
  CHECK(thread.active->boot == kBoot);
  CHECK(thread.active->started_at == kStart);
  CHECK(thread.active->preview == "ask 1");
  CHECK(thread.active->submitted == 4);
  CHECK(thread.status == Status::preparing);
  CHECK(names_of(thread.queue) == std::vector<std::string>{"turn_2", "turn_3"});
  CHECK(thread.queue.front().status == Status::queued);
  CHECK(thread.turns == 3);
  CHECK(past.view().turns == 3);
  CHECK(past.view().tasks == TaskSummary{.active = 3});
}

TEST_CASE("a turn knows whether its task is seen by people") {
  Given past = Given{}.session().thread_started();
  past.fact(turn_scope("1"), TaskCreated{.visibility = Visibility::foreground})
      .fact(turn_scope("1"), TurnSubmitted{})
      .queued("2");
  CHECK(past.thread().active->visibility == Visibility::foreground);
  CHECK(past.thread().queue.front().visibility == Visibility::internal);
  CHECK_FALSE(past.view().new_task.has_value());
}

TEST_CASE("queue facts reorder, remove, start and clear") {
  Given past = started().queued("2").queued("3").queued("4");
  const auto queue = [&] { return names_of(past.thread().queue); };
  using Names = std::vector<std::string>;
  past.fact(turn_scope("4"), change(QueueChange::promoted, "4"));
  CHECK(queue() == Names{"turn_4", "turn_2", "turn_3"});
  past.fact(turn_scope("2"), change(QueueChange::removed, "2"));
  CHECK(queue() == Names{"turn_4", "turn_3"});
  past.fact(turn_scope("9"), change(QueueChange::removed, "9"));
  CHECK(queue() == Names{"turn_4", "turn_3"});
  past.asked("1").completed("1").next("4");
  CHECK(queue() == Names{"turn_3"});
  CHECK(past.thread().active->ids == turn_ids("4"));
  past.fact(ThreadScope{kSession, kThread}, change(QueueChange::cleared, "3"));
  CHECK(queue().empty());
}

TEST_CASE("a completed turn becomes the thread's last, with its answer and usage") {
  const Given past = started().asked("1").said("1", "Hel").wait(9).completed("1", "Hello.");
  const Thread& thread = past.thread();
  CHECK_FALSE(thread.active.has_value());
  CHECK(thread.status == Status::idle);
  CHECK(thread.last->status == Status::completed);
  CHECK(thread.last->answer_preview == "Hello.");
  CHECK(thread.last->usage == Usage{7, 3, {}, {}});
  CHECK(thread.last->ended_at == kStart + 9);
  CHECK(thread.last->ended_by_provider == 1);
  CHECK_FALSE(thread.last->call.has_value());
  CHECK(past.view().tasks == TaskSummary{.completed = 1});
}

TEST_CASE("a failed turn is counted and leaves an incident, a cancelled one only a count") {
  const Failure error{Category::provider, "broken", false};
  Given past = started();
  past.fact(turn_scope("1"), TurnFailed{.reason = "broken", .error = error});
  past.fact(turn_scope("1"), TaskFailed{.error = error});
  CHECK(past.thread().last->error == error);
  CHECK(past.thread().last->status == Status::failed);
  CHECK(past.thread().incidents.back() ==
        Incident{past.view().sequence - 1, kStart, "turn_failed", "broken", TurnId{"turn_1"}});
  past.running("2").fact(turn_scope("2"), TurnFailed{.status = Status::cancelled, .reason = "no"});
  past.fact(turn_scope("2"), TaskCancelled{.reason = "no"});
  CHECK(past.thread().incidents.size() == 1);
  CHECK(past.view().tasks == TaskSummary{.failed = 1, .cancelled = 1});
}

TEST_CASE("a cancelled turn of the queue stays in its place until the queue says otherwise") {
  Given past = started().queued("2").queued("3");
  past.fact(turn_scope("2"), TurnFailed{.status = Status::cancelled, .reason = "removed"});
  past.fact(turn_scope("2"), TaskCancelled{.reason = "removed"});
  CHECK(past.thread().queue.front().status == Status::cancelled);
  CHECK(past.thread().active->ids == turn_ids("1"));
  CHECK(past.view().tasks == TaskSummary{.active = 2, .cancelled = 1});
  past.fact(turn_scope("2"), change(QueueChange::removed, "2"));
  CHECK(names_of(past.thread().queue) == std::vector<std::string>{"turn_3"});
}

TEST_CASE("a model request is open from its intent to its end, and its deltas are located") {
  Given past = started().asked("1");
  CHECK(past.thread().active->prepared);
  CHECK(past.thread().active->requests == 1);
  CHECK(past.thread().active->model_name == "main");
  CHECK(past.thread().active->call->id == request_of("1"));
  CHECK(past.thread().active->call->boot == kBoot);
  past.said("1", "Hel");
  const Sequence first = past.view().sequence;
  past.said("1", "lo");
  const ModelCall& call = *past.thread().active->call;
  CHECK(call.first_delta == first);
  CHECK(call.last_delta == first + 1);
  CHECK(call.text_bytes == 5);
  CHECK(past.thread().status == Status::streaming);
  CHECK(past.thread().active->message_item == StepId{"step_1"});
}

TEST_CASE("deltas of another request are not counted") {
  Given past = started().asked("1");
  past.fact(ModelScope{turn_scope("1"), ModelRequestId{"mreq_old"}}, ModelDelta{"late"});
  CHECK(past.thread().active->call->first_delta == 0);
  CHECK(past.thread().active->call->text_bytes == 0);
}

TEST_CASE("a failed request is remembered with the instant of its retry, then forgotten") {
  Given past = started().asked("1").retrying("1", 1, 250);
  CHECK_FALSE(past.thread().active->call.has_value());
  CHECK(past.thread().active->retries == 1);
  CHECK(past.thread().active->retry_at == kStart + 250);
  CHECK(past.thread().active->ended_by_provider == 1);
  CHECK(past.thread().status == Status::retrying);
  CHECK(past.thread().incidents.back().kind == "model_failed");
  past.requested("1");
  CHECK_FALSE(past.thread().active->retry_at.has_value());
  CHECK(past.thread().active->requests == 2);
  past.completed("1");
  CHECK(past.thread().last->retries == 0);
}

TEST_CASE("a thread is blocked with its reason until its turn resumes in a new boot") {
  Given past = started().asked("1").blocked("1", "restart");
  CHECK(past.thread().status == Status::blocked);
  CHECK(past.thread().reason == "restart");
  CHECK(past.thread().resumable == true);
  CHECK(past.thread().active->status == Status::blocked);
  CHECK(past.thread().incidents.back().kind == "restart");
  past.fact(turn_scope("1"),
            ThreadUpdated{
                .status = Status::running, .reason = "resumed", .boot_id = BootId{"boot_2"}})
      .fact(turn_scope("1"), RunStatus{.status = Status::preparing, .phase = "prepare"});
  CHECK(past.thread().status == Status::preparing);
  CHECK_FALSE(past.thread().reason.has_value());
  CHECK(past.thread().active->boot == BootId{"boot_2"});
  CHECK_FALSE(past.thread().active->prepared);
}

TEST_CASE("routing facts leave what was chosen on the turn and in the session") {
  const Given past = started().asked("1");
  CHECK(past.view().routing.single_candidate == true);
  CHECK(past.view().routing.candidate_count == 1);
  CHECK(past.view().routing.selected_model == "play.jsonl");
  CHECK(past.thread().active->provider == "script");
}

TEST_CASE("a grant from before grants had a folder has an unknown one, and can be taken back") {
  const PolicyRule answer{RuleEffect::allow, "shell(\"make\")", RuleOrigin::session};
  PolicyChanged changed{.change = "rules"};
  changed.added = std::vector<PolicyRule>{answer};
  Given past = Given{}.session().fact(SessionScope{kSession}, changed);
  REQUIRE(past.view().granted.size() == 1);
  CHECK(past.view().granted[0].cwd == "");
  PolicyChanged back{.change = "rules"};
  back.removed = std::vector<PolicyRule>{answer};
  CHECK(Given(past).fact(SessionScope{kSession}, back).view().granted.empty());
  // A change by set_policy has both lists; its rule is not bound to a folder.
  changed.removed.emplace();
  changed.added->front().rule = "shell(\"ls\")";
  past.fact(SessionScope{kSession}, changed);
  REQUIRE(past.view().granted.size() == 2);
  CHECK_FALSE(past.view().granted[1].cwd);
}

TEST_CASE("windows are bounded: the newest incidents and traces are kept") {
  Given past = started().asked("1");
  for (std::uint64_t i = 1; i <= kIncidentsMax + 5; ++i) past.retrying("1", i, 1).requested("1");
  CHECK(past.thread().incidents.size() == kIncidentsMax);
  CHECK(past.thread().incidents.front().sequence < past.thread().incidents.back().sequence);
  for (std::size_t i = 2; i <= kTracesMax + 5; ++i) past.queued(std::to_string(i));
  CHECK(past.view().traces.size() == kTracesMax);
  CHECK(past.view().traces.back().trace == turn_ids(std::to_string(kTracesMax + 5)).trace);
}

TEST_CASE("a turn is joined if its requests, calls, processes and hooks have spans of their own") {
  Given past = started().asked("1");
  const auto status = [&past] { return session_snapshot(past.view()).telemetry_summary; };
  CHECK(status().join_status == "joined");
  Fact odd{past.view().sequence + 1, past.view().at, turn_scope("1").ids(),
           ToolStarted{.tool_name = "shell"}};
  odd.ids.step_id = StepId{"step_1"};
  odd.ids.tool_call_id = ToolCallId{"call_1"};
  Session view = past.view();
  fold(view, odd);  // with the span of its turn
  const TelemetrySummary summary = session_snapshot(view).telemetry_summary;
  CHECK(summary.join_status == "missing_correlation");
  CHECK(summary.missing == std::vector{turn_ids("1").turn});
  CHECK(session_snapshot(Session{}).telemetry_summary.join_status == "not_applicable");
}

TEST_CASE("a request gets the digest of what the facts before it consist of") {
  Given past = started();
  Draft first{model_scope("1"), ModelRequested{.model = "m"}};
  complete(past.view(), first);
  CHECK_FALSE(std::get<ModelRequested>(first.payload).request_digest.has_value());
  ContextResolved context{.cwd = "/w"};
  context.history_digest = "";
  context.input_digest = std::string(64, 'a');
  past.fact(turn_scope("1"), context);
  complete(past.view(), first);
  const auto digest = std::get<ModelRequested>(first.payload).request_digest;
  REQUIRE(digest.has_value());
  past.fact(model_scope("1"), std::get<ModelRequested>(first.payload));
  past.fact(model_scope("1"), ModelCompleted{.text = "Hi."});
  Draft next{model_scope("2"), ModelRequested{.model = "m"}};
  next.ids.turn_id = turn_ids("1").turn;
  complete(past.view(), next);
  CHECK(std::get<ModelRequested>(next.payload).request_digest.has_value());
  CHECK(std::get<ModelRequested>(next.payload).request_digest != digest);
}

TEST_CASE("texts in the view are bounded and never end within a character") {
  std::string text = "x";
  for (int i = 0; i < 100; ++i) text += "\u20ac";
  Given past = Given{}.session().thread_started();
  past.fact(turn_scope("1"), TurnSubmitted{.input = {{InputKind::text, text, {}}}});
  CHECK(past.thread().active->preview.size() == 160);
  CHECK(text.starts_with(past.thread().active->preview));
}

TEST_CASE("a fact of an unknown type advances the sequence, is counted, and changes nothing else") {
  Given past = started();
  Session expected = past.view();
  Draft draft{turn_scope("1"), TaskStarted{}};
  draft.payload = UnknownPayload{"weather.changed"};
  past.add(std::move(draft));
  ++expected.sequence;
  ++expected.unknown_facts;
  CHECK(past.view() == expected);
}

TEST_CASE("facts that name a thread or turn the session does not have change nothing") {
  Given past = Given{}.session();
  past.fact(turn_scope("1"), TurnSubmitted{}).fact(turn_scope("1"), TurnCompleted{});
  past.fact(turn_scope("1"), RunStatus{}).fact(model_scope("1"), ModelDelta{"x"});
  CHECK(past.view().threads.empty());
  CHECK(past.view().tasks == TaskSummary{});
  CHECK(past.view().sequence == 5);
}

TEST_CASE("every fact type folds into every state, and what comes out reads back as it was") {
  Given past;
  past.session();
  for (int round = 0; round < 3; ++round)
    for (const Draft& draft : samples::drafts()) past.add(draft);
  CHECK(past.view().unknown_facts == 0);
  check_round_trip(past.view());
}

TEST_CASE("a view with running, waiting, blocked and ended turns reads back as it was") {
  check_round_trip(Given{}.session().view());
  check_round_trip(busy_thread().view());
  check_round_trip(busy_thread().said("1", "Hel").view());
  check_round_trip(busy_thread().retrying("1", 1, 250).view());
  check_round_trip(busy_thread().blocked("1", "restart").view());
  check_round_trip(busy_thread().completed("1").next("2").view());
}

TEST_CASE("turns are found where the view holds them") {
  const Given past = busy_thread().completed("1").next("2");
  CHECK(find_turn(past.view(), TurnId{"turn_1"})->status == Status::completed);
  CHECK(find_turn(past.view(), TurnId{"turn_2"})->status == Status::preparing);
  CHECK(find_turn(past.view(), TurnId{"turn_3"})->status == Status::queued);
  CHECK(find_turn(past.view(), TurnId{"turn_4"}) == nullptr);
  CHECK(find_thread(past.view(), kThread) == &past.thread());
  CHECK(find_thread(past.view(), ThreadId{"thread_9"}) == nullptr);
}

TEST_CASE("work is interrupted when another boot left it open and nobody said so yet") {
  const BootId next{"boot_2"};
  CHECK_FALSE(interrupted_work(busy_thread().view(), kBoot));
  CHECK(interrupted_work(busy_thread().view(), next));
  CHECK_FALSE(interrupted_work(busy_thread().blocked("1", "restart").view(), next));
  CHECK_FALSE(interrupted_work(Given{}.session().thread_started().view(), next));
}

TEST_CASE("the session's status is that of the thread that is most alive") {
  const ThreadId other{"thread_2"};
  CHECK(overall_status(Given{}.session().view()) == Status::idle);
  CHECK(overall_status(busy_thread().view()) == Status::preparing);
  Given past = busy_thread().blocked("1", "no_model");
  CHECK(overall_status(past.view()) == Status::blocked);
  past.thread_started(other).running("4", other);
  CHECK(overall_status(past.view()) == Status::preparing);
}

}  // namespace agentrt::state
