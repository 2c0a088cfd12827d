// control/call_reports_test.cc: tests calls that run no process: in parallel, with an announced
// change, and with a question.
#include <doctest/doctest.h>

#include <map>

#include "control/testing/given_calls.h"
#include "control/tool_calls.h"

namespace agentrt::control {

using namespace schema;
using state::CallStage;
using state::Given;

namespace {

struct Written {
  std::string tool;
  std::string args;
};

const Written kRead{"read_file", R"({"path":"a"})"};
const Written kList{"list_files", "{}"};
const Written kWrite{"write_file", R"({"path":"a","content":"x"})"};
const Written kLook{"mcp__s__look", "{}"};
const Written kAct{"mcp__s__act", "{}"};

ReportModelCompleted calls(const std::vector<Written>& written) {
  ReportModelCompleted report{.request = state::request_of("1")};
  for (const Written& call : written) report.calls.push_back({call.tool, {call.args}});
  return report;
}

// A turn under this policy that waits for its model, with the tools of an MCP server.
Given with_server(Policy policy) {
  Given past = asked_under(std::move(policy));
  ToolCatalogResolved catalog;
  catalog.tools.emplace();
  for (const std::string name : {"mcp__s__look", "mcp__s__act"}) {
    CatalogTool tool;
    tool.tool_name = name;
    tool.runtime_owner = "s";
    tool.is_read_only = name == "mcp__s__look";
    catalog.tools->push_back(tool);
  }
  past.fact(state::turn_scope("1"), catalog);
  return past;
}

Given alone() { return with_server(policy_in(PermissionMode::bypass)); }

std::vector<CallStage> stages(const state::Session& view) {
  std::vector<CallStage> out;
  for (const state::ToolCall& call : turn_of(view).tools) out.push_back(call.stage);
  return out;
}

ReportCallEnded ended(const state::Session& view, std::size_t index = 0) {
  ReportCallEnded report;
  report.turn = turn_of(view).ids.turn;
  report.call = turn_of(view).tools.at(index).id;
  report.text = "good";
  return report;
}

ReportFileChange change(const state::Session& view) {
  ReportFileChange report;
  report.turn = turn_of(view).ids.turn;
  report.call = first_tool(view).id;
  report.change = {"/w/a", FileChangeKind::update, "sha256:1", "sha256:2", 3, 1, {}};
  report.diff.ref = OutputRef{"out_1"};
  report.diff.media_type = "text/x-diff";
  return report;
}

ReportToolAsks question(const state::Session& view) {
  return {turn_of(view).ids.turn, first_tool(view).id,      "s",
          "Your name?",           {R"({"type":"object"})"}, {}};
}

constexpr auto kWaits = CallStage::requested;
constexpr auto kRuns = CallStage::started;

}  // namespace

TEST_CASE("calls that only read run side by side; one that changes something runs alone") {
  const auto after = [](const std::vector<Written>& written) {
    return stages(when(alone(), calls(written)).after);
  };
  CHECK(after({kRead, kList, kRead}) == std::vector{kRuns, kRuns, kRuns});
  CHECK(after({kRead, kWrite, kRead}) == std::vector{kRuns, kWaits, kWaits});
  CHECK(after({kWrite, kRead}) == std::vector{kRuns, kWaits});
  CHECK(after({kLook, kRead}) == std::vector{kRuns, kRuns});
  CHECK(after({kLook, kAct}) == std::vector{kRuns, kWaits});
}

TEST_CASE("the model is asked again when the last of those that run side by side has ended") {
  const Given past = alone();
  const Outcome begun = when(past, calls({kRead, kList}));
  const Outcome second = when(begun.after, ended(begun.after, 1), inputs_at(past.now()));
  CHECK(second.shape() == "tool.result item.completed");
  const Outcome first = when(second.after, ended(second.after), inputs_at(past.now()));
  CHECK(first.shape() == "tool.result item.completed model.requested");
}

TEST_CASE("a call that needs approval waits for those before it") {
  Policy policy = policy_in(PermissionMode::default_);
  policy.rules = {{RuleEffect::ask, "list_files", RuleOrigin::user}};
  const Given past = with_server(policy);
  const Outcome begun = when(past, calls({kRead, kList, kRead}));
  CHECK(stages(begun.after) == std::vector{kRuns, kWaits, kWaits});
  const Outcome next = when(begun.after, ended(begun.after), inputs_at(past.now()));
  CHECK(next.shape() == "tool.result item.completed item.started");
}

TEST_CASE("a call with hooks runs alone") {
  Policy policy = policy_in(PermissionMode::bypass);
  policy.hooks.push_back(
      {.point = HookPoint::post_tool_use, .matcher = "list_files", .command = "./check"});
  const Outcome begun = when(with_server(policy), calls({kRead, kRead, kList, kRead}));
  CHECK(stages(begun.after) == std::vector{kRuns, kRuns, kWaits, kWaits});
}

TEST_CASE(
    "arguments that fail a server's schema are reported to the model before anyone is asked") {
  ReportModelCompleted report = calls({kAct});
  report.calls.front().wrong = "path: expected a string";
  const Outcome outcome = when(with_server(policy_in(PermissionMode::default_)), report);
  CHECK(outcome.payload_of<ToolFailed>().error.message == "path: expected a string");
  CHECK(outcome.all_of<PermissionEvaluated>().empty());
  CHECK(outcome.shape().ends_with("model.requested"));
}

TEST_CASE("of a tool whose server is not there, that is said") {
  const Outcome outcome = when(alone(), calls({{"mcp__gone__look", "{}"}}));
  CHECK(outcome.payload_of<ToolFailed>().error.message.ends_with("configured or not available"));
}

TEST_CASE("an interrupted call that had announced a change reports an unknown outcome") {
  const Given past = alone();
  const Outcome begun = when(past, calls({kWrite}));
  const Outcome announced = when(begun.after, change(begun.after), inputs_at(past.now()));
  InterruptTurn interrupt;
  interrupt.session_id = state::kSession;
  const Outcome ended_now = when(announced.after, Command{interrupt}, inputs_at(past.now()));
  const Failure error = ended_now.payload_of<ToolFailed>().error;
  CHECK(error.category == Category::cancelled);
  CHECK(error.message.ends_with("whether /w/a was changed is unknown"));
}

TEST_CASE("tools of MCP servers are offered up to a limit; the rest are reported as missing") {
  const Given past = alone();
  std::vector<CatalogTool> many(state::kServerToolsMax + 3);
  for (std::size_t i = 0; i < many.size(); ++i) {
    many[i].tool_name = "mcp__s__" + std::to_string(i);
    many[i].runtime_owner = "s";
  }
  const auto catalog = tool_catalog(past.view(), policy_of(past.view()), many, {});
  CHECK(catalog.tools->back().tool_name == "mcp__s__" + std::to_string(state::kServerToolsMax - 1));
  REQUIRE(catalog.missing.has_value());
  CHECK(catalog.missing->back().reason ==
        "3 MCP tools are omitted: the limit is 512; choose tools with tools or disabled_tools");
}

TEST_CASE("a plan is shown in an item of its own, and nothing is waited for") {
  const Outcome outcome =
      when(alone(), calls({{"update_plan", R"({"plan":[{"step":"look","status":"pending"}]})"}}));
  CHECK(outcome.shape() ==
        "model.completed item.started tool.started tool.result item.completed model.requested");
  CHECK(outcome.payload_of<ItemCompleted>().kind == ItemKind::todo);
  CHECK(outcome.payload_of<ItemCompleted>().text->contains("look"));
}

TEST_CASE("a change is announced with its diff, and leaves an artifact when it was made") {
  const Given past = alone();
  const Outcome begun = when(past, calls({kWrite}));
  CHECK(begun.payload_of<ItemStarted>().kind == ItemKind::file_change);
  const Outcome announced = when(begun.after, change(begun.after), inputs_at(past.now()));
  CHECK(announced.shape() == "output.spilled tool.progress");
  CHECK(first_tool(announced.after).change->diff_ref == "out_1");
  // A repeated report changes nothing.
  CHECK(when(announced.after, change(announced.after), inputs_at(past.now())).shape() ==
        "unchanged");
  const Outcome made = when(announced.after, ended(announced.after), inputs_at(past.now()));
  CHECK(made.shape() == "artifact.changed tool.result item.completed model.requested");
  const auto artifact = made.payload_of<ArtifactChanged>();
  CHECK(artifact.path == "/w/a");
  CHECK(artifact.diff_ref == "out_1");
  CHECK(artifact.version_id == "sha256:2");
  CHECK(made.payload_of<ToolResult>().artifact_refs ==
        std::vector{made.fact_of<ArtifactChanged>().ids.artifact_id.text()});
}

TEST_CASE("a change that a person approved is made only if it is still that change") {
  Policy policy = policy_in(PermissionMode::default_);
  const Given past = with_server(policy);
  const Outcome begun = when(past, calls({kWrite}));
  const Outcome asked = when(begun.after, inspected_of(begun.after), inputs_at(past.now()));
  CHECK(asked.payload_of<ActionRequired>().prompt == "Allow write_file to change a?");
  const Outcome allowed =
      when(asked.after, Command{answer_to(asked.after, "allow")}, inputs_at(past.now()));
  ReportFileChange same = change(allowed.after);
  same.binding = inspected_of(asked.after).binding;
  CHECK(when(allowed.after, same, inputs_at(past.now())).shape() == "output.spilled tool.progress");
  ReportFileChange other = same;
  other.binding->cwd_identity = "9:9";
  const Outcome refused = when(allowed.after, other, inputs_at(past.now()));
  CHECK(refused.payload_of<ToolFailed>().error.message.starts_with("binding_mismatch"));
}

TEST_CASE("after a restart what may have acted is lost; what reads or announces is made again") {
  const auto resumed = [](const Written& call) {
    const Given past = alone();
    const Outcome begun = when(past, calls({call}));
    Inputs later = inputs_at(past.now());
    later.boot = BootId{"boot_2"};
    const Outcome restarted = when(begun.after, ReportRestarted{}, later);
    ResumeThread resume;
    resume.session_id = state::kSession;
    resume.thread_id = state::kThread;
    const Outcome again = when(restarted.after, Command{resume}, later);
    ReportPrepared prepared;
    prepared.turn = TurnId{"turn_1"};
    prepared.policy = begun.after.policy;
    Candidate candidate;
    candidate.name = "main";
    prepared.candidates = {candidate};
    prepared.default_model = "main";
    CatalogTool tool;
    tool.tool_name = call.tool;
    tool.runtime_owner = "s";
    tool.is_read_only = call.tool == "mcp__s__look";
    if (call.tool.starts_with("mcp__")) prepared.server_tools = {tool};
    return when(again.after, prepared, later);
  };
  CHECK(resumed(kAct).payload_of<ToolFailed>().error.category == Category::lost);
  for (const Written& call : {kLook, kRead, kWrite}) {
    CAPTURE(call.tool);
    const Outcome outcome = resumed(call);
    CHECK(outcome.all_of<ToolFailed>().empty());
    CHECK(stages(outcome.after) == std::vector{kRuns});
  }
}

TEST_CASE("what a server asks waits for a person, and the call hears the answer") {
  const Given past = alone();
  const Outcome begun = when(past, calls({kAct}));
  const Outcome asked = when(begun.after, question(begun.after), inputs_at(past.now()));
  const auto required = asked.payload_of<ActionRequired>();
  CHECK(required.action_type == kElicitationAction);
  CHECK(required.server == "s");
  // Another question waits until this one is answered.
  CHECK(when(asked.after, question(asked.after), inputs_at(past.now())).shape() == "unchanged");
  RespondAction answer = answer_to(asked.after, "accept");
  CHECK(when(asked.after, Command{answer}, inputs_at(past.now())).refusal().code ==
        Code::invalid_params);
  answer.payload = Json{R"({"name":"x"})"};
  const Outcome told = when(asked.after, Command{answer}, inputs_at(past.now()));
  CHECK_FALSE(turn_of(told.after).action.has_value());
  CHECK(first_tool(told.after).answer->number == 1);
  CHECK(first_tool(told.after).answer->decision == "accept");
  CHECK(first_tool(told.after).answer->content->text == R"({"name":"x"})");
  CHECK(stages(told.after) == std::vector{kRuns});
}

TEST_CASE("the arguments of a server's tool do not limit the answers to its question") {
  const Given past = alone();
  const Written like_ask_user{"mcp__s__act", R"({"question":"Which?","choices":["a","b"]})"};
  const Outcome begun = when(past, calls({like_ask_user}));
  ReportToolAsks asks = question(begun.after);
  asks.schema = Json{R"({"type":"object","properties":{"answer":{"type":"string"}}})"};
  const Outcome asked = when(begun.after, asks, inputs_at(past.now()));
  RespondAction answer = answer_to(asked.after, "accept");
  answer.payload = Json{R"({"answer":"c"})"};
  const Outcome told = when(asked.after, Command{answer}, inputs_at(past.now()));
  CHECK(first_tool(told.after).answer->content->text == R"({"answer":"c"})");
}

TEST_CASE("a question of a server goes away with its call, and with the runtime") {
  const Given past = alone();
  const Outcome begun = when(past, calls({kAct}));
  const Outcome asked = when(begun.after, question(begun.after), inputs_at(past.now()));
  const Outcome over = when(asked.after, ended(asked.after), inputs_at(past.now()));
  CHECK(over.payload_of<ActionResolved>().decision == "cancelled");
  CHECK(over.shape().ends_with("model.requested"));
  Inputs later = inputs_at(past.now());
  later.boot = BootId{"boot_2"};
  CHECK(state::interrupted_work(asked.after, later.boot));
  const Outcome restarted = when(asked.after, ReportRestarted{}, later);
  CHECK(restarted.payload_of<ActionResolved>().decision == "cancelled");
  CHECK(restarted.thread().status == Status::blocked);
}

TEST_CASE("where nobody is there a server hears so at once") {
  Given past = alone();
  Outcome begun = when(past, calls({kAct}));
  begun.after.threads.at(state::kThread).active->options.interactive = false;
  const Outcome asked = when(begun.after, question(begun.after), inputs_at(past.now()));
  CHECK(first_tool(asked.after).answer->decision == "cancel");
  CHECK_FALSE(turn_of(asked.after).action.has_value());
}

TEST_CASE("the catalogue says what a call would get, in every mode, sandbox and kind of run") {
  const std::map<Decision, std::string> words = {{Decision::allow, "allowed"},
                                                 {Decision::sandboxed, "allowed"},
                                                 {Decision::ask, "asked"},
                                                 {Decision::unavailable, "by_rule"},
                                                 {Decision::deny, "denied"}};
  // Calls that neither a rule nor the classifier knows.
  const std::map<std::string, std::string> args = {
      {"shell", R"({"command":"x-unknown"})"},
      {"read_file", R"({"path":"a"})"},
      {"list_files", "{}"},
      {"search_files", R"({"pattern":"a"})"},
      {"write_file", R"({"path":"a","content":""})"},
      {"edit_file", R"({"path":"a","oldText":"a","newText":"b"})"},
      {"update_plan", "{}"}};
  std::size_t compared = 0;
  for (const PermissionMode mode :
       {PermissionMode::default_, PermissionMode::untrusted, PermissionMode::on_request,
        PermissionMode::on_failure, PermissionMode::never, PermissionMode::plan,
        PermissionMode::auto_, PermissionMode::bypass})
    for (const SandboxMode sandbox :
         {SandboxMode::read_only, SandboxMode::workspace_write, SandboxMode::full_access})
      for (const bool interactive : {false, true}) {
        Session view = with_server(policy_in(mode)).view();
        TurnOptions& options = view.threads.at(state::kThread).active->options;
        options.sandbox = sandbox;
        options.interactive = interactive;
        const policy::Effective policy = policy_of(view);
        const ToolCatalogResolved catalog = tool_catalog(view, policy, {}, {});
        for (const CatalogTool& tool : *catalog.tools) {
          const auto known = args.find(tool.tool_name);
          if (known == args.end()) continue;
          state::ToolCall call;
          call.tool = tool.tool_name;
          call.args = Json{known->second};
          CAPTURE(name_of(mode));
          CAPTURE(name_of(sandbox));
          CAPTURE(interactive);
          CAPTURE(call.tool);
          CHECK(tool.policy == words.at(judge_call(view, policy, call).decision));
          ++compared;
        }
      }
  CHECK(compared == 8 * 3 * 2 * args.size());
}

TEST_CASE("the catalogue says what each tool gets under the turn's policy") {
  const auto word = [](Policy policy, const std::string& tool) {
    const Given past = with_server(policy);
    const auto catalog = tool_catalog(past.view(), policy_of(past.view()), {}, {});
    for (const CatalogTool& each : *catalog.tools)
      if (each.tool_name == tool) return each.policy;
    return std::string("missing");
  };
  const Policy usual = policy_in(PermissionMode::default_);
  Policy unconfined = policy_in(PermissionMode::on_request);
  CHECK(word(unconfined, "shell") == "allowed");
  unconfined.sandbox = SandboxMode::full_access;
  CHECK(word(unconfined, "shell") == "asked");
  CHECK(word(usual, "read_file") == "allowed");
  CHECK(word(usual, "write_file") == "asked");
  CHECK(word(usual, "shell") == "asked");
  CHECK(word(policy_in(PermissionMode::plan), "write_file") == "denied");
  CHECK(word(policy_in(PermissionMode::auto_), "edit_file") == "allowed");
  Policy strict = usual;
  strict.rules = {{RuleEffect::deny, "shell", RuleOrigin::user},
                  {RuleEffect::ask, "read_file", RuleOrigin::user}};
  CHECK(word(strict, "shell") == "denied");
  CHECK(word(strict, "read_file") == "asked");
}

}  // namespace agentrt::control
