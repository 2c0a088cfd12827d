#include "schema/admission.h"

#include <doctest/doctest.h>

namespace agentrt::schema {
namespace {

AdmissionPlan plan_of(std::string_view name, std::string_view params) {
  const auto command = read_command(name, params);
  REQUIRE_MESSAGE(command.has_value(), (command ? "" : command.error().message));
  return plan_admission(*command);
}

struct LaneCase {
  const char* name;
  const char* params;
  LaneChoice lane;
};

}  // namespace

TEST_CASE("each mutating command says on which lane it is decided") {
  const LaneCase cases[] = {
      {"create_session", "{}", LaneChoice::opened},
      {"create_session", R"({"sessionId":"s"})", LaneChoice::opened},
      {"submit_turn", R"({"input":[]})", LaneChoice::opened},
      {"update_session", R"({"sessionId":"s"})", LaneChoice::named},
      {"interrupt_turn", R"({"sessionId":"s"})", LaneChoice::named},
      {"trust_workspace", R"({"cwd":"/w","files":[]})", LaneChoice::system},
      {"set_folder_policy", R"({"cwd":"/w","mode":"auto"})", LaneChoice::system},
      {"respond_action", R"({"actionId":"a","decision":"allow"})", LaneChoice::owner},
      {"terminate_process", R"({"processId":"p"})", LaneChoice::owner},
      {"terminate_process", R"({"sessionId":"s","processId":"p"})", LaneChoice::owner},
  };
  for (const LaneCase& c : cases) {
    CAPTURE(c.name);
    CHECK(plan_of(c.name, c.params).lane == c.lane);
  }
}

TEST_CASE("objects that are found by their id alone") {
  const NamedObject action{ObjectKind::action, "a"};
  const NamedObject process{ObjectKind::process, "p"};
  CHECK(plan_of("respond_action", R"({"actionId":"a","decision":"x"})").object == action);
  CHECK(plan_of("resolve_permission", R"({"actionId":"a","decision":"x"})").object == action);
  CHECK(plan_of("write_process_stdin", R"({"processId":"p","input":"x"})").object == process);
  CHECK(plan_of("resize_process", R"({"processId":"p","rows":1,"columns":1})").object == process);
  CHECK(plan_of("terminate_process", R"({"processId":"p"})").object == process);
  CHECK(!plan_of("interrupt_turn", R"({"sessionId":"s","turnId":"t"})").object);
}

TEST_CASE("ids that a caller chooses are claimed, others are looked up") {
  const AdmissionPlan submit = plan_of("submit_turn", R"({"input":[],"turnId":"t","taskId":"k"})");
  CHECK(submit.new_turn == TurnId{"t"});
  CHECK(submit.new_task == TaskId{"k"});
  CHECK(!submit.turn);
  CHECK(submit.id_chosen);
  CHECK(!plan_of("submit_turn", R"({"input":[],"sessionId":"s"})").id_chosen);
  CHECK(plan_of("create_session", R"({"sessionId":"s"})").id_chosen);
  CHECK(!plan_of("create_session", "{}").id_chosen);

  const AdmissionPlan interrupt = plan_of("interrupt_turn", R"({"sessionId":"s","turnId":"t"})");
  CHECK(interrupt.turn == TurnId{"t"});
  CHECK(!interrupt.new_turn);
  const AdmissionPlan removed =
      plan_of("remove_queued_turn", R"({"sessionId":"s","threadId":"h","queuedTurnId":"t"})");
  CHECK(removed.turn == TurnId{"t"});
}

TEST_CASE("folders that a command names") {
  const FolderChoice chosen{"/w", {"/r"}};
  CHECK(plan_of("create_session", R"({"cwd":"/w","additionalRoots":["/r"]})").folders == chosen);
  CHECK(plan_of("submit_turn", R"({"input":[],"options":{"cwd":"/w","additionalRoots":["/r"]}})")
            .folders == chosen);
  CHECK(plan_of("create_session", "{}").folders == FolderChoice{});
  CHECK(!plan_of("update_session", R"({"sessionId":"s"})").folders);

  CHECK(plan_of("get_trust", R"({"cwd":"/w"})").reads_folder == "/w");
  CHECK(plan_of("get_rules", R"({"cwd":"/w"})").reads_folder == "/w");
  CHECK(!plan_of("get_rules", R"({"sessionId":"s"})").reads_folder);
  const char* call = R"("toolName":"shell","input":{})";
  CHECK(plan_of("evaluate_permission", std::string(R"({"cwd":"/w",)") + call + "}").reads_folder ==
        "/w");
  CHECK(!plan_of("evaluate_permission", std::string(R"({"sessionId":"s","cwd":"/w",)") + call + "}")
             .reads_folder);
}

}  // namespace agentrt::schema
