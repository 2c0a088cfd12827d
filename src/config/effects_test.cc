// config/effects_test.cc: what a person is shown about a workspace file before it is trusted.
#include <doctest/doctest.h>

#include "config/effects.h"
#include "policy/rules.h"

namespace agentrt::config {
namespace {

Effects of_toml(const std::string& text, const std::vector<std::string>& asked = {}) {
  const auto layer = read_config_text(text, "/w/.agentrt/config.toml");
  REQUIRE(layer);
  return effects_of(*layer, asked);
}

TEST_CASE("every command, server, model and rule of a configuration file is a line") {
  CHECK(of_toml(R"toml(
[permissions]
allow = ["shell(make:*)"]
mode = "bypass"
[sandbox]
mode = "full_access"
network = true
[hooks]
pre_tool_use = [{ command = "./check.sh", matcher = "shell" }]
[mcp_servers.box]
command = ["npx", "-y", "box"]
env = { TOKEN = "x" }
network = true
[mcp_servers.far]
url = "https://far.example/mcp"
bearer_token_env = "FAR_TOKEN"
[models.main]
provider = "openai_chat"
model = "m1"
base_url = "https://models.example/v1"
api_key_env = "KEY"
)toml",
                {"permissions.mode", "sandbox.mode", "sandbox.network"}) ==
        Effects{"runs at pre_tool_use for shell: ./check.sh",
                "starts the MCP server box: npx -y box, with TOKEN set, with network",
                "connects to the MCP server far: https://far.example/mcp, with the token in "
                "FAR_TOKEN",
                "adds the model main: sends conversations to https://models.example/v1 "
                "(openai_chat m1), with the key in KEY",
                "allows shell(make:*)", "sets the permission mode bypass",
                "sets the sandbox profile full_access", "gives commands the network"});
}

TEST_CASE("the servers of .mcp.json are lines, also those that cannot be used") {
  const Effects effects =
      effects_of(read_mcp_json(R"({"mcpServers":{"a":{"command":"npx","args":["a"]},"b":{}}})"));
  REQUIRE(effects.size() == 2);
  CHECK(effects[0] == "starts the MCP server a: npx a");
  CHECK(effects[1].starts_with("cannot use b: "));
}

TEST_CASE("the list and its lines are bounded, and the last line says how many more there are") {
  std::string rules = "[permissions]\nallow = [";
  for (int i = 0; i < 100; ++i) rules += "\"shell(x" + std::to_string(i) + ")\",";
  const Effects many = of_toml(rules + "]\n");
  REQUIRE(many.size() == schema::kEffectsMax);
  CHECK(many.back() == "… and 61 more; read the file");
  const Effects wide =
      of_toml("[permissions]\nallow = [\"shell(" + std::string(900, 'x') + ")\"]\n");
  CHECK(wide.front().size() <= schema::kEffectBytesMax + std::string("…").size());
}

}  // namespace
}  // namespace agentrt::config
