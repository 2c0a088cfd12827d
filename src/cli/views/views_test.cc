// cli/views/views_test.cc: rendering of replies and events as text.
#include <doctest/doctest.h>

#include "cli/follow.h"
#include "cli/listen_address.h"
#include "cli/output.h"
#include "cli/views/action_view.h"
#include "cli/views/checkup.h"
#include "cli/views/event_line.h"
#include "cli/views/layout.h"
#include "cli/views/rules_view.h"
#include "cli/views/session_view.h"
#include "cli/views/trust_view.h"

namespace agentrt::cli {
namespace {

const Timestamp kNow{1'800'000'000'000};

TEST_CASE("an event's line has its sequence, time, type and telling members") {
  const auto event = read_envelope(
      R"({"type":"turn.completed","eventId":"e","sequence":12,)"
      R"("timestamp":"2026-05-08T14:03:07.120Z",)"
      R"("sessionId":"s","payload":{"status":"completed","bootId":"b","usage":{"inputTokens":1},)"
      R"("names":["a","b"],"rows":[{"x":1}],"none":[],"text":"two\n\u001bwords"}})");
  REQUIRE(event);
  CHECK(event_line(*event, 200, Colour::off) ==
        "    12  14:03:07.120  turn.completed              status=completed usage.inputTokens=1 "
        "names=a,b rows[1] text=\"two \\x1bwords\"");
  CHECK(width_of(event_line(*event, 80, Colour::off)) == 80);
}

TEST_CASE("an event without a type or sequence is refused") {
  CHECK(!read_envelope("{}"));
  CHECK(!read_envelope("not json"));
}

TEST_CASE("a list of sessions is a table, and an empty one says how to begin") {
  ListReply list;
  CHECK(sessions_text(list, kNow, 80, Colour::off)->find("agentrt run") != std::string::npos);
  list.data.push_back(
      {R"({"sessionId":"s1","cwd":"/w","status":"idle","archived":false,"threads":1,"turns":3,)"
       R"("preview":"say\nhi","createdAt":"2026-01-01T00:00:00.000Z",)"
       R"("updatedAt":"2027-01-15T07:50:00.000Z"})"});
  CHECK(*sessions_text(list, kNow, 80, Colour::off) ==
        "SESSION  STATUS  TURNS  UPDATED     WHAT\n"
        "s1       idle    3      10 min ago  say hi\n");
}

TEST_CASE("a session is shown with its threads, turns, queue and how to go on") {
  schema::SessionSnapshot session;
  session.session_id = SessionId{"s1"};
  session.cwd = "/w";
  session.status = schema::Status::blocked;
  session.created_at = session.updated_at = kNow;
  session.as_of_sequence = 42;
  schema::ThreadSnapshot thread;
  thread.thread_id = ThreadId{"main"};
  thread.status_detail = schema::Status::blocked;
  thread.status_reason = "restart";
  thread.resumable = true;
  thread.queued_turns.push_back({TurnId{"t2"}, TaskId{"k"}, 1, "and then", "user", kNow});
  session.threads.push_back(thread);
  schema::TurnSnapshot turn;
  turn.turn_id = TurnId{"t1"};
  turn.thread_id = ThreadId{"main"};
  turn.status = schema::Status::completed;
  turn.input_preview = "hello";
  turn.output_preview = "hi there";
  turn.submitted_at = kNow;
  turn.completed_at = kNow + 1'500;
  turn.usage = schema::Usage{10, 5, {}, {}};
  session.history.push_back({schema::to_json(turn)});
  schema::ProcessSnapshot process;
  process.process_id = ProcessId{"proc_1"};
  process.command = "npm run\ndev";
  process.tty = true;
  process.started_at = kNow;
  session.processes.push_back(process);
  const auto text = session_text(schema::to_json(session), kNow, 80, Colour::off);
  REQUIRE(text);
  CHECK(*text ==
        "session s1  blocked\n  in /w · created just now · updated just now · 42 events\n\nthread "
        "main  blocked (restart)\n  to resume: agentrt run --session s1 --thread main\n  queued #1 "
        "t2  and then\n  completed t1  just now · 1.5 s · 10 in, 5 out\n    > hello\n    < hi "
        "there\n\nbackground processes (they keep running when the runtime stops)\n  running "
        "proc_1  just now · tty\n    $ npm run dev\n  to stop one: agentrt call terminate_process "
        "'{\"processId\":\"proc_1\"}'\n");
}

TEST_CASE("a reply that is not one is an error, not a crash") {
  CHECK(!session_text("[]", kNow, 80, Colour::off));
  CHECK(!read_list("{\"data\":1}"));
}

TEST_CASE("an error is one sentence, or the protocol's object") {
  const Error error{Code::not_found, "no such\nsession", R"({"a":1})"};
  CHECK(error_text(error, Form::text, Colour::off) == "agentrt: no such session.\n");
  const Error failed{Code::internal,
                     "The turn failed: no key. Continue with: agentrt run --session s \"PROMPT\"",
                     {}};
  CHECK(error_text(failed, Form::text, Colour::off, 40) ==
        "agentrt: The turn failed: no key.\n  Continue with:\n"
        "  agentrt run --session s \"PROMPT\"\n");
  CHECK(error_text(error, Form::json, Colour::off) ==
        "{\"error\":{\"code\":\"not_found\",\"message\":\"no "
        "such\\nsession\",\"details\":{\"a\":1}}}\n");
}

TEST_CASE("exit codes follow from the kind of error") {
  CHECK(exit_code_of({Code::invalid_params, "", ""}) == 2);
  CHECK(exit_code_of({Code::not_found, "", ""}) == 1);
  CHECK(exit_code_of({Code::conflict, "", ""}) == 1);
  CHECK(exit_code_of({Code::unavailable, "", ""}) == 4);
  CHECK(exit_code_of({Code::storage_full, "", ""}) == 4);
}

TEST_CASE("a blocked turn's error names the command that continues it") {
  const FollowedTurn turn{SessionId{"s"}, ThreadId{"h"}, TurnId{"t"}};
  const Error error = blocked_error(turn, {Ending::blocked, "no model", "no_model", true});
  CHECK(error.message ==
        "The turn is waiting: no model; a new PROMPT replaces it; when a model is available, "
        "resume it with: agentrt run --session s --thread h");
  CHECK(error.details ==
        "{\"sessionId\":\"s\",\"threadId\":\"h\",\"turnId\":\"t\",\"status\":\"blocked\"}");
  const Error asked = blocked_error(turn, {Ending::blocked, "Run: cd a; rm b?", "action", true});
  CHECK(asked.message.starts_with("The turn is waiting: Run: cd a; rm b?; agentrt approvals"));
}

TEST_CASE("a failed turn has the code of its cause and says how to continue") {
  using schema::Category;
  const FollowedTurn turn{SessionId("s"), ThreadId("h"), TurnId("t")};
  const auto failed = [&](Category category, std::string reason,
                          std::optional<std::uint64_t> status = {}) {
    return failed_error(turn, {Ending::failed, std::move(reason), "", false, category, status});
  };
  const std::string next = ". Continue the session with: agentrt run --session s \"PROMPT\"";
  const Error key = failed(Category::denied, "it rejects the key (a; b); set another", 401);
  CHECK(key.code == Code::unauthenticated);
  CHECK(key.message == "The turn failed: it rejects the key (a; b); set another" + next);
  CHECK(key.details ==
        R"({"sessionId":"s","threadId":"h","turnId":"t","status":"failed","category":"denied",)"
        R"("providerStatus":401})");
  CHECK(failed(Category::denied, "x", 403).code == Code::forbidden);
  const Error limit =
      failed(Category::rate_limited, "the limit is reached (429: wait; retry)", 429);
  CHECK(limit.code == Code::limit_exceeded);
  CHECK(limit.message ==
        "The turn failed: the limit is reached (429: wait; retry); try again later, or choose "
        "another model with --model" +
            next);
  CHECK(failed(Category::provider, "It failed.").message.contains("It failed; try again"));
  CHECK(failed(Category::unavailable, "x").code == Code::unavailable);
  CHECK(failed(Category::invalid_input, "x").code == Code::invalid_params);
  CHECK(failed(Category::not_found, "x").code == Code::not_found);
  CHECK(failed(Category::timeout, "x").code == Code::timeout);
  CHECK(failed(Category::internal, "x").code == Code::internal);
  CHECK(unapproved_error(turn, 2).code == Code::conflict);
}

TEST_CASE("an address to listen on is read and loopback is the only one without further words") {
  ServeArguments arguments;
  arguments.listen = "127.0.0.1:0";
  CHECK(read_listen(arguments, {})->port == 0);
  arguments.listen = "localhost:80";
  CHECK(read_listen(arguments, {})->address == "127.0.0.1");
  arguments.listen = "[::1]:7717";
  CHECK(read_listen(arguments, {})->address == "::1");
  for (const char* wrong : {"127.0.0.1", ":7717", "x:1", "127.0.0.1:", "127.0.0.1:70000",
                            "127.0.0.1:1x", "::1:7717", "[::1]"}) {
    arguments.listen = wrong;
    CHECK(read_listen(arguments, {}).error().code == Code::invalid_params);
  }
  arguments.listen = "0.0.0.0:7717";
  CHECK(!read_listen(arguments, {}));
  arguments.allow_remote = true;
  CHECK(!read_listen(arguments, {}));
  arguments.behind_proxy = true;
  CHECK(read_listen(arguments, {})->address == "0.0.0.0");
}

TEST_CASE("a checkup names each finding and the remedy for what is not ok") {
  const std::vector<Check> checks = {{"disk", Health::good, "9 MiB", ""},
                                     {"clock", Health::bad, "1970", "set it"}};
  CHECK(!all_good(checks));
  CHECK(checks_text(checks, {}) ==
        "ok      disk   9 MiB\n"
        "not ok  clock  1970\n"
        "               → set it\n");
  CHECK(checks_text({{"disk", Health::good, "a long finding that needs two lines", ""}}, {40}) ==
        "ok      disk  a long finding that needs\n"
        "              two lines\n");
  CHECK(checks_json(checks) ==
        "{\"ok\":false,\"checks\":[{\"name\":\"disk\",\"ok\":true,\"finding\":\"9 MiB\"},"
        "{\"name\":\"clock\",\"ok\":false,\"finding\":\"1970\",\"remedy\":\"set it\"}]}\n");
}

TEST_CASE("a change of a file is asked about line by line") {
  schema::ActionSnapshot action;
  action.action_type = schema::kPermissionAction;
  action.tool_name = "edit_file";
  action.input = schema::Json{R"({"path":"a.cc","oldText":"x\ny","newText":"z\u001b[2J"})"};
  CHECK(question_text(action, Paper{}).contains("    a.cc\n    - x\n    - y\n    + z\\x1b[2J\n"));
  action.tool_name = "write_file";
  action.input = schema::Json{R"({"path":"b","content":"one\ntwo\n"})"};
  CHECK(question_text(action, Paper{}).contains("    b\n    + one\n    + two\n"));
}

schema::ActionSnapshot action_of(std::string_view type) {
  schema::ActionSnapshot action;
  action.action_id = ActionId{"action_1"};
  action.action_type = type;
  return action;
}

TEST_CASE("an answer for longer is about the path where the tool is one of files") {
  schema::ActionSnapshot action = action_of(schema::kPermissionAction);
  for (const char* tool : {"read_file", "write_file", "edit_file", "list_files", "search_files"}) {
    action.tool_name = tool;
    CHECK(answer_prompt(action, Paper{}) ==
          "  y  yes, once\n  s  yes, for this path in this session\n"
          "  a  yes, for this path always in this folder\n"
          "  n  no; n REASON also tells the model why\n  > ");
  }
}

TEST_CASE("the prompt shows the rule that each lasting answer stores") {
  schema::ActionSnapshot action = action_of(schema::kPermissionAction);
  action.tool_name = "shell";
  action.scopes = {"once", "session", "always"};
  action.rules = {R"(shell("git log -1"))", "shell(git log:*)"};
  CHECK(answer_prompt(action, Paper{}) ==
        "  y   yes, once\n"
        "  s   yes, exactly this in this session; stores the rule shell(\"git log -1\")\n"
        "  a   yes, exactly this always in this folder; stores the rule shell(\"git log -1\")\n"
        "  sp  yes, every command that begins with git log, in this session; stores the rule "
        "shell(git log:*)\n"
        "  ap  yes, every command that begins with git log, always in this folder; stores the rule "
        "shell(git log:*)\n"
        "  n   no; n REASON also tells the model why\n  > ");
  CHECK(read_answer(action, "s")->scope == schema::AnswerScope::session);
  CHECK(!read_answer(action, "s")->rule);
  CHECK(read_answer(action, "ap")->scope == schema::AnswerScope::always);
  CHECK(read_answer(action, "ap")->rule == "shell(git log:*)");
  action.tool_name = "mcp__box__echo";
  action.rules = {R"(mcp__box__echo("{}"))", "mcp__box__echo"};
  CHECK(answer_prompt(action, Paper{})
            .contains("  at  yes, every call of the tool always in this folder; stores the rule "
                      "mcp__box__echo\n"));
  CHECK(read_answer(action, "st")->rule == "mcp__box__echo");
  action.tool_name = "web_fetch";
  action.rules = {R"(web_fetch("https://a.org/"))", "web_fetch(a.org)"};
  CHECK(answer_prompt(action, Paper{})
            .contains("  sh  yes, every page of this host in this session; stores the rule "
                      "web_fetch(a.org)\n"));
  CHECK(read_answer(action, "ah")->rule == "web_fetch(a.org)");
  action.input = schema::Json{R"({"url":"HTTPS://A.org/x"})"};
  CHECK(question_text(action, Paper{})
            .starts_with("Load this page from the web?\n\n    https://a.org/x\n"));
}

TEST_CASE("leaving the sandbox is the loudest thing on the screen, and granted once at a time") {
  schema::ActionSnapshot action = action_of(schema::kPermissionAction);
  action.tool_name = "shell";
  action.input = schema::Json{R"({"command":"npm publish","outsideSandbox":true,)"
                              R"("justification":"needs the\nregistry","background":true,)"
                              R"("tty":true})"};
  action.sandbox = schema::SandboxMode::full_access;
  action.outside_sandbox = true;
  action.user = "ada";
  action.network = true;
  action.scopes = {"once"};
  const std::string asked = question_text(action, Paper{});
  CHECK(asked.starts_with("OUTSIDE THE SANDBOX: run this command without confinement?\n"));
  CHECK(asked.contains("it runs as ada, with the machine's network"));
  CHECK(asked.contains("  model says   needs the\\nregistry\n"));
  CHECK(asked.contains("  background "));
  CHECK(asked.contains("  tty "));
  CHECK(question_text(action, {80, Colour::on}).starts_with("\x1b[1;97;41mOUTSIDE"));
  CHECK(answer_prompt(action, Paper{}) ==
        "  y  yes, once\n  n  no; n REASON also tells the model why\n  > ");
  CHECK(read_answer(action, "s").error().message == "type y or n");
  CHECK(read_answer(action, "a").error().message == "type y or n");
  action.session_id = SessionId("sess_01m7jz00000000000000000000");
  const std::string listed = actions_text({action, action}, kNow, {200, Colour::off});
  CHECK(listed.contains("  sess_01m7jz0000  OUTSIDE"));
  CHECK(listed.contains("OUTSIDE THE SANDBOX: npm publish\n"));
  CHECK(
      listed.contains("action_1 runs OUTSIDE THE SANDBOX as ada, with the machine's network; runs "
                      "in the background; has a tty; the model says: needs the registry\n"));
  action.network = false;
  CHECK(question_text(action, Paper{}).contains("as ada, without network"));
}

TEST_CASE("a denial may have a reason") {
  const schema::ActionSnapshot action = action_of(schema::kPermissionAction);
  CHECK(read_answer(action, "n")->decision == "deny");
  CHECK(!read_answer(action, "n")->reason);
  CHECK(read_answer(action, "n  use git mv, Not mv ")->decision == "deny");
  CHECK(read_answer(action, "n  use git mv, Not mv ")->reason == "use git mv, Not mv");
  CHECK(read_answer(action, "NO not now")->reason == "not now");
  CHECK(!read_answer(action, "y please"));
}

TEST_CASE("a line that is full before a space does not move the next one to the right") {
  std::string out;
  add_row(out, "name", "eight888 next words", Paint::plain, {15 + 20, Colour::off});
  CHECK(out == "  name         eight888 next words\n");
  out.clear();
  add_row(out, "name", "exactly twenty chars and more", Paint::plain, {15 + 20, Colour::off});
  CHECK(out == "  name         exactly twenty chars\n               and more\n");
}

TEST_CASE("questions break at spaces, and a continued command line is marked") {
  schema::ActionSnapshot action = action_of(schema::kPermissionAction);
  action.tool_name = "shell";
  action.input = schema::Json{
      R"({"command":"echo several words that do not fit into one line of a small terminal"})"};
  action.reason = "No rule allows every command of the text, which is why you are asked.";
  const std::string asked = question_text(action, {40, Colour::off});
  CHECK(asked.contains(
      "    echo several words that do not fit \n  ↪ into one line of a small terminal\n"));
  for (std::string_view rest = asked; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    CHECK_MESSAGE(width_of(rest.substr(0, end)) <= 40, std::string(rest.substr(0, end)));
    rest.remove_prefix(end + 1);
  }
  CHECK(question_text(action, {20, Colour::off}).contains("  reason      \n    No rule"));
}

TEST_CASE("what a file would do is listed, and what changed since it was trusted is marked") {
  schema::PolicyFile file{"/w/.mcp.json", "sha256:1", false, false, {}, {}};
  file.effects = {"starts the MCP server a: npx a", "starts the MCP server b: npx b"};
  CHECK(trust_files_text({file}, Paper{}) ==
        "  /w/.mcp.json (not trusted)\n    · starts the MCP server a: npx a\n"
        "    · starts the MCP server b: npx b\n");
  file.changed = true;
  file.trusted_effects = {"starts the MCP server a: npx a", "starts the MCP server c: npx c"};
  CHECK(trust_files_text({file}, Paper{}) ==
        "  /w/.mcp.json (changed since it was trusted)\n      starts the MCP server a: npx a\n"
        "    + starts the MCP server b: npx b\n    - starts the MCP server c: npx c\n");
  schema::ActionSnapshot action = action_of(schema::kTrustAction);
  action.files = {file};
  CHECK(question_text(action, Paper{}).contains("    + starts the MCP server b: npx b\n"));
}

TEST_CASE("rules are listed with their source and when they were granted") {
  schema::RulesReply rules;
  rules.workspace = "/w";
  rules.mode = schema::PermissionMode::on_request;
  rules.mode_origin = schema::RuleOrigin::always;
  rules.rules = {{schema::RuleEffect::deny, "shell(rm:*)", schema::RuleOrigin::managed},
                 {schema::RuleEffect::allow, "shell(\"make\")", schema::RuleOrigin::always}};
  rules.rules[1].cwd = "/w";
  rules.rules[1].granted_at = kNow + -600'000;
  CHECK(rules_text(rules, kNow, Paper{}) ==
        "  folder       /w\n  mode         on_request (chosen for this folder)\n"
        "  sandbox      workspace_write\n\n  deny shell(rm:*)\n    managed configuration\n\n"
        "  allow shell(\"make\")\n    granted for this folder, 10 min ago, in /w\n");
}

TEST_CASE("an invalid answer is explained") {
  schema::ActionSnapshot action = action_of(schema::kPermissionAction);
  CHECK(read_answer(action, " Yes ")->decision == "allow");
  CHECK(read_answer(action, "maybe").error().message == "type y, s, a or n");
  action = action_of(schema::kTrustAction);
  CHECK(read_answer(action, "s").error().message == "type y or n");
  action = action_of(schema::kInputAction);
  CHECK(read_answer(action, " ").error().message == "nothing was typed; type the answer");
  action.tool_name = "ask_user";
  action.input = schema::Json{R"({"question":"which?","choices":["red","blue"]})"};
  CHECK(read_answer(action, "2")->payload->text == R"({"answer":"blue"})");
  CHECK(read_answer(action, "3").error().message ==
        "that is not one of the choices; type a number from 1 to 2");
  action = action_of(schema::kElicitationAction);
  action.url = "https://a.b";
  CHECK(read_answer(action, "y")->decision == "accept");
  CHECK(read_answer(action, "yes").error().message ==
        "type y when you have finished there, /n to decline or /c to cancel");
  CHECK(refusal_text("two\n\x1blines", Paper{}) == "  not accepted: two \\x1blines\n");
}

TEST_CASE("a server's choices are a list of titles") {
  schema::ActionSnapshot action = action_of(schema::kElicitationAction);
  action.server = "shop";
  action.prompt = "Which one?";
  action.schema = schema::Json{
      R"({"properties":{"tier":{"oneOf":[{"const":"b","title":"Basic"},{"const":"p"}]}}})"};
  CHECK(question_text(action, Paper{}) ==
        "The MCP server shop asks:\n\n    Which one?\n\n  tier         one of these (optional)\n   "
        " [1] Basic\n    [2] p\n");
  CHECK(answer_prompt(action, Paper{}) ==
        "  number  of the choice\n  /n      decline\n  /c      cancel\n  > ");
  CHECK(read_answer(action, "1")->payload->text == R"({"tier":"b"})");
}

TEST_CASE("a question that nobody answers here any more says how it is answered") {
  CHECK(elsewhere_text(action_of(schema::kPermissionAction), Paper{}) ==
        "  standard input has ended; answer from another terminal with agentrt approve action_1 or "
        "agentrt deny action_1; Ctrl-C interrupts the turn\n");
  CHECK(elsewhere_text(action_of(schema::kInputAction), Paper{})
            .contains("agentrt approve action_1 --answer TEXT or"));
}

}  // namespace
TEST_CASE("an explanation gives the reason of the source that decides once") {
  using namespace schema;
  EvaluatePermissionReply reply;
  reply.decision = Decision::ask;
  reply.decision_source = DecisionSource::mode;
  reply.decision_reason = "No rule covers the whole command. Cause: no rule allows ls.";
  reply.chain = {{DecisionSource::rule, Decision::allow, "shell(cat:*)", "It is allowed."},
                 {DecisionSource::mode, Decision::ask, {}, "No rule covers the whole command."}};
  const std::string text = explanation_text(reply, "ls", {});
  CHECK(text.starts_with("ask: No rule covers the whole command. Cause: no rule allows ls.\n"));
  CHECK(text.contains("rule: allow by shell(cat:*) (It is allowed.)\n"));
  CHECK(text.contains("mode: ask (decides)\n"));
  CHECK(text.find("No rule covers") == text.rfind("No rule covers"));
}

}  // namespace agentrt::cli
