// The MCP servers of a session, and how invalid configurations are reported.
#include "runtime/mcp_servers.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "base/digest.h"

using namespace agentrt;
using namespace agentrt::runtime;
namespace fs = std::filesystem;

namespace {

struct Home final : config::TrustRecords {
  Home() {
    std::string pattern = (fs::temp_directory_path() / "agentrt_mcp_XXXXXX").string();
    root = config::real_workspace(::mkdtemp(pattern.data()));
    fs::create_directories(root + "/work/sub");
    fs::create_directories(root + "/data");
    sources.managed = root + "/managed.toml";
    sources.user = root + "/config.toml";
    variables["HOME"] = root;
    variables["PATH"] = "/usr/bin:/bin";
  }
  ~Home() override { fs::remove_all(root); }

  void user(const std::string& text) const { std::ofstream(*sources.user) << text; }
  void managed(const std::string& text) const { std::ofstream(sources.managed) << text; }
  void workspace(const std::string& text, bool trusted) {
    const std::string path = root + "/work/.mcp.json";
    std::ofstream(path) << text;
    records.clear();
    if (trusted) records.push_back({path, "sha256:" + hex(bytes_of(sha256(text)))});
  }
  Result<std::vector<config::TrustRecord>> of(const std::string&) override { return records; }

  Result<std::vector<adapters::McpServer>> servers() {
    const config::Environment environment =
        [this](std::string_view name) -> std::optional<std::string> {
      const auto at = variables.find(std::string(name));
      if (at == variables.end()) return std::nullopt;
      return at->second;
    };
    return McpServers(sources, *this, root + "/data", environment).of(root + "/work");
  }
  adapters::McpServer only() {
    const auto all = servers();
    REQUIRE(all);
    REQUIRE(all->size() == 1);
    return all->front();
  }
  std::string error() {
    const auto all = servers();
    return all ? "" : all.error().message;
  }

  std::string root;
  config::ConfigSources sources;
  std::vector<config::TrustRecord> records;
  std::map<std::string, std::string> variables;
};

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the times of a server have defaults, and the older name of one is accepted") {
  Home home;
  home.user("[mcp_servers.files]\ncommand = [\"srv\"]\nstartup_timeout_ms = 7\nwait_ms = 0\n");
  CHECK(home.only().startup_ms == 7);
  CHECK(home.only().wait_ms == 0);
  home.user("[mcp_servers.files]\ncommand = [\"srv\"]\n");
  CHECK(home.only().startup_ms == adapters::kMcpStartupMs);
  CHECK(home.only().wait_ms == adapters::kMcpWaitMs);
}

TEST_CASE("a program is given its words, its environment and a sandbox") {
  Home home;
  home.variables["KEY"] = "k1";
  home.user(
      "[mcp_servers.files]\ncommand = [\"srv\", \"${ROOT:-/tmp}\"]\n"
      "env = { API = \"${KEY}\", PATH = \"/opt\" }\ncwd = \"sub\"\n"
      "startup_ms = 5\ntool_timeout_ms = 6\ntools = [\"a\"]\ndisabled_tools = [\"b\"]\n");
  const auto server = home.only();
  CHECK(server.name == "files");
  CHECK(!server.unusable);
  CHECK(server.startup_ms == 5);
  CHECK(server.tool_timeout_ms == 6);
  CHECK(server.tools == std::vector<std::string>{"a"});
  CHECK(server.disabled_tools == std::vector<std::string>{"b"});
  const auto& program = std::get<adapters::McpStdio>(server.way);
  CHECK(program.command == std::vector<std::string>{"srv", "/tmp"});
  CHECK(program.profile.mode == schema::SandboxMode::full_access);
  CHECK(program.profile.network == schema::CommandNetwork::host);
  CHECK(program.profile.cwd == home.root + "/work/sub");
  const auto& variables = program.profile.environment;
  CHECK(std::ranges::count(variables, "API=k1") == 1);
  CHECK(std::ranges::count(variables, "PATH=/opt") == 1);
  CHECK(std::ranges::count(variables, "PATH=/usr/bin:/bin") == 0);
  CHECK(std::ranges::count(program.profile.hidden_paths, home.root + "/data") == 1);
}

TEST_CASE("a server behind a URL is given headers and a token") {
  Home home;
  home.variables["TOKEN"] = "t0p";
  home.variables["TEAM"] = "red";
  home.user(
      "[mcp_servers.web]\nurl = \"https://example.com/mcp?x=1\"\n"
      "headers = { X-Team = \"${TEAM}\" }\nbearer_token_env = \"TOKEN\"\n");
  const auto server = home.only();
  const auto& http = std::get<adapters::McpHttp>(server.way);
  CHECK(http.url == "https://example.com/mcp?x=1");
  CHECK(http.headers == std::vector<std::string>{"X-Team: red", "Authorization: Bearer t0p"});
  CHECK(http.kind == adapters::McpHttpKind::streamable);
  home.variables["TEAM"] = "red\r\nEvil: 1";
  CHECK(home.only().unusable == "its header X-Team contains a control character");
  home.variables.erase("TEAM");
  CHECK(home.only().unusable == "it uses the environment variable TEAM, which is not set");
  home.variables["TEAM"] = "red";
  home.variables.erase("TOKEN");
  CHECK(home.only().unusable == "the environment variable TOKEN does not contain a token");
  for (const char* const url : {"ftp://x", "https://", "https://me@x/", "https://x/ y"}) {
    home.user(std::string("[mcp_servers.web]\nurl = \"") + url + "\"\n");
    CHECK(has(home.only().unusable.value_or(""), "its url must look like"));
  }
  home.user("[mcp_servers.web]\nurl = \"https://x/sse\"\ntype = \"sse\"\n");
  const auto older = home.only();
  CHECK(std::get<adapters::McpHttp>(older.way).kind == adapters::McpHttpKind::older);
  home.user("[mcp_servers.web]\nurl = \"https://x/sse\"\ntype = \"stdio\"\n");
  CHECK(has(home.error(), "mcp_servers.web has the wrong type"));
}

TEST_CASE("a sandbox of its own, and what the host policy allows") {
  Home home;
  home.user("[mcp_servers.a]\ncommand = [\"x\"]\nsandbox = \"read_only\"\nnetwork = false\n");
  const auto narrow = std::get<adapters::McpStdio>(home.only().way).profile;
  CHECK(narrow.mode == schema::SandboxMode::read_only);
  CHECK(narrow.network == schema::CommandNetwork::none);
  home.managed("[sandbox]\nmode = \"workspace_write\"\nnetwork = false\n");
  home.user("[mcp_servers.a]\ncommand = [\"x\"]\n");
  const auto bounded = std::get<adapters::McpStdio>(home.only().way).profile;
  CHECK(bounded.mode == schema::SandboxMode::workspace_write);
  CHECK(bounded.network == schema::CommandNetwork::none);
  home.user("[mcp_servers.a]\ncommand = [\"x\"]\nsandbox = \"full_access\"\n");
  CHECK(has(home.only().unusable.value_or(""), "The managed configuration allows at most"));
  home.user("[mcp_servers.a]\ncommand = [\"x\"]\nnetwork = true\n");
  CHECK(home.only().unusable == "the managed configuration does not allow network access");
}

TEST_CASE("the servers of .mcp.json count once a person trusts the file") {
  Home home;
  home.user("[mcp_servers.mine]\ncommand = [\"x\"]\n");
  const std::string text = R"({"mcpServers":{"mine":{"command":"evil"},)"
                           R"("theirs":{"command":"npx","args":["-y","srv"],"env":{"A":"1"}},)"
                           R"("web":{"type":"http","url":"http://127.0.0.1:1/mcp"},)"
                           R"("old":{"type":"sse","url":"http://127.0.0.1:1/sse"},)"
                           R"("unfit":{"type":"sse","command":"x"},)"
                           R"("unfit2":{"type":"stdio","url":"http://127.0.0.1:1/"},)"
                           R"("strange":{"type":"ws","url":"http://127.0.0.1:1/"},)"
                           R"("none":{},"odd":{"command":7},"bare":{"args":["x"]},)"
                           R"("mixed":{"url":"http://h/","args":["x"]},"empty":{"command":""}}})";
  home.workspace(text, true);
  const auto all = home.servers();
  REQUIRE(all);
  std::map<std::string, adapters::McpServer> by_name;
  for (const auto& each : *all) by_name[each.name] = each;
  CHECK(std::get<adapters::McpStdio>(by_name["mine"].way).command.front() == "x");
  CHECK(std::get<adapters::McpStdio>(by_name["theirs"].way).command ==
        std::vector<std::string>{"npx", "-y", "srv"});
  CHECK(std::get<adapters::McpHttp>(by_name["web"].way).url == "http://127.0.0.1:1/mcp");
  CHECK(std::get<adapters::McpHttp>(by_name["web"].way).kind == adapters::McpHttpKind::streamable);
  CHECK(std::get<adapters::McpHttp>(by_name["old"].way).kind == adapters::McpHttpKind::older);
  for (const char* const name : {"unfit", "unfit2"})
    CHECK(has(by_name[name].unusable.value_or(""), "has the wrong type"));
  CHECK(has(by_name["strange"].unusable.value_or(""), "other than stdio, http and sse"));
  CHECK(has(by_name["none"].unusable.value_or(""), "must have either a command or a url"));
  for (const char* const name : {"bare", "mixed"})
    CHECK(has(by_name[name].unusable.value_or(""), "args but no command; give it a command"));
  CHECK(has(by_name["empty"].unusable.value_or(""), "has an empty command"));
  CHECK(has(by_name["odd"].unusable.value_or(""), "command"));
}

TEST_CASE("servers of a workspace file that nobody trusts are named with the reason") {
  Home home;
  home.user("[mcp_servers.mine]\ncommand = [\"x\"]\n");
  const std::string text =
      R"({"mcpServers":{"mine":{"command":"evil"},"odd":{},"theirs":{"command":"evil"}}})";
  const auto reasons = [&] {
    std::map<std::string, std::string> out;
    const auto all = home.servers();
    REQUIRE(all);
    CHECK(all->front().name == "mine");
    for (const auto& each : *all) {
      CHECK(out.emplace(each.name, each.unusable.value_or("")).second);
      if (each.name != "mine") CHECK(each.way == adapters::McpServer{}.way);
    }
    return out;
  };
  home.workspace(text, false);
  const std::string untrusted = ".mcp.json is not trusted; trust it with `agentrt trust`";
  CHECK(reasons() == std::map<std::string, std::string>{
                         {"mine", ""}, {"odd", untrusted}, {"theirs", untrusted}});
  home.records = {{home.root + "/work/.mcp.json", "sha256:of-other-bytes"}};
  CHECK(has(reasons()["theirs"],
            ".mcp.json has changed since it was trusted; trust it with `agentrt trust`"));
  home.workspace(R"({"mcpServers":)", false);
  CHECK(reasons()[".mcp.json"] == untrusted);
  home.workspace(R"({"mcpServers":{}})", false);
  CHECK(reasons().size() == 1);
  fs::create_directories(home.root + "/work/.agentrt");
  std::ofstream(home.root + "/work/.agentrt/config.toml")
      << "[mcp_servers.theirs]\ncommand = [\"evil\"]\n"
      << "[mcp_servers.off]\ncommand = [\"evil\"]\nenabled = false\n";
  CHECK(has(reasons()["theirs"], ".agentrt/config.toml is not trusted"));
  CHECK(!reasons().contains("off"));
}

TEST_CASE("of a file that nobody trusts only so many servers are named") {
  Home home;
  std::string entries;
  for (std::size_t i = 0; i < config::kMcpServersMax + 2; ++i)
    entries += fmt::format(R"({}"s{}{}":{{}})", i == 0 ? "" : ",", 100 + i, std::string(100, 'n'));
  home.workspace(R"({"mcpServers":{)" + entries + "}}", false);
  const auto all = home.servers();
  REQUIRE(all);
  CHECK(all->size() == config::kMcpServersMax + 1);
  CHECK(all->front().unusable == "it has 2 more servers");
  CHECK(all->back().name.size() == config::kMcpServerNameBytesMax);
}

TEST_CASE("a mistake in .mcp.json leaves a server of the same name alone") {
  Home home;
  home.user("[mcp_servers.mine]\ncommand = [\"x\"]\n");
  home.workspace(R"({"mcpServers":{"mine":{}}})", true);
  CHECK(!home.only().unusable);
}

TEST_CASE("that there are no servers is remembered only until a file changes") {
  Home home;
  McpServers servers(home.sources, home, home.root + "/data", config::process_environment());
  const auto count = [&] { return servers.of(home.root + "/work")->size(); };
  CHECK(count() == 0);
  CHECK(count() == 0);
  home.user("[mcp_servers.a]\ncommand = [\"x\"]\n");
  CHECK(count() == 1);
  home.user("");
  CHECK(count() == 0);
  home.workspace(R"({"mcpServers":{"b":{"command":"x"}}})", false);
  CHECK(count() == 1);
  home.workspace(R"({"mcpServers":{"b":{"command":"x"}}})", true);
  CHECK(count() == 1);
  home.managed("[mcp_servers.c]\ncommand = [\"x\"]\n");
  CHECK(count() == 2);
}

TEST_CASE("a broken .mcp.json says so and leaves the others alone") {
  Home home;
  home.user("[mcp_servers.mine]\ncommand = [\"x\"]\n");
  for (const char* const text : {"{", "[]", R"({"servers":{}})"}) {
    home.workspace(text, true);
    const auto all = home.servers();
    REQUIRE(all);
    REQUIRE(all->size() == 2);
    CHECK(all->back().name == ".mcp.json");
    CHECK(all->back().unusable);
    CHECK(!all->front().unusable);
  }
}

TEST_CASE("a broken configuration file is an error that names the place") {
  Home home;
  const auto told = [&](const std::string& text) {
    home.user("[mcp_servers.a]\n" + text);
    return home.error();
  };
  CHECK(has(told("command = \"x\"\n"), ":2: mcp_servers.a.command must be a list of strings"));
  CHECK(has(told(""), "mcp_servers.a must have either a command or a url"));
  CHECK(has(told("command = [\"x\"]\nurl = \"https://x/\"\n"), "either a command or a url"));
  CHECK(has(told("url = \"https://x/\"\ncwd = \"/\"\n"), "env, cwd, sandbox and network"));
  CHECK(has(told("command = [\"x\"]\nheaders = { A = \"b\" }\n"), "headers and bearer_token_env"));
  CHECK(has(told("command = [\"x\"]\nenv = { \"A-B\" = \"b\" }\n"),
            "an env with an invalid variable name"));
  CHECK(has(told("command = [\"x\"]\ntool_timeout_ms = 0\n"), "tool_timeout_ms"));
  CHECK(has(told("command = [\"x\"]\nspeed = 1\n"), "mcp_servers.a.speed is not a known key"));
  CHECK(told("command = [\"x\"]\nenabled = false\n").empty());
  CHECK(home.servers()->empty());
}

TEST_CASE("a server of the host policy cannot be replaced") {
  Home home;
  home.managed("[mcp_servers.a]\ncommand = [\"x\"]\n");
  home.user("[mcp_servers.a]\ncommand = [\"y\"]\n");
  CHECK(has(home.error(), "mcp_servers.a allows more than"));
}

TEST_CASE("servers have a limit, and those beyond it say so") {
  Home home;
  std::string text;
  for (std::size_t i = 0; i <= config::kMcpServersMax; ++i)
    text += "[mcp_servers.s" + std::to_string(100 + i) + "]\ncommand = [\"x\"]\n";
  home.user(text);
  const auto all = home.servers();
  REQUIRE(all);
  CHECK(all->back().unusable == "there are more than 32 MCP servers");
}

TEST_CASE("variables in texts are replaced, with a default or without") {
  const config::Environment environment = [](std::string_view name) -> std::optional<std::string> {
    if (name == "A") return "1";
    if (name == "E") return "";
    return std::nullopt;
  };
  CHECK(*config::expanded("x${A}y${A}", environment) == "x1y1");
  CHECK(*config::expanded("${B:-2}${E:-3}${E}", environment) == "23");
  CHECK(*config::expanded("$A ${A", environment) == "$A ${A");
  CHECK(config::expanded("${B}", environment).error().message ==
        "it uses the environment variable B, which is not set");
  config::McpServerConfig server;
  server.headers["X"] = "Key ${A}";
  server.bearer_token_env = "T";
  CHECK(config::secret_names_of({{"s", server}}) == std::vector<std::string>{"T", "A"});
  server.url = "https://example.com/mcp";
  CHECK(unready(server, environment) == "the environment variable T does not contain a token");
  server.bearer_token_env = "A";
  CHECK(!unready(server, environment));
}
