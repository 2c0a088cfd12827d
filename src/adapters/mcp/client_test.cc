// Tests one client against a scripted server: every exchange ends in bounded time, whatever the
// server sends or omits.
#include "adapters/mcp/client.h"

#include <doctest/doctest.h>

#include "adapters/mcp/testing/fake_server.h"

using namespace agentrt;
using namespace agentrt::adapters;

namespace {

struct RecordedCall final : McpCallListener {
  void on_progress(std::string text) override { progress.push_back(std::move(text)); }
  void on_question(ports::ToolQuestion question) override {
    questions.push_back(std::move(question));
  }
  void on_warning(std::string code, std::string message) override {
    warnings.push_back(code + ": " + message);
  }
  void on_end(Result<schema::Json> result) override { ends.push_back(std::move(result)); }
  std::vector<std::string> warnings;
  std::vector<std::string> progress;
  std::vector<ports::ToolQuestion> questions;
  std::vector<Result<schema::Json>> ends;
};

struct World {
  ports::FakeLoop loop;
  FakeServers servers{loop};
  std::shared_ptr<FakeServer> server = servers.add();
  McpServer config;
  std::vector<std::string> over;
  std::unique_ptr<McpClient> client;

  World() { config.name = "fake"; }

  void start() {
    client = std::make_unique<McpClient>(loop, config, servers.make(),
                                         [this](const Error& why) { over.push_back(why.message); });
    client->start();
  }
  // The outcome of when_listed(): "ok" or the reason.
  std::string listed() {
    std::string said = "nothing";
    client->when_listed(
        [&](Result<void> outcome) { said = outcome ? "ok" : outcome.error().message; });
    loop.run_for(config.startup_ms + 1);
    return said;
  }
  std::shared_ptr<RecordedCall> call(const std::string& tool = "echo") {
    auto heard = std::make_shared<RecordedCall>();
    number = client->call(tool, {R"({"text":"hi"})"}, heard).value_or(0);
    return heard;
  }
  std::uint64_t number = 0;
};

}  // namespace

TEST_CASE("a client greets, says that it is ready and lists the tools") {
  World world;
  world.start();
  CHECK(world.listed() == "ok");
  CHECK(world.server->agreed);
  CHECK(world.server->got[0].params->text.find(R"("protocolVersion":"2025-11-25")") !=
        std::string::npos);
  CHECK(world.server->got[1].method == "notifications/initialized");
  REQUIRE(world.client->tools().tools.size() == 1);
  CHECK(world.client->tools().tools[0].offered_as == "mcp__fake__echo");
}

TEST_CASE("older revisions of the protocol are spoken, unknown ones are not") {
  for (const char* const known : {"2025-06-18", "2025-03-26", "2024-11-05"}) {
    World world;
    world.server->protocol = known;
    world.start();
    CHECK(world.listed() == "ok");
  }
  World world;
  world.server->protocol = "1999-01-01";
  world.start();
  CHECK(world.listed() == "it uses the protocol version \"1999-01-01\", which is not supported");
  CHECK(world.over.size() == 1);
}

TEST_CASE("a server that never answers is given up after its time") {
  World world;
  world.server->greets = false;
  world.start();
  CHECK(world.listed() ==
        "it did not start within 60000 ms; check that the server at its url runs, or raise "
        "startup_ms in [mcp_servers.fake]");
  CHECK(world.over.size() == 1);
}

TEST_CASE("a list that never ends is cut, and a broken one is an end") {
  World world;
  world.server->pages = {R"({"tools":[],"nextCursor":"more"})"};
  world.start();
  CHECK(world.listed() == "ok");
  CHECK(world.server->count("tools/list") == kMcpToolPagesMax);
  CHECK(world.client->tools().missing()->find("more than 64 pages") != std::string::npos);

  World broken;
  broken.server->pages = {R"({"tool":[]})"};
  broken.start();
  CHECK(broken.listed() == "its answer to tools/list is not a list of tools");
}

TEST_CASE("tools that cannot be offered are left out with a reason") {
  World world;
  world.server->pages = {R"({"tools":[{"name":"a"},{"name":"b","inputSchema":{"type":"string"}},)"
                         R"({"inputSchema":{}},{"name":"c","inputSchema":{}},)"
                         R"({"name":"c","inputSchema":{}},{"name":"d d","inputSchema":{},)"
                         R"("annotations":{"readOnlyHint":true}}]})"};
  world.start();
  CHECK(world.listed() == "ok");
  CHECK(world.client->tools().missing() ==
        "omitted: a (it has no input schema); b (its schema requires a string as arguments, but "
        "arguments are always an object); a tool (it has no name); c (another tool of the server "
        "already has this name)");
  REQUIRE(world.client->tools().tools.size() == 2);
  CHECK(world.client->tools().tools[1].offered_as.starts_with("mcp__fake__d_d_"));
  CHECK(world.client->tools().tools[1].read_only);
}

TEST_CASE("a tool is offered with the type and the members of its arguments, said or not") {
  const auto offered = [](const std::string& said) {
    World world;
    world.server->pages = {fmt::format(R"({{"tools":[{{"name":"t","inputSchema":{}}}]}})", said)};
    world.start();
    CHECK(world.listed() == "ok");
    REQUIRE(world.client->tools().tools.size() == 1);
    const McpTool& tool = world.client->tools().tools[0];
    CHECK(tool.input_schema.text == said);
    return catalog_tool(tool, world.config).input_schema.text;
  };
  const std::string whole = R"({"type":"object", "properties":{"a":{}},"required":["a"]})";
  CHECK(offered(whole) == whole);
  const std::string bare = R"({"properties":{},"type":"object"})";
  CHECK(offered("{}") == bare);
  CHECK(offered(R"({ "type": "object" })") == bare);
  CHECK(offered(R"({"type":"object","properties":null})") == bare);
  CHECK(offered(R"({"type":["object","null"],"properties":{}})") == bare);
  CHECK(offered(R"({"anyOf":[{"required":["a"]}]})") ==
        R"({"anyOf":[{"required":["a"]}],"properties":{},"type":"object"})");
}

TEST_CASE("a change of the tools is listed before the next turn") {
  World world;
  world.start();
  CHECK(world.listed() == "ok");
  world.server->say(rpc_notification("notifications/tools/list_changed", "{}"));
  world.loop.run_for(1);
  CHECK(world.server->count("tools/list") == 1);
  world.server->pages = {R"({"tools":[{"name":"other","inputSchema":{"type":"object"}}]})"};
  CHECK(world.listed() == "ok");
  CHECK(world.client->tools().tools[0].name == "other");
}

TEST_CASE("a call has an answer, once") {
  World world;
  world.server->calls = false;
  world.start();
  CHECK(world.listed() == "ok");
  const auto heard = world.call();
  const auto& request = world.server->got.back();
  CHECK(request.params->text ==
        R"({"name":"echo","arguments":{"text":"hi"},"_meta":{"progressToken":3}})");
  world.server->reply(R"({"content":[]})");
  world.server->reply(R"({"content":[1]})");
  world.loop.run_for(1);
  REQUIRE(heard->ends.size() == 1);
  CHECK(heard->ends[0]->text == R"({"content":[]})");
  CHECK(world.over.empty());
}

TEST_CASE("an error of the server is the end of the call, not of the connection") {
  World world;
  world.server->calls = false;
  world.start();
  CHECK(world.listed() == "ok");
  const auto heard = world.call();
  world.server->say(rpc_error(*world.server->got.back().id, kRpcInvalidParams, "no such city"));
  world.loop.run_for(1);
  REQUIRE(heard->ends.size() == 1);
  CHECK(heard->ends[0].error().code == Code::invalid_params);
  CHECK(heard->ends[0].error().message == "no such city");
  CHECK(world.over.empty());
}

TEST_CASE("progress is reported and extends the time limit of a call, up to a maximum") {
  World world;
  world.server->calls = false;
  world.start();
  CHECK(world.listed() == "ok");
  const auto heard = world.call();
  const auto progress = [&](std::string_view more) {
    world.server->say(rpc_notification(
        "notifications/progress",
        fmt::format(R"({{"progressToken":{},"progress":1{}}})", world.number, more)));
  };
  progress(R"(,"total":4)");
  progress(R"(,"message":"too soon after the last one")");
  world.loop.run_for(kMcpProgressEveryMs);
  progress(R"(,"message":"half way")");
  world.loop.run_for(50'000);
  progress("");
  world.loop.run_for(50'000);
  CHECK(heard->progress == std::vector<std::string>{"1 of 4", "half way", "1"});
  CHECK(heard->ends.empty());
  for (int i = 0; i < 80; ++i) {
    progress("");
    world.loop.run_for(50'000);
  }
  REQUIRE(heard->ends.size() == 1);
  CHECK(heard->ends[0].error().message == "the MCP server fake did not answer within 3600000 ms");
}

TEST_CASE("a call without an answer times out, and the server gets a cancellation") {
  World world;
  world.server->calls = false;
  world.start();
  CHECK(world.listed() == "ok");
  const auto heard = world.call();
  world.loop.run_for(60'001);
  REQUIRE(heard->ends.size() == 1);
  CHECK(heard->ends[0].error().code == Code::timeout);
  CHECK(world.server->got.back().method == "notifications/cancelled");
  world.server->say(rpc_result({std::to_string(world.number)}, "{}"));  // too late
  world.loop.run_for(1);
  CHECK(heard->ends.size() == 1);
  CHECK(world.listed() == "ok");
}

TEST_CASE("a client that is closed cancels its calls at the server first") {
  World world;
  world.server->calls = false;
  world.start();
  CHECK(world.listed() == "ok");
  const auto heard = world.call();
  world.client->close([] {});
  CHECK(world.server->count("notifications/cancelled") == 1);
  CHECK(world.server->orderly);
  world.loop.run_for(100'000);
  CHECK(heard->ends.empty());
}

TEST_CASE("a cancelled call ends at once and reports nothing more") {
  World world;
  world.server->calls = false;
  world.start();
  CHECK(world.listed() == "ok");
  const auto heard = world.call();
  world.client->cancel(world.number);
  CHECK(world.server->got.back().method == "notifications/cancelled");
  CHECK(world.server->got.back().params->text.starts_with(
      fmt::format(R"({{"requestId":{},)", world.number)));
  world.server->say(rpc_result({std::to_string(world.number)}, "{}"));
  world.loop.run_for(100'000);
  CHECK(heard->ends.empty());
}

TEST_CASE("a server that dies ends its calls with an unknown outcome") {
  World world;
  world.server->calls = false;
  world.start();
  CHECK(world.listed() == "ok");
  const auto heard = world.call();
  world.server->die("it ended with exit code 1; the end of its error output: out of cheese");
  world.loop.run_for(1);
  REQUIRE(heard->ends.size() == 1);
  CHECK(heard->ends[0].error().code == Code::gone);
  CHECK(heard->ends[0].error().message.find("out of cheese") != std::string::npos);
  CHECK(world.over.size() == 1);
  CHECK(world.listed().find("out of cheese") != std::string::npos);
  CHECK(!world.client->call("echo", {"{}"}, heard));
}

TEST_CASE("a question goes to a person, and thinking takes no time of the call") {
  World world;
  world.server->calls = false;
  world.start();
  CHECK(world.listed() == "ok");
  const auto heard = world.call();
  world.server->say(
      R"({"jsonrpc":"2.0","id":"e1","method":"elicitation/create","params":{"message":"Who?",)"
      R"("requestedSchema":{"type":"object","properties":{"name":{"type":"string"},)"
      R"("age":{"type":"integer","default":7}}}}})");
  world.loop.run_for(10'000'000);
  REQUIRE(heard->questions.size() == 1);
  CHECK(heard->questions[0].prompt == "Who?");
  CHECK(heard->questions[0].server == "fake");
  CHECK(heard->ends.empty());
  world.client->answer(world.number, heard->questions[0].id, ports::QuestionAnswer::accept,
                       schema::Json{R"({"name":"Ada"})"});
  CHECK(world.server->last_answer()->id->text == R"("e1")");
  CHECK(world.server->last_answer()->result->text ==
        R"({"action":"accept","content":{"age":7,"name":"Ada"}})");
  world.loop.run_for(60'001);  // the timeout of the call runs again
  CHECK(heard->ends.size() == 1);
}

TEST_CASE("questions can be declined, lead elsewhere, be wrong or come out of the blue") {
  World world;
  world.server->calls = false;
  world.start();
  CHECK(world.listed() == "ok");
  const auto ask = [&](std::string_view params) {
    world.server->say(fmt::format(
        R"({{"jsonrpc":"2.0","id":9,"method":"elicitation/create","params":{}}})", params));
    world.loop.run_for(1);
  };
  ask(R"({"message":"Who?","requestedSchema":{"type":"object","properties":{}}})");
  CHECK(world.server->last_answer()->result->text == R"({"action":"cancel"})");
  const auto heard = world.call();
  ask(R"({"message":"Who?"})");
  CHECK(world.server->last_answer()->error->code == kRpcInvalidParams);
  ask(R"({"mode":"url","message":"Sign in","url":"javascript:boo"})");
  CHECK(world.server->last_answer()->error->message == "url must be an http or https URL");
  ask(R"({"mode":"url","message":"Sign in","url":"https://example.com/x","elicitationId":"1"})");
  REQUIRE(heard->questions.size() == 1);
  CHECK(heard->questions[0].url == "https://example.com/x");
  world.client->answer(world.number, heard->questions[0].id, ports::QuestionAnswer::decline, {});
  CHECK(world.server->last_answer()->result->text == R"({"action":"decline"})");
  for (std::size_t i = 0; i <= kMcpQuestionsMax; ++i)
    ask(R"({"mode":"url","message":"Sign in","url":"https://example.com/x"})");
  CHECK(heard->questions.size() == 1 + kMcpQuestionsMax);
  CHECK(world.server->last_answer()->result->text == R"({"action":"cancel"})");
}

TEST_CASE("requests of a server are answered: pings, roots, and no others") {
  World world;
  world.start();
  CHECK(world.listed() == "ok");
  world.client->set_roots({"/work/a b"});
  const auto ask = [&](std::string_view method) {
    world.server->say(fmt::format(R"({{"jsonrpc":"2.0","id":"x","method":"{}"}})", method));
    world.loop.run_for(1);
    return world.server->last_answer();
  };
  CHECK(ask("ping")->result->text == "{}");
  CHECK(ask("roots/list")->result->text == R"({"roots":[{"uri":"file:///work/a%20b"}]})");
  CHECK(ask("sampling/createMessage")->error->code == kRpcNoSuchMethod);
}

TEST_CASE("sampling is refused, and each call notes it once") {
  World world;
  world.start();
  const auto call = std::make_shared<RecordedCall>();
  world.server->calls = false;
  REQUIRE(world.client->call("echo", {R"({"text":"x"})"}, call));
  world.loop.run_for(1);
  for (int i = 0; i < 2; ++i) {
    world.server->say(R"({"jsonrpc":"2.0","id":"x","method":"sampling/createMessage"})");
    world.loop.run_for(1);
  }
  CHECK(world.server->last_answer()->error->message.starts_with("this client does not offer"));
  REQUIRE(call->warnings.size() == 1);
  CHECK(call->warnings[0].starts_with("mcp_sampling_refused: the MCP server "));
}

TEST_CASE("a server that refuses to initialize may be newer") {
  World world;
  world.server->greets = false;
  world.start();
  world.loop.run_for(1);
  world.server->say(rpc_error(*world.server->got.back().id, kRpcNoSuchMethod, "no such method"));
  world.loop.run_for(1);
  REQUIRE(world.over.size() == 1);
  CHECK(world.over[0] ==
        "it refused to initialize: no such method; it may speak only MCP "
        "2026-07-28, which is not supported");
}

TEST_CASE("a silent connection is pinged before it is relied upon") {
  World world;
  world.start();
  CHECK(world.listed() == "ok");
  world.loop.run_for(kMcpPingAfterMs);
  CHECK(world.listed() == "ok");
  CHECK(world.server->count("ping") == 1);
  world.server->pings = false;
  world.loop.run_for(kMcpPingAfterMs);
  CHECK(world.listed() == "it did not answer a ping within 10000 ms");
}

TEST_CASE(
    "a ping that does not reach the server ends the connection, an error as answer does not") {
  World world;
  world.start();
  CHECK(world.listed() == "ok");
  world.server->pings = false;
  world.loop.run_for(kMcpPingAfterMs);
  const auto listed_after = [&](const auto& answer) {
    std::string said = "nothing";
    world.client->when_listed(
        [&](Result<void> outcome) { said = outcome ? "ok" : outcome.error().message; });
    answer();
    world.loop.run_for(1);
    return said;
  };
  CHECK(listed_after([&] {
          world.server->say(rpc_error(*world.server->got.back().id, kRpcNoSuchMethod, "what?"));
        }) == "ok");
  world.loop.run_for(kMcpPingAfterMs);
  CHECK(listed_after([&] { world.server->refuse("HTTP status 500"); }) == "HTTP status 500");
  CHECK(world.over == std::vector<std::string>{"HTTP status 500"});
}

TEST_CASE("a request that is refused on its way is the end of that request alone") {
  World world;
  world.start();
  CHECK(world.listed() == "ok");
  world.server->calls = false;
  const auto heard = world.call();
  world.server->refuse("HTTP status 500");
  world.server->refuse("once more");
  world.loop.run_for(1);
  REQUIRE(heard->ends.size() == 1);
  CHECK(heard->ends[0].error().code == Code::internal);
  CHECK(heard->ends[0].error().message == "HTTP status 500");
  CHECK(world.over.empty());
}

TEST_CASE("garbage is skipped up to a limit, and so are answers to questions nobody asked") {
  for (const char* const text : {"{\"jsonrpc\":", R"({"jsonrpc":"2.0","id":77,"result":{}})",
                                 R"({"jsonrpc":"2.0","id":"a","result":{}})",
                                 R"({"id":null,"error":{"code":1,"message":"?"}})", R"({"x":1})"}) {
    World world;
    world.start();
    CHECK(world.listed() == "ok");
    for (std::size_t i = 0; i < kMcpGarbageMax; ++i) world.server->say(text);
    world.loop.run_for(1);
    CHECK(world.over.empty());
    world.server->say(text);
    world.loop.run_for(1);
    CHECK(world.over.size() == 1);
  }
}

TEST_CASE("several messages in one text are taken one by one") {
  World world;
  world.server->calls = false;
  world.start();
  CHECK(world.listed() == "ok");
  const auto heard = world.call();
  world.server->say(fmt::format(
      R"([{{"jsonrpc":"2.0","id":1,"method":"ping"}},{{"jsonrpc":"2.0","id":{},"result":{{}}}}])",
      world.number));
  world.loop.run_for(1);
  CHECK(world.server->last_answer()->result->text == "{}");
  CHECK(heard->ends.size() == 1);
}

TEST_CASE("calls that wait have a limit") {
  World world;
  world.server->calls = false;
  world.start();
  CHECK(world.listed() == "ok");
  for (std::size_t i = 0; i < kMcpRequestsMax; ++i) world.call();
  const auto one_more = world.client->call("echo", {"{}"}, std::make_shared<RecordedCall>());
  REQUIRE(!one_more);
  CHECK(one_more.error().code == Code::limit_exceeded);
}
