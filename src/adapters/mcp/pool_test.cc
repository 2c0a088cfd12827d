// Tests the pool with fake servers in virtual time: connections are shared, closed when idle,
// reopened after a failure, and limited in number.
#include "adapters/mcp/pool.h"

#include <doctest/doctest.h>

#include "adapters/mcp/testing/fake_server.h"
#include "adapters/mcp/tool_names.h"

using namespace agentrt;
using namespace agentrt::adapters;

namespace {

struct RecordedPool final : McpPool::Listener {
  void on_progress(std::string text) override { said.push_back("progress " + text); }
  void on_question(ports::ToolQuestion question) override {
    said.push_back("question " + question.id);
  }
  void on_warning(std::string code, std::string message) override {
    said.push_back(fmt::format("{}: {}", code, message));
  }
  void on_failed(schema::Failure why) override {
    said.push_back(fmt::format("{}: {}", schema::name_of(why.category), why.message));
  }
  void on_result(schema::Json result, std::optional<schema::Json>) override {
    said.push_back(result.text);
  }
  std::vector<std::string> said;
};

struct World {
  explicit World(McpLimits limits = {}) : pool(loop, servers.make(), limits) {}

  ports::FakeLoop loop;
  FakeServers servers{loop};
  McpPool pool;

  static McpServer server(const std::string& name) {
    McpServer out;
    out.name = name;
    return out;
  }
  McpPool::Place place(const std::vector<std::string>& names, const std::string& session = "s") {
    McpPool::Place out;
    out.session = SessionId{session};
    out.folders = {"/work"};
    for (const std::string& name : names) out.servers.push_back(server(name));
    return out;
  }
  // The tools, and "!NAME: why" for missing ones.
  static std::vector<std::string> words_of(const ports::ToolListing& listing) {
    std::vector<std::string> out;
    for (const auto& tool : listing.tools) out.push_back(tool.tool_name);
    for (const auto& each : listing.missing)
      out.push_back(fmt::format("!{}: {}", each.name, each.reason));
    return out;
  }
  // All listings that a request gets, also those that come later.
  std::shared_ptr<std::vector<std::vector<std::string>>> listings(McpPool::Place where) {
    auto out = std::make_shared<std::vector<std::vector<std::string>>>();
    pool.list(std::move(where),
              [out](const ports::ToolListing& listing) { out->push_back(words_of(listing)); });
    return out;
  }
  std::vector<std::string> list(McpPool::Place where, std::int64_t wait_ms = 10'001) {
    const auto all = listings(std::move(where));
    loop.run_for(wait_ms);
    return all->empty() ? std::vector<std::string>{"no answer"} : all->back();
  }
  std::shared_ptr<RecordedPool> call(const std::string& tool, std::string args = R"({"text":"hi"})",
                                     const std::string& id = "call") {
    auto heard = std::make_shared<RecordedPool>();
    pool.call(place({"a"}), ToolCallId{id}, tool, {std::move(args)}, heard);
    loop.run_for(1);
    return heard;
  }
};

using Said = std::vector<std::string>;

}  // namespace

TEST_CASE("turns of a session share a connection, sessions do not") {
  World world;
  CHECK(world.list(world.place({"a"})) == Said{"mcp__a__echo"});
  CHECK(world.list(world.place({"a"})) == Said{"mcp__a__echo"});
  CHECK(world.servers.all.size() == 1);
  CHECK(world.list(world.place({"a"}, "other")) == Said{"mcp__a__echo"});
  CHECK(world.servers.all.size() == 2);
}

TEST_CASE("a slow server delays only its own tools") {
  World world;
  const auto slow = world.servers.add();
  slow->greets = false;
  const auto all = world.listings(world.place({"a", "b"}));
  world.loop.run_for(kMcpWaitMs - 1);
  CHECK(all->empty());
  world.loop.run_for(1);
  REQUIRE(all->size() == 1);
  CHECK(all->at(0).at(0) == "mcp__b__echo");
  CHECK(all->at(0).at(1).starts_with("!a: it is still starting"));
  slow->reply(R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}},)"
              R"("serverInfo":{"name":"fake","version":"1"}})");
  world.loop.run_for(1);
  REQUIRE(all->size() == 2);
  CHECK(all->at(1) == Said{"mcp__a__echo", "mcp__b__echo"});
}

TEST_CASE("a server that does not start in time says what to do") {
  World world;
  world.servers.add()->greets = false;
  McpPool::Place place = world.place({"a", "b"});
  McpStdio program;
  program.command = {"npx", "-y", "thing"};
  place.servers[0].way = program;
  const auto all = world.listings(place);
  world.loop.run_for(kMcpStartupMs);
  REQUIRE(all->size() == 2);
  CHECK(all->at(1) ==
        Said{"mcp__b__echo",
             "!a: it did not start within 60000 ms; if a package is still being downloaded, run "
             "`npx -y thing` once in a terminal, or raise startup_ms in [mcp_servers.a]"});
  CHECK(world.list(world.place({})).empty());
}

TEST_CASE("a turn waits for a server as long as its wait_ms says") {
  World world;
  world.servers.add()->greets = false;
  McpPool::Place place = world.place({"a"});
  place.servers[0].wait_ms = 5'000;
  const auto all = world.listings(place);
  world.loop.run_for(4'999);
  CHECK(all->empty());
  world.loop.run_for(1);
  CHECK(all->size() == 1);
}

TEST_CASE("a server that cannot be used says why") {
  World world;
  McpPool::Place place = world.place({"a"});
  place.servers[0].unusable = "its url is wrong";
  CHECK(world.list(place) == Said{"!a: its url is wrong"});
  CHECK(world.servers.all.empty());
}

TEST_CASE("a server that needs a login is retried at once") {
  World world;
  for (int i = 0; i < 4; ++i) {
    world.servers.add()->refuses = Error{Code::unauthenticated, "it needs a login", {}};
  }
  world.servers.add();
  for (int i = 0; i < 4; ++i) CHECK(world.list(world.place({"a"})) == Said{"!a: it needs a login"});
  CHECK(world.list(world.place({"a"})) == Said{"mcp__a__echo"});
}

TEST_CASE("tools of all servers together have a limit") {
  World world;
  const std::string wide(kMcpSchemaBytesMax - 100, 'x');
  std::string tools;
  for (int i = 0; i < 20; ++i)
    tools += fmt::format(R"({}{{"name":"t{}","inputSchema":{{"type":"object","$id":"{}"}}}})",
                         i == 0 ? "" : ",", i, wide);
  world.servers.add()->pages = {fmt::format(R"({{"tools":[{}]}})", tools)};
  const auto said = world.list(world.place({"a"}));
  REQUIRE(said.size() == 17);
  CHECK(said.back() ==
        "!a: omitted: 4 tools, because the tools of all servers may have at most 262144 bytes in "
        "total; choose with tools or disabled_tools; 16 of its tools are offered");
}

TEST_CASE("a server that lacks some tools says which, and that the others are offered") {
  World world;
  world.servers.add()->pages = {R"({"tools":[{"name":"a","inputSchema":{}},{"name":"b"}]})"};
  CHECK(world.list(world.place({"s"})) ==
        Said{"mcp__s__a", "!s: omitted: b (it has no input schema); 1 of its tools is offered"});
  World bare;
  bare.servers.add()->pages = {R"({"tools":[{"name":"b"}]})"};
  CHECK(bare.list(bare.place({"s"})) ==
        Said{"!s: omitted: b (it has no input schema); it has no other tools"});
  World wide;
  std::string tools;
  for (std::size_t i = 0; i < kMcpLeftOutMax + 3; ++i)
    tools += fmt::format(R"({}{{"name":"t{}"}})", i == 0 ? "" : ",", i);
  wide.servers.add()->pages = {fmt::format(R"({{"tools":[{}]}})", tools)};
  CHECK(wide.list(wide.place({"s"})).back().ends_with("; and 3 more; it has no other tools"));
}

TEST_CASE("a dead server is started again, and not at once again and again") {
  McpLimits limits;
  World world(limits);
  CHECK(world.list(world.place({"a"}), 1) == Said{"mcp__a__echo"});
  world.servers.all.back()->die("boom");
  world.loop.run_for(1);
  CHECK(world.list(world.place({"a"}), 1) == Said{"mcp__a__echo"});  // first failure: no backoff
  CHECK(world.servers.all.size() == 2);
  world.servers.all.back()->die("boom");
  world.loop.run_for(1);
  CHECK(world.list(world.place({"a"}), 1) == Said{"!a: boom; the next attempt is in 1 s"});
  CHECK(world.servers.all.size() == 2);
  world.loop.run_for(limits.pause_first_ms);
  CHECK(world.list(world.place({"a"}), 1) == Said{"mcp__a__echo"});
  world.servers.all.back()->die("boom");
  world.loop.run_for(1);
  CHECK(world.list(world.place({"a"}), 1) == Said{"!a: boom; the next attempt is in 2 s"});
}

TEST_CASE("a call that succeeds forgives the deaths before it") {
  World world;
  CHECK(world.list(world.place({"a"}), 1) == Said{"mcp__a__echo"});
  world.servers.all.back()->die("boom");
  world.loop.run_for(1);
  CHECK(world.call("mcp__a__echo")->said.size() == 1);
  world.servers.all.back()->die("boom");
  world.loop.run_for(1);
  CHECK(world.list(world.place({"a"}), 1) == Said{"mcp__a__echo"});
}

TEST_CASE("a call connects by itself, checks its arguments and gives the result") {
  World world;
  CHECK(world.call("mcp__a__echo")->said == Said{R"({"content":[{"type":"text","text":"done"}]})"});
  CHECK(world.call("mcp__a__echo", R"({"text":7})")->said ==
        Said{"invalid_input: text: expected a string, but got a number"});
  CHECK(world.servers.all.back()->count("tools/call") == 1);
  CHECK(world.call("mcp__a__gone")->said ==
        Said{"unavailable: the MCP server a no longer has the tool mcp__a__gone"});
  CHECK(world.call("mcp__z__echo")->said ==
        Said{"not_found: no configured MCP server has the tool mcp__z__echo"});
}

TEST_CASE("a cancelled call reports nothing more, even before its server is connected") {
  World world;
  world.servers.add()->calls = false;
  const auto heard = world.call("mcp__a__echo");
  world.pool.cancel(ToolCallId{"call"});
  world.loop.run_for(100'000);
  CHECK(world.servers.all.back()->last("notifications/cancelled") != nullptr);
  CHECK(heard->said.empty());

  World early;
  early.servers.add()->greets = false;
  const auto unheard = early.call("mcp__a__echo");
  early.pool.cancel(ToolCallId{"call"});
  early.loop.run_for(100'000);
  CHECK(unheard->said.empty());
}

TEST_CASE("a server that dies under a call ends it as lost") {
  World world;
  world.servers.add()->calls = false;
  const auto heard = world.call("mcp__a__echo");
  world.servers.all.back()->die("boom");
  world.loop.run_for(1);
  REQUIRE(heard->said.size() == 1);
  CHECK(heard->said[0].starts_with(
      "lost: the connection to the MCP server a was lost during the call (boom)"));
}

TEST_CASE("a call that the server did not look at is made again, once") {
  World world;
  const auto first = world.servers.add();
  const auto second = world.servers.add();
  first->calls = second->calls = false;
  const auto heard = world.call("mcp__a__echo");
  first->die("its session has ended", {*number_of(*first->last("tools/call")->id)});
  world.loop.run_for(10);
  CHECK(heard->said.empty());
  REQUIRE(second->last("tools/call") != nullptr);
  second->die("its session has ended", {*number_of(*second->last("tools/call")->id)});
  world.loop.run_for(10);
  CHECK(heard->said ==
        Said{"unavailable: the connection to the MCP server a was lost (its session has ended)"});
}

TEST_CASE("of calls side by side, those that the server did not look at are made again") {
  World world;
  const auto first = world.servers.add();
  first->calls = false;
  const auto one = world.call("mcp__a__echo", R"({"text":"1"})", "one");
  const auto seen = world.call("mcp__a__echo", R"({"text":"2"})", "seen");
  const auto two = world.call("mcp__a__echo", R"({"text":"3"})", "two");
  const std::uint64_t last = *number_of(*first->last("tools/call")->id);
  first->die("its session has ended", {last - 2, last});
  world.loop.run_for(10);
  CHECK(one->said == Said{R"({"content":[{"type":"text","text":"done"}]})"});
  CHECK(two->said == one->said);
  REQUIRE(seen->said.size() == 1);
  CHECK(seen->said[0].starts_with("lost: "));
  CHECK(world.servers.all.size() == 2);
}

TEST_CASE("a connection that is found dead is made anew within the same listing") {
  World world;
  CHECK(world.list(world.place({"a"})) == Said{"mcp__a__echo"});
  world.servers.all[0]->pings = false;
  world.loop.run_for(kMcpPingAfterMs);
  CHECK(world.list(world.place({"a"}), 20'000) == Said{"mcp__a__echo"});
  CHECK(world.servers.all.size() == 2);
}

TEST_CASE("a connection that nobody uses is closed in order") {
  McpLimits limits;
  World world(limits);
  CHECK(world.list(world.place({"a"}), 1) == Said{"mcp__a__echo"});
  world.loop.run_for(limits.idle_ms - 10);
  CHECK(!world.servers.all.back()->orderly);
  world.loop.run_for(20);
  CHECK(world.servers.all.back()->orderly);
}

TEST_CASE("a connection with a call in flight is not idle") {
  McpLimits limits;
  limits.idle_ms = 1'000;
  World world(limits);
  world.servers.add()->calls = false;
  const auto heard = world.call("mcp__a__echo");
  world.loop.run_for(10'000);
  CHECK(!world.servers.all.back()->orderly);
  CHECK(heard->said.empty());
}

TEST_CASE("another configuration is another connection") {
  World world;
  CHECK(world.list(world.place({"a", "b"}), 1).size() == 2);
  McpPool::Place place = world.place({"a"});
  place.servers[0].tool_timeout_ms = 5;
  CHECK(world.list(place, 1) == Said{"mcp__a__echo"});
  CHECK(world.servers.all.size() == 3);
  CHECK(world.servers.all[0]->orderly);
  CHECK(world.servers.all[1]->orderly);  // b is no longer configured
}

TEST_CASE("connections have a limit, and the one unused for longest makes room") {
  McpLimits limits;
  limits.connections_max = 2;
  World world(limits);
  CHECK(world.list(world.place({"a"}, "one"), 10).size() == 1);
  CHECK(world.list(world.place({"a"}, "two"), 10).size() == 1);
  CHECK(world.list(world.place({"a"}, "three"), 10) == Said{"mcp__a__echo"});
  CHECK(world.servers.all[0]->orderly);
  CHECK(!world.servers.all[1]->orderly);
}

TEST_CASE("closing closes everything and connects to nothing any more") {
  World world;
  CHECK(world.list(world.place({"a", "b"}), 1).size() == 2);
  bool closed = false;
  world.pool.close([&] { closed = true; });
  world.loop.run_for(1);
  CHECK(closed);
  CHECK(world.servers.all[0]->orderly);
  CHECK(world.servers.all[1]->orderly);
  CHECK(world.list(world.place({"a"}), 1) == Said{"!a: the runtime is stopping"});
}

TEST_CASE("names of tools fit every provider and never meet") {
  CHECK(mcp_tool_name(mcp_server_part("files"), "read-file_2") == "mcp__files__read-file_2");
  for (const char* const odd : {"a.b", "a__b", "a_", "", "a name that is much too long for this"}) {
    const std::string part = mcp_server_part(odd);
    CAPTURE(part);
    CHECK(part.size() <= kMcpServerPartBytesMax);
    CHECK(part.find("__") == std::string::npos);
    CHECK(server_part_of(mcp_tool_name(part, "x")) == part);
  }
  CHECK(mcp_server_part("a.b") != mcp_server_part("a:b"));
  const std::string part = mcp_server_part("files");
  const std::string long_name(80, 'x');
  CHECK(mcp_tool_name(part, long_name).size() == kProviderNameBytesMax);
  CHECK(mcp_tool_name(part, long_name) != mcp_tool_name(part, long_name + "y"));
  CHECK(mcp_tool_name(part, "ä").starts_with("mcp__files___"));
  CHECK(!server_part_of("shell"));
  CHECK(!server_part_of("mcp__x"));
}
