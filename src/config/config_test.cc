// config/config_test.cc: configuration files, and their precedence.
#include "config/config.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace agentrt::config {
namespace {

namespace fs = std::filesystem;
using schema::HookPoint;
using schema::OnFailure;
using schema::PermissionMode;
using schema::RuleEffect;
using schema::RuleOrigin;
using schema::SandboxMode;

// A temporary folder for three files; they do not exist until written.
struct Files {
  Files() {
    std::string pattern = (fs::temp_directory_path() / "agentrt_config_XXXXXX").string();
    root = ::mkdtemp(pattern.data());
    fs::create_directories(root + "/work/.agentrt");
    fs::create_directories(root + "/work/.claude");
    sources.managed = root + "/managed.toml";
    sources.user = root + "/config.toml";
    sources.claude = root + "/settings.json";
    sources.workspace = root + "/work";
  }
  ~Files() { fs::remove_all(root); }

  Files& managed(const std::string& text) { return write(sources.managed, text); }
  Files& user(const std::string& text) { return write(*sources.user, text); }
  Files& workspace(const std::string& text) { return write(workspace_file(), text); }
  std::string workspace_file() const { return root + "/work/.agentrt/config.toml"; }
  Files& claude(const std::string& text) { return write(*sources.claude, text); }
  Files& workspace_claude(const std::string& text) {
    return write(root + "/work/.claude/settings.json", text);
  }
  // Trusts the files with their current content.
  void trust_all() {
    sources.trusted.clear();
    const auto config = load_config(sources);
    REQUIRE(config);
    for (const schema::PolicyFile& file : config->policy_files)
      sources.trusted.push_back({file.path, file.digest});
  }
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
  CHECK(config->limits ==
        LimitConfig{50, 1000, 100'000, 256, 32, 3, 30'000, 10 << 20, 5, 16, 64, 2, 8});
  CHECK(config->resume == Resume::ask);
  CHECK(config->sandbox == SandboxConfig{SandboxMode::workspace_write, false, false});
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
      "[permissions]\nmode = \"plan\"\nallow = [\"shell(a)\"]\nask = [\"shell(b)\"]\ndeny = "
      "[\"shell(c)\"]\n"
      "[sandbox]\nmode = \"read_only\"\nnetwork = true\nreport_writes = true\n"
      "[limits]\nturn_steps = 7\nqueue_turns_max = 8\nmodel_retries_max = 9\n"
      "tasks_max = 4\ntask_edges_max = 5\ntask_depth_max = 6\n"
      "web_fetch_ms = 10\nweb_fetch_bytes = 11\nweb_fetch_redirects = 12\n"
      "jobs_running = 2\njob_concurrency = 5\n"
      "[runtime]\nresume = \"auto\"\n");
  const auto config = files.load();
  REQUIRE(config);
  CHECK(config->permissions == PermissionConfig{PermissionMode::plan,
                                                {{RuleEffect::allow, "shell(a)", RuleOrigin::user},
                                                 {RuleEffect::ask, "shell(b)", RuleOrigin::user},
                                                 {RuleEffect::deny, "shell(c)", RuleOrigin::user}},
                                                RuleOrigin::user});
  CHECK(config->sandbox == SandboxConfig{SandboxMode::read_only, true, true});
  CHECK(config->limits == LimitConfig{7, 8, 4, 5, 6, 9, 10, 11, 12, 2, 5, 2, 8});
  CHECK(config->resume == Resume::auto_);
}

TEST_CASE("--config replaces the user's file and must exist") {
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
  CHECK(
      files.user("[permissions]\nask = [\"shell((\"]\n").error() ==
      *files.sources.user +
          ":2: permissions.ask: The ask rule shell(( is not valid: the parenthesis is not closed.");
  CHECK(contains(files.user("models = 1\n").error(), "models must be a section"));
  CHECK(contains(files.user("[limits\n").error(), ":1: is not valid TOML"));
  CHECK(contains(files.user("[models.a]\nprovider = \"script\"\n").error(), "models.a.script"));
  CHECK(contains(files.user("[models.a]\nmodel = \"x\"\n").error(), "models.a.provider"));
  CHECK(contains(files.user(kModel + "speed = 1\n").error(), "models.main.speed"));
  CHECK(contains(files.user(kModel + "cost_per_mtok = {in = 1}\n").error(), "cost_per_mtok.in"));
  CHECK(contains(files.user("[routing]\nfallback = [\"gone\"]\n").error(), ":2: routing.fallback"));
  CHECK(contains(files.user("[context]\ncompact_model = \"gone\"\n").error(),
                 ":2: context.compact_model"));
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
  CHECK(contains(files.user("[limits]\nsession_cost = 5.0\n").error(), "session_cost " + words));
  CHECK(contains(files.user("[models.a]\nprovider = \"bedrock\"\nmodel = \"m\"\n").error(),
                 "\"bedrock\" is not a provider"));
}

TEST_CASE("rules of the layers are joined, and each keeps where it comes from") {
  Files files;
  files.managed("[permissions]\ndeny = [\"shell(a)\"]\n");
  files.user("[permissions]\ndeny = [\"shell(b)\", \"shell(a)\"]\nallow = [\"shell(x)\"]\n");
  files.workspace("[permissions]\ndeny = [\"shell(c)\"]\nask = [\"shell(d)\"]\n");
  const auto config = files.load();
  REQUIRE(config);
  CHECK(config->permissions.rules ==
        std::vector<schema::PolicyRule>{{RuleEffect::deny, "shell(a)", RuleOrigin::managed},
                                        {RuleEffect::allow, "shell(x)", RuleOrigin::user},
                                        {RuleEffect::deny, "shell(b)", RuleOrigin::user},
                                        {RuleEffect::ask, "shell(d)", RuleOrigin::workspace},
                                        {RuleEffect::deny, "shell(c)", RuleOrigin::workspace}});
  CHECK(config->warnings.empty());
  CHECK(config->ignored.empty());
  CHECK(config->policy_files.empty());
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

const std::string kLoosening =
    "[permissions]\nmode = \"plan\"\nallow = [\"shell(x)\"]\ndeny = [\"shell(y)\"]\n"
    "[sandbox]\nnetwork = true\n[limits]\nturn_steps = 5\nqueue_turns_max = 5000\n"
    "jobs_running = 3\njob_concurrency = 65\n"
    "[routing]\ndefault = \"evil\"\n[hooks]\nstop = [{ command = \"evil\" }]\n"
    "[models.evil]\nprovider = \"script\"\nscript = \"evil.jsonl\"\n";

TEST_CASE("a workspace file tightens, and what it would loosen or add is named and ignored") {
  Files files;
  files.user("[permissions]\nmode = \"on_request\"\n");
  files.workspace(kLoosening);
  const auto config = files.load();
  REQUIRE(config);
  CHECK(config->permissions.mode == PermissionMode::plan);
  CHECK(config->permissions.rules ==
        std::vector<schema::PolicyRule>{{RuleEffect::deny, "shell(y)", RuleOrigin::workspace}});
  CHECK(config->hooks.empty());
  CHECK(config->models.empty());
  CHECK(config->routing.default_name == std::nullopt);
  CHECK(config->sandbox.network == false);
  CHECK(config->limits == LimitConfig{.turn_steps = 5, .jobs_running = 3});
  CHECK(config->ignored ==
        std::vector<std::string>{
            files.workspace_file() +
            ": ignored: hooks, models.evil, routing.default, permissions.allow, sandbox.network, "
            "limits.queue_turns_max, limits.job_concurrency (the file is not trusted)"});
  REQUIRE(config->policy_files.size() == 1);
  CHECK(config->policy_files[0].path == files.workspace_file());
  CHECK_FALSE(config->policy_files[0].trusted);
  CHECK_FALSE(config->policy_files[0].changed);
}

TEST_CASE("folders for sessions are for the host and the user, and never for a workspace") {
  Files files;
  files.managed("[sandbox]\nroots = [\"/srv/all\"]\n");
  files.user("[sandbox]\nroots = [\"/srv/mine\", \"/srv/all\"]\n");
  files.workspace("[sandbox]\nroots = [\"/srv/evil\"]\n");
  for (const bool trusted : {false, true}) {
    if (trusted) files.trust_all();
    const auto config = files.load();
    REQUIRE(config);
    CHECK(config->sandbox.roots == std::vector<std::string>{"/srv/all", "/srv/mine"});
    CHECK(config->managed_roots == std::vector<std::string>{"/srv/all"});
    CHECK(config->warnings ==
          std::vector<std::string>{
              files.workspace_file() +
              ": ignored: sandbox.roots (only the user configuration file may set this)"});
  }
  files.user("[sandbox]\nroots = [\"relative\"]\n");
  CHECK(contains(files.error(), ":2: sandbox.roots contains \"relative\""));
}

TEST_CASE("folders and variables for commands are for the host and the user") {
  Files files;
  files.managed("[sandbox]\nwrite = [\"/srv/cache\"]\n[shell]\nenv = { A = \"host\" }\n");
  files.user(
      "[sandbox]\nwrite = [\"~/.cache/pip\"]\n[shell]\nenv = { A = \"mine\", B_2 = \"b\" }\n");
  files.workspace("[sandbox]\nwrite = [\"/srv/evil\"]\n[shell]\nenv = { C = \"evil\" }\n");
  for (const bool trusted : {false, true}) {
    if (trusted) files.trust_all();
    const auto config = files.load();
    REQUIRE(config);
    CHECK(config->sandbox.write == std::vector<std::string>{"/srv/cache", "~/.cache/pip"});
    CHECK(config->shell_env == std::map<std::string, std::string>{{"A", "host"}, {"B_2", "b"}});
    REQUIRE(config->warnings.size() == 1);
    CHECK(contains(config->warnings[0], "ignored: sandbox.write, shell.env"));
  }
  for (const char* folder : {"relative", "/", "~", "~/", "~other/x"}) {
    files.user(fmt::format("[sandbox]\nwrite = [\"{}\"]\n", folder));
    CHECK(contains(files.error(), fmt::format(":2: sandbox.write contains \"{}\"", folder)));
  }
  for (const char* variable : {"1X", "A-B", "BASH_ENV", "IFS", "HOME", "BASH_FUNC_ls%%"}) {
    files.user(fmt::format("[shell]\nenv = {{ \"{}\" = \"x\" }}\n", variable));
    CHECK(contains(files.error(), ":2: shell.env contains"));
  }
  files.user(
      fmt::format("[shell]\nenv = {{ A = \"{}\" }}\n", std::string(kShellValueBytesMax + 1, 'x')));
  CHECK(contains(files.error(), "shell.env A: the value must be text of at most 4096 bytes"));
  files.user("[shell]\nenv = { A = 7 }\n");
  CHECK(contains(files.error(), "shell.env"));
  files.user("[shell]\npath = \"x\"\n");
  CHECK(contains(files.error(), "shell.path is not a known key"));
}

TEST_CASE("everything in a workspace file counts once it is trusted as it is") {
  Files files;
  files.workspace(kLoosening);
  files.trust_all();
  const auto config = files.load();
  REQUIRE(config);
  CHECK(config->permissions.rules ==
        std::vector<schema::PolicyRule>{{RuleEffect::allow, "shell(x)", RuleOrigin::workspace},
                                        {RuleEffect::deny, "shell(y)", RuleOrigin::workspace}});
  REQUIRE(config->hooks.size() == 1);
  CHECK(config->hooks[0].origin == RuleOrigin::workspace);
  CHECK(config->models.contains("evil"));
  CHECK(config->sandbox.network == true);
  CHECK(config->limits ==
        LimitConfig{
            .turn_steps = 5, .queue_turns_max = 5000, .jobs_running = 3, .job_concurrency = 65});
  CHECK(config->ignored.empty());
  REQUIRE(config->policy_files.size() == 1);
  CHECK(config->policy_files[0].trusted);
}

TEST_CASE("a file that changed is not trusted any more, and says so") {
  Files files;
  files.workspace(kLoosening);
  files.trust_all();
  files.workspace(kLoosening + "# changed\n");
  const auto config = files.load();
  REQUIRE(config);
  CHECK(config->hooks.empty());
  CHECK(config->sandbox.network == false);
  REQUIRE(config->ignored.size() == 1);
  CHECK(contains(config->ignored[0], "(the file has changed since it was trusted)"));
  CHECK(config->policy_files[0].changed);
  CHECK_FALSE(config->policy_files[0].trusted);
}

TEST_CASE("trust does not reach beyond the host policy") {
  Files files;
  files.managed("[permissions]\nmode = \"default\"\n[sandbox]\nnetwork = false\n");
  files.workspace("[sandbox]\nnetwork = true\n");
  CHECK(files.load()->sandbox.network == false);
  files.trust_all();
  CHECK(contains(files.error(), ":2: sandbox.network allows more than"));
  files.workspace("[permissions]\nmode = \"bypass\"\n");
  files.trust_all();
  CHECK(contains(files.error(), "permissions.mode allows more than"));
}

TEST_CASE("hooks are read at every point, with what they leave out") {
  Files files;
  files.user(
      "[hooks]\npre_tool_use = [{ matcher = \"shell\", command = \"./check.sh\", "
      "timeout_ms = 7, on_failure = \"open\" }, { command = \"b\" }]\n"
      "session_start = [{ command = \"c\" }]\nuser_prompt_submit = [{ command = \"d\" }]\n"
      "permission_request = [{ command = \"e\" }]\npost_tool_use = [{ command = \"f\" }]\n"
      "post_tool_failure = [{ command = \"g\" }]\npost_sampling = [{ command = \"h\" }]\n"
      "[[hooks.stop]]\ncommand = \"i\"\n");
  const auto config = files.load();
  REQUIRE(config);
  REQUIRE(config->hooks.size() == 9);
  schema::HookSpec expected;
  expected.matcher = "shell";
  expected.command = "./check.sh";
  expected.timeout_ms = 7;
  expected.on_failure = OnFailure::open;
  const auto first = std::ranges::find(config->hooks, "./check.sh", &schema::HookSpec::command);
  REQUIRE(first != config->hooks.end());
  CHECK(*first == expected);
  const auto second = std::ranges::find(config->hooks, "b", &schema::HookSpec::command);
  CHECK(second->timeout_ms == 5'000);
  CHECK(second->on_failure == OnFailure::closed);
  CHECK(second->origin == RuleOrigin::user);
}

TEST_CASE("a hook that is wrong is named with file, line and key") {
  Files files;
  const auto error = [&](const std::string& text) {
    return files.user("[hooks]\n" + text).error();
  };
  CHECK(contains(error("pre_tool = []\n"), ":2: hooks.pre_tool is not a hook point"));
  CHECK(contains(error("stop = \"x\"\n"), ":2: hooks.stop must be a list"));
  CHECK(contains(error("stop = [\"x\"]\n"), "hooks.stop must be a list"));
  CHECK(contains(error("stop = [{}]\n"), "hooks.stop.command is missing"));
  CHECK(contains(error("stop = [{ command = \"a\", matcher = \"b\" }]\n"), "concerns no tool"));
  CHECK(contains(error("pre_tool_use = [{ command = \"a\", matcher = \"(\" }]\n"), "matcher must"));
  CHECK(
      contains(error("stop = [{ command = \"a\", timeout_ms = 0 }]\n"), "must be from 1 to 60000"));
  CHECK(contains(error("stop = [{ command = \"a\", timeout_ms = 60001 }]\n"), "timeout_ms"));
  CHECK(contains(error("stop = [{ command = \"a\", on_failure = \"x\" }]\n"), "on_failure must"));
  CHECK(contains(error("stop = [{ command = \"a\", when = 1 }]\n"), "hooks.stop.when"));
  CHECK(
      contains(error("stop = [{ command = \"" + std::string(5'000, 'x') + "\" }]\n"), "too long"));
}

TEST_CASE("rules and hooks beyond their limits are refused") {
  Files files;
  std::string rules;
  for (std::size_t i = 0; i <= schema::kPolicyRulesMax; ++i)
    rules += "\"shell(r" + std::to_string(i) + ")\",";
  CHECK(contains(files.user("[permissions]\ndeny = [" + rules + "]\n").error(), "1001 rules"));
  std::string hooks;
  for (std::size_t i = 0; i <= schema::kHooksMax; ++i) hooks += "{ command = \"a\" },";
  CHECK(contains(files.user("[hooks]\nstop = [" + hooks + "]\n").error(), "33 hooks"));
  CHECK(contains(
      files.user("[permissions]\ndeny = [\"shell(" + std::string(60'000, 'x') + ")\"]\n").error(),
      "60007 bytes of rules and hooks"));
}

TEST_CASE("hook files of Claude Code count for the user, and for a workspace once trusted") {
  Files files;
  const std::string text =
      R"({"hooks":{"Stop":[{"hooks":[{"type":"command","command":"a"}]}],"Notification":[{}]}})";
  files.claude(text);
  files.workspace_claude(text);
  const auto before = files.load();
  REQUIRE(before);
  REQUIRE(before->hooks.size() == 1);
  CHECK(before->hooks[0].origin == RuleOrigin::user);
  CHECK(before->hooks[0].dialect == schema::HookDialect::claude);
  REQUIRE(before->hook_files.size() == 2);
  CHECK(before->hook_files[0].unmapped ==
        std::vector<std::string>{"Notification has no equivalent and is ignored"});
  CHECK_FALSE(before->hook_files[1].counts);
  REQUIRE(before->ignored.size() == 1);
  CHECK(contains(before->ignored[0], ".claude/settings.json: ignored: hooks (the file"));
  files.trust_all();
  const auto after = files.load();
  REQUIRE(after);
  REQUIRE(after->hooks.size() == 2);
  CHECK(after->hooks[1].origin == RuleOrigin::workspace);
  CHECK(after->ignored.empty());
  files.sources.named = files.root + "/other.toml";
  std::ofstream(*files.sources.named) << "";
  CHECK(files.load()->hooks.size() == 1);  // --config replaces all files of the user
}

TEST_CASE("the servers of a workspace need trust") {
  Files files;
  std::ofstream(files.root + "/work/.mcp.json") << "{}";
  const auto config = files.load();
  REQUIRE(config);
  REQUIRE(config->policy_files.size() == 1);
  CHECK(contains(config->ignored[0], ".mcp.json: ignored: its MCP servers"));
}

TEST_CASE("a broken workspace file stops the program like any other") {
  Files files;
  CHECK(contains(files.workspace("[permissions]\ndeni = []\n").error(), "permissions.deni"));
  CHECK(contains(files.workspace("[limits]\nsession_cost = 1\n").error(), "not supported"));
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
  CHECK(contains(files.error(), "outputs.keep_days allows more than"));
  files.user("[redact]\nvalues = [\"x\"]\n");
  CHECK(contains(files.error(), "redact.values is not a known key"));
}

TEST_CASE("the user says how a conversation calls for attention, and a workspace does not") {
  Files files;
  CHECK(files.load()->notify == Notify::bell);
  files.user("[terminal]\nnotify = \"osc9\"\n");
  CHECK(files.load()->notify == Notify::osc9);
  files.workspace("[terminal]\nnotify = \"off\"\n");
  CHECK(files.load()->notify == Notify::osc9);
  CHECK(contains(files.load()->warnings.at(0), "terminal.notify"));
  files.user("[terminal]\nnotify = \"drum\"\n");
  CHECK(contains(files.error(), "terminal.notify"));
}

TEST_CASE("how to log in to an MCP server") {
  Files files;
  files.user(
      "[mcp]\nclient_metadata_url = \"https://example.org/agentrt.json\"\n"
      "[mcp_servers.a]\nurl = \"https://a.example/mcp\"\n[mcp_servers.a.oauth]\n"
      "grant = \"client_credentials\"\nclient_id = \"ci\"\nclient_secret_env = \"S\"\n"
      "scopes = [\"x\"]\nredirect_port = 4000\n");
  const auto config = files.load();
  REQUIRE(config);
  const auto& oauth = config->mcp_servers.at("a").oauth;
  REQUIRE(oauth);
  CHECK(oauth->grant == OauthGrant::client_credentials);
  CHECK(oauth->enabled);
  CHECK(oauth->redirect_port == 4000);
  CHECK(config->mcp.client_metadata_url == "https://example.org/agentrt.json");
  files.workspace("[mcp]\nclient_metadata_url = \"https://evil.example/x\"\n");
  CHECK(files.load()->mcp.client_metadata_url == "https://example.org/agentrt.json");
}

TEST_CASE("logins that cannot work are errors") {
  const auto error = [](const std::string& oauth) {
    Files files;
    files.user("[mcp_servers.a]\nurl = \"https://a.example/mcp\"\n[mcp_servers.a.oauth]\n" + oauth);
    return files.error();
  };
  CHECK(contains(error("grant = \"client_credentials\"\n"), "needs client_id"));
  CHECK(contains(error("client_secret_env = \"S\"\n"), "no client_id"));
  CHECK(contains(error("client_id = \"c\"\nclient_secret_env = \"S\"\nprivate_key_file = \"k\"\n"),
                 "remove one"));
  CHECK(contains(error("signing_algorithm = \"HS256\"\n"), "ES256 and RS256"));
  CHECK(contains(error("signing_algorithm = \"RS256\"\n"), "no private_key_file"));
  CHECK(contains(error("redirect_port = 70000\n"), "not a port"));
  CHECK(contains(error("client_secret = \"plain\"\n"), "is not a known key"));
  Files files;
  files.user("[mcp]\nclient_metadata_url = \"http://example.org/x\"\n");
  CHECK(contains(files.error(), "must be an https URL"));
  files.user("[mcp_servers.a]\ncommand = [\"x\"]\n[mcp_servers.a.oauth]\nclient_id = \"c\"\n");
  CHECK(contains(files.error(), "oauth has no effect"));
}

}  // namespace
}  // namespace agentrt::config
