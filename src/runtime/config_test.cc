// runtime/config_test.cc: configuration files, and which of them wins.
#include "runtime/config.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace agentrt::runtime {
namespace {

namespace fs = std::filesystem;
using schema::PermissionMode;
using schema::SandboxMode;

// Three files in a folder of their own; what is not written does not exist.
struct Files {
  Files() {
    std::string pattern = (fs::temp_directory_path() / "agentrt_config_XXXXXX").string();
    root = ::mkdtemp(pattern.data());
    fs::create_directories(root + "/work/.agentrt");
    sources.managed = root + "/managed.toml";
    sources.user = root + "/config.toml";
    sources.workspace = root + "/work";
  }
  ~Files() { fs::remove_all(root); }

  Files& managed(const std::string& text) { return write(sources.managed, text); }
  Files& user(const std::string& text) { return write(*sources.user, text); }
  Files& workspace(const std::string& text) { return write(workspace_file(), text); }
  std::string workspace_file() const { return root + "/work/.agentrt/config.toml"; }
  Result<Config> load() const { return load_config(sources); }
  std::string error() const {
    const auto loaded = load();
    REQUIRE(!loaded);
    CHECK(loaded.error().code == Code::invalid_params);
    return loaded.error().message;
  }

  std::string root;
  ConfigSources sources;

 private:
  Files& write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
    return *this;
  }
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const std::string kModel = "[models.main]\nprovider = \"script\"\nscript = \"demo.jsonl\"\n";

TEST_CASE("without any file the defaults hold") {
  const Files files;
  const auto config = files.load();
  REQUIRE(config);
  CHECK(config->models.empty());
  CHECK(config->limits == LimitConfig{50, 1000, 3});
  CHECK(config->resume == Resume::ask);
  CHECK(config->sandbox == SandboxConfig{SandboxMode::workspace_write, false});
  CHECK(config->files.size() == 3);
  CHECK(config->warnings.empty());
}

TEST_CASE("a script model is a candidate and its file is found beside the configuration") {
  Files files;
  files.user(kModel +
             "capabilities = [\"streaming\"]\ncontext_tokens = 1000\n"
             "cost_per_mtok = { input = 0.5, output = 2 }\n[routing]\ndefault = \"main\"\n");
  const auto config = files.load();
  REQUIRE(config);
  ModelConfig expected;
  expected.name = "main";
  expected.provider = "script";
  expected.model = "demo.jsonl";
  expected.capabilities = {"streaming"};
  expected.context_tokens = 1000;
  expected.cost_per_mtok = Price{500'000, 2'000'000};
  expected.script = files.root + "/demo.jsonl";
  CHECK(config->models.at("main") == expected);
  CHECK(config->routing.default_name == "main");
}

TEST_CASE("every section of the user's file is taken") {
  Files files;
  files.user(
      "[permissions]\nmode = \"plan\"\nallow = [\"a\"]\nask = [\"b\"]\ndeny = [\"c\"]\n"
      "[sandbox]\nmode = \"read_only\"\nnetwork = true\n"
      "[limits]\nturn_steps = 7\nqueue_turns_max = 8\nmodel_retries_max = 9\n"
      "[runtime]\nresume = \"auto\"\n");
  const auto config = files.load();
  REQUIRE(config);
  CHECK(config->permissions == PermissionConfig{PermissionMode::plan, {"a"}, {"b"}, {"c"}});
  CHECK(config->sandbox == SandboxConfig{SandboxMode::read_only, true});
  CHECK(config->limits == LimitConfig{7, 8, 9});
  CHECK(config->resume == Resume::auto_);
}

TEST_CASE("--config stands in place of the user's file and must exist") {
  Files files;
  files.user("[limits]\nturn_steps = 1\n");
  files.sources.named = files.root + "/other.toml";
  CHECK(contains(files.error(), "other.toml"));
  std::ofstream(*files.sources.named) << "[limits]\nturn_steps = 2\n";
  CHECK(files.load()->limits.turn_steps == 2);
}

TEST_CASE("what is wrong is named with file, line and key") {
  Files files;
  const std::string path = *files.sources.user;
  CHECK(contains(files.user("\n[limits]\nsteps = 1\n").error(), path + ":3: limits.steps"));
  CHECK(contains(files.user("[limitz]\n").error(), path + ":1: limitz"));
  CHECK(
      contains(files.user("[limits]\nturn_steps = \"x\"\n").error(), ":2: limits.turn_steps must"));
  CHECK(contains(files.user("[limits]\nturn_steps = -1\n").error(), "0 or more"));
  CHECK(contains(files.user("[permissions]\nmode = \"lax\"\n").error(), "\"bypass\""));
  CHECK(contains(files.user("[permissions]\ndeny = \"x\"\n").error(), "permissions.deny"));
  CHECK(contains(files.user("[permissions]\ndeny = [1]\n").error(), "permissions.deny"));
  CHECK(contains(files.user("models = 1\n").error(), "models must be a section"));
  CHECK(contains(files.user("[limits\n").error(), ":1: is not valid TOML"));
  CHECK(contains(files.user("[models.a]\nprovider = \"script\"\n").error(), "models.a.script"));
  CHECK(contains(files.user("[models.a]\nmodel = \"x\"\n").error(), "models.a.provider"));
  CHECK(contains(files.user(kModel + "speed = 1\n").error(), "models.main.speed"));
  CHECK(contains(files.user(kModel + "cost_per_mtok = {in = 1}\n").error(), "cost_per_mtok.in"));
  CHECK(contains(files.user("[routing]\nfallback = [\"gone\"]\n").error(), ":2: routing.fallback"));
}

TEST_CASE("a folder in place of the file and a file that is too large are refused") {
  Files files;
  fs::create_directory(*files.sources.user);
  CHECK(contains(files.error(), "is not a file"));
  fs::remove(*files.sources.user);
  CHECK(contains(files.user(std::string(kConfigBytesMax + 1, '#')).error(), "too large"));
}

TEST_CASE("what this version cannot honour is refused, not ignored") {
  Files files;
  const std::string words = "is not supported by this version";
  CHECK(contains(files.user("[hooks]\nstop = []\n").error(), "hooks " + words));
  CHECK(
      contains(files.user("[mcp_servers.x]\ncommand = [\"y\"]\n").error(), "mcp_servers " + words));
  CHECK(contains(files.user("[limits]\nsession_cost = 5.0\n").error(), "session_cost " + words));
  const std::string provider =
      files.user("[models.a]\nprovider = \"anthropic\"\nmodel = \"m\"\n").error();
  CHECK(contains(provider, "\"anthropic\" " + words));
}

TEST_CASE("rule lists of the layers are joined") {
  Files files;
  files.managed("[permissions]\ndeny = [\"a\"]\n");
  files.user("[permissions]\ndeny = [\"b\", \"a\"]\nallow = [\"x\"]\n");
  files.workspace("[permissions]\ndeny = [\"c\"]\nask = [\"d\"]\n");
  const auto config = files.load();
  REQUIRE(config);
  CHECK(config->permissions.deny == std::vector<std::string>{"a", "b", "c"});
  CHECK(config->permissions.ask == std::vector<std::string>{"d"});
  CHECK(config->permissions.allow == std::vector<std::string>{"x"});
  CHECK(config->warnings.empty());
}

TEST_CASE("the host policy can be tightened but not loosened") {
  Files files;
  files.managed(
      "[permissions]\nmode = \"default\"\n[sandbox]\nmode = \"workspace_write\"\n"
      "network = false\n[limits]\nturn_steps = 10\n[runtime]\nresume = \"ask\"\n" +
      kModel);
  CHECK(contains(files.user("[permissions]\nmode = \"bypass\"\n").error(), "managed.toml"));
  CHECK(contains(files.user("[sandbox]\nmode = \"full_access\"\n").error(), "sandbox.mode"));
  CHECK(contains(files.user("[sandbox]\nnetwork = true\n").error(), "sandbox.network"));
  CHECK(contains(files.user("[limits]\nturn_steps = 11\n").error(), "limits.turn_steps"));
  CHECK(contains(files.user("[runtime]\nresume = \"auto\"\n").error(), "runtime.resume"));
  CHECK(contains(files.user(kModel).error(), "models.main"));
  files.user("[permissions]\nmode = \"plan\"\n[limits]\nturn_steps = 5\n");
  const auto config = files.load();
  REQUIRE(config);
  CHECK(config->permissions.mode == PermissionMode::plan);
  CHECK(config->limits.turn_steps == 5);
  CHECK(config->managed_mode == PermissionMode::default_);
}

TEST_CASE("a workspace file tightens, and what it would loosen or add is named and ignored") {
  Files files;
  files.user("[permissions]\nmode = \"on_request\"\n");
  files.workspace(
      "[permissions]\nmode = \"plan\"\nallow = [\"x\"]\n[sandbox]\nnetwork = true\n"
      "[limits]\nturn_steps = 5\nqueue_turns_max = 5000\n[routing]\ndefault = \"evil\"\n"
      "[hooks]\n[models.evil]\nprovider = \"openai_chat\"\nmodel = \"m\"\n");
  const auto config = files.load();
  REQUIRE(config);
  CHECK(config->permissions.mode == PermissionMode::plan);
  CHECK(config->permissions.allow.empty());
  CHECK(config->models.empty());
  CHECK(config->routing.default_name == std::nullopt);
  CHECK(config->sandbox.network == false);
  CHECK(config->limits == LimitConfig{5, 1000, 3});
  const std::string file = files.workspace_file();
  const std::vector<std::string> expected = {
      file + ": ignored: hooks (workspace files cannot add hooks or servers until trusted)",
      file +
          ": ignored: models.evil, routing.default (workspace files cannot add models until "
          "trusted)",
      file + ": ignored: permissions.allow (workspace files cannot allow anything until trusted)",
      file +
          ": ignored: sandbox.network, limits.queue_turns_max (workspace files cannot loosen "
          "anything until trusted)"};
  CHECK(config->warnings == expected);
}

TEST_CASE("a broken workspace file stops the program like any other") {
  Files files;
  CHECK(contains(files.workspace("[permissions]\ndeni = []\n").error(), "permissions.deni"));
  CHECK(contains(files.workspace("[limits]\nsession_cost = 1\n").error(), "not supported"));
}

TEST_CASE("modes are compared by what they permit") {
  CHECK(at_most_as_lax(PermissionMode::plan, PermissionMode::default_));
  CHECK(at_most_as_lax(PermissionMode::untrusted, PermissionMode::default_));
  CHECK(at_most_as_lax(PermissionMode::never, PermissionMode::default_));
  CHECK(!at_most_as_lax(PermissionMode::plan, PermissionMode::untrusted));
  CHECK(!at_most_as_lax(PermissionMode::untrusted, PermissionMode::plan));
  CHECK(!at_most_as_lax(PermissionMode::bypass, PermissionMode::auto_));
  CHECK(at_most_as_lax(SandboxMode::read_only, SandboxMode::full_access));
  CHECK(!at_most_as_lax(SandboxMode::full_access, SandboxMode::read_only));
}

TEST_CASE("script:FILE names a model by the file's absolute path") {
  CHECK(resolve_model_name("script:a/b.jsonl", "/w") == "script:/w/a/b.jsonl");
  CHECK(resolve_model_name("script:/x.jsonl", "/w") == "script:/x.jsonl");
  CHECK(resolve_model_name("main", "/w") == "main");
  const auto model = script_model("script:/w/a/b.jsonl");
  REQUIRE(model);
  CHECK(model->provider == "script");
  CHECK(model->model == "b.jsonl");
  CHECK(model->script == "/w/a/b.jsonl");
  CHECK(!script_model("main"));
  CHECK(!script_model("script:relative"));
}

TEST_CASE("the user's file is below XDG_CONFIG_HOME, else below the home folder") {
  const auto with = [](std::string_view key) {
    return [key](std::string_view name) -> std::optional<std::string> {
      if (name == key) return "/r";
      return std::nullopt;
    };
  };
  CHECK(user_config_path(with("XDG_CONFIG_HOME")) == "/r/agentrt/config.toml");
  CHECK(user_config_path(with("HOME")) == "/r/.config/agentrt/config.toml");
  CHECK(user_config_path(with("OTHER")) == std::nullopt);
}

TEST_CASE("outputs and secrets are set by trusted files alone, within the host's bounds") {
  Files files;
  CHECK(files.load()->outputs == OutputConfig{});
  files.user(
      "[outputs]\nkeep_days = 3\nbytes_max = 1000\nupload_bytes_max = 10\n"
      "[redact]\nnames = [\"A\"]\n");
  CHECK(files.load()->outputs == OutputConfig{3, 1'000, 10});
  files.managed("[outputs]\nkeep_days = 5\n[redact]\nnames = [\"B\", \"A\"]\n");
  CHECK(files.load()->outputs.keep_days == 3);
  CHECK(files.load()->redact == std::vector<std::string>{"B", "A"});
  files.workspace("[outputs]\nkeep_days = 1\n[redact]\nnames = [\"HOME\"]\n");
  const auto config = files.load();
  REQUIRE(config);
  CHECK(config->outputs.keep_days == 3);
  CHECK(config->redact == std::vector<std::string>{"B", "A"});
  REQUIRE(config->warnings.size() == 1);
  CHECK(contains(config->warnings[0], "outputs.keep_days, redact.names"));
  files.user("[outputs]\nkeep_days = 6\n");
  CHECK(contains(files.error(), "outputs.keep_days goes beyond"));
  files.user("[redact]\nvalues = [\"x\"]\n");
  CHECK(contains(files.error(), "redact.values is not a known key"));
}

}  // namespace
}  // namespace agentrt::runtime
