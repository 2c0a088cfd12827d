// state/index_test.cc: the index rows that facts cause.
#include <doctest/doctest.h>

#include <map>

#include "schema/envelope.h"
#include "state/index.h"
#include "state/testing/given.h"

namespace agentrt::state {

using namespace schema;

namespace {

// The rows caused by the last fact, as "kind id status open".
std::vector<std::string> last_rows(const Given& past) {
  std::vector<std::string> out;
  for (const ObjectRow& row : index(past.view(), past.log().back()))
    out.push_back(row.kind + " " + row.id + " " + row.status + (row.open ? " open" : ""));
  return out;
}

// All rows after the whole log.
std::map<std::string, ObjectRow> all_rows(const Given& past) {
  Session view;
  Tasks tasks;
  std::map<std::string, ObjectRow> rows;
  for (const Fact& fact : past.log()) {
    fold(view, fact);
    for (ObjectRow& row : index(view, fact)) rows[row.kind + " " + row.id] = std::move(row);
    TaskChanges changes;
    fold_tasks(tasks, fact, changes);
    for (ObjectRow& row : task_rows(tasks, changes)) rows[row.kind + " " + row.id] = std::move(row);
  }
  return rows;
}

using Rows = std::vector<std::string>;

}  // namespace

TEST_CASE("a session's row follows its making and its changes") {
  Given past = Given{}.session();
  CHECK(last_rows(past) == Rows{"session sess_1 idle"});
  past.fact(SessionScope{kSession}, SessionUpdated{.title = "new"});
  const auto rows = index(past.view(), past.log().back());
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].first == 1);
  SessionSummary summary;
  REQUIRE(from_json(rows[0].record, summary, Unknown::refuse).has_value());
  CHECK(summary.title == "new");
  CHECK(rows[0].changed == past.view().sequence);
  CHECK(last_rows(past.thread_started()) == Rows{"session sess_1 idle"});
}

TEST_CASE("a turn is an open row from its submission to its end, with its task beside it") {
  Given past = Given{}.session().thread_started().running("1");
  CHECK(last_rows(past) == Rows{"session sess_1 preparing", "turn turn_1 preparing open"});
  CHECK(all_rows(past).at("task task_1").status == "running");
  past.queued("2");
  CHECK(last_rows(past).empty());  // caused by queue.changed; turn.submitted wrote the row
  CHECK(all_rows(past).at("turn turn_2").open);
  CHECK(all_rows(past).at("turn turn_2").status == "queued");
  CHECK(all_rows(past).at("turn turn_2").parent == "thread_1");
  CHECK(all_rows(past).at("turn turn_2").first == past.thread().queue.front().submitted);

  past.asked("1").blocked("1", "no_model");
  CHECK(all_rows(past).at("turn turn_1").status == "blocked");
  CHECK(all_rows(past).at("turn turn_1").open);
  CHECK(all_rows(past).at("session sess_1").status == "blocked");
}

TEST_CASE("the rows of an ended turn are closed and say how it ended") {
  Given past = busy_thread().completed("1", "Hello.");
  auto rows = all_rows(past);
  CHECK_FALSE(rows.at("turn turn_1").open);
  CHECK(rows.at("turn turn_1").status == "completed");
  CHECK(rows.at("task task_1").status == "completed");
  TurnSnapshot turn;
  REQUIRE(from_json(rows.at("turn turn_1").record, turn, Unknown::refuse).has_value());
  CHECK(turn.output_preview == "Hello.");
  CHECK(turn.first_sequence == 4);

  past.fact(turn_scope("2"), TurnFailed{.status = Status::cancelled, .reason = "removed"});
  past.fact(turn_scope("2"), TaskCancelled{.reason = "removed"});
  rows = all_rows(past);
  CHECK_FALSE(rows.at("turn turn_2").open);
  CHECK(rows.at("turn turn_2").status == "cancelled");
  CHECK(rows.at("task task_2").status == "cancelled");
  CHECK(rows.at("turn turn_3").open);
}

TEST_CASE("facts in the middle of an answer write no rows") {
  Given past = busy_thread().said("1", "Hel");
  CHECK(last_rows(past).empty());
  CHECK(last_rows(past.fact(step_scope("1"), ItemUpdated{})).empty());
}

TEST_CASE("the rows of a turn and its session follow every status") {
  Given past = busy_thread();
  for (const Status status : {Status::waiting_permission, Status::running, Status::streaming}) {
    past.fact(turn_scope("1"), RunStatus{.status = status});
    CHECK(last_rows(past) == Rows{fmt::format("session sess_1 {}", name_of(status)),
                                  fmt::format("turn turn_1 {} open", name_of(status))});
  }
}

TEST_CASE("the rows follow a turn that continues after an answer or a restart") {
  Given past = busy_thread();
  past.fact(turn_scope("1"), RunStatus{.status = Status::waiting_permission});
  past.fact(turn_scope("1"), TaskResumed{.reason = "answered"});
  CHECK(last_rows(past) == Rows{"session sess_1 running", "turn turn_1 running open"});
  past.fact(turn_scope("1"), ThreadUpdated{.status = Status::blocked, .reason = "restart"});
  CHECK(last_rows(past) == Rows{"session sess_1 blocked"});
}

TEST_CASE("a resolved action says who answered, and has what the question had") {
  Given past = Given{}.session().thread_started().running("1");
  const ToolScope call{TurnScope{kSession, turn_ids("1")}, StepId{"step_1"}, ToolCallId{"call_1"}};
  RequestedCall requested;
  requested.tool_call_id = ToolCallId{"call_1"};
  past.asked("1").fact(model_scope("1"), ModelCompleted{.tool_calls = {requested}});
  const Verdict verdict{DecisionSource::mode, Decision::ask, {}, "no rule allows it"};
  past.fact(call, PermissionEvaluated{.decision = Decision::ask, .chain = std::vector{verdict}});
  past.fact(ActionScope{call, ActionId{"action_1"}},
            ActionRequired{.action_type = std::string(kPermissionAction),
                           .subcommands = std::vector<std::string>{"rm -rf build"},
                           .executes = std::vector{ExecutedFile{"/w/x.sh", "sha256:1"}}});
  const Sequence asked = past.view().sequence;
  past.fact(ActionScope{call, ActionId{"action_1"}},
            ActionResolved{
                .decision = "allow", .decision_source = "human", .answered_by = "token tok_1"});
  ActionSnapshot action;
  REQUIRE(from_json(all_rows(past).at("action action_1").record, action, Unknown::refuse));
  CHECK(action.sequence == asked);
  CHECK(action.chain == std::vector{verdict});
  CHECK(action.subcommands == std::vector<std::string>{"rm -rf build"});
  CHECK(action.executes->front().path == "/w/x.sh");
  CHECK(action.answered_by == "token tok_1");
}

TEST_CASE("a fact that names a turn the view does not hold writes no row of it") {
  Given past = Given{}.session();
  past.fact(turn_scope("9"), TurnCompleted{});
  CHECK(last_rows(past) == Rows{"session sess_1 idle"});
}

TEST_CASE("a call and a changed file have rows; each version of the file has one of its own") {
  Given past = Given{}.session().thread_started().running("1");
  const ToolScope call{TurnScope{kSession, turn_ids("1")}, StepId{"step_1"}, ToolCallId{"call_1"}};
  past.fact(call, ToolStarted{.tool_name = "write_file"});
  CHECK(last_rows(past) == Rows{"tool_call call_1 started"});
  const auto change = [&](const char* version) {
    past.fact(ArtifactScope{call, ArtifactId{"artifact_1"}},
              ArtifactChanged{.change = "update", .path = "/w/a", .version_id = version});
    return past.log().back().sequence;
  };
  change("one");
  const Sequence second = change("two");
  const auto rows = all_rows(past);
  const ObjectRow& newest = rows.at("artifact sess_1/artifact_1");
  CHECK(newest.first == second);
  CHECK(newest.terms == std::vector<std::string>{"id=artifact_1"});
  CHECK(newest.record.contains(R"("versionId":"two")"));
  std::size_t versions = 0;
  for (const auto& [_, row] : rows)
    versions += row.kind == kVersionKind && row.parent == "sess_1/artifact_1" ? 1 : 0;
  CHECK(versions == 2);
}

TEST_CASE("decisions and violations are counted for the session and for the thread") {
  Given past = Given{}.session().thread_started().running("1");
  const ToolScope call{TurnScope{kSession, turn_ids("1")}, StepId{"step_1"}, ToolCallId{"call_1"}};
  for (const Decision decision : {Decision::allow, Decision::ask, Decision::allow})
    past.fact(call,
              PermissionEvaluated{.decision = decision, .decision_source = DecisionSource::rule});
  past.fact(ProcessScope{call, ProcessId{"proc_1"}},
            SandboxViolation{.kind = ViolationKind::network, .attempted = "connect"});
  const Session view = past.view();
  CHECK(view.governance.decisions ==
        std::vector{DecisionCount{DecisionSource::rule, Decision::allow, 2}});
  CHECK(view.governance.violations == 1);
  CHECK(view.threads.at(kThread).governance == view.governance);
}

}  // namespace agentrt::state
