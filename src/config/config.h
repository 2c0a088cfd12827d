// config/config.h: the configuration of a runtime as plain values, and how the layers are merged.
//
// Layers, weakest first: managed (host policy), user, workspace. A later layer overrides single
// values; rules and hooks are concatenated and keep their origin. There are two exceptions, both
// for safety. Settings of the host policy can be tightened but never loosened. A workspace file
// comes with a repository, so it can only tighten until a person trusts its current content
// (config/trust.h). Hook files of Claude Code belong to the user and workspace layers.
//
// Loading is strict. An unreadable file, an unknown key, a value of the wrong type or an
// unsupported feature is an error that names file, line and key: a rule is never dropped silently.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/connections.h"
#include "config/environment.h"
#include "config/trust.h"
#include "policy/laxity.h"
#include "schema/policy.h"
#include "schema/statuses.h"

namespace agentrt::config {

// Prices in millionths of the currency per million tokens.
struct Price {
  std::int64_t input_micros = 0;
  std::int64_t output_micros = 0;

  bool operator==(const Price&) const = default;
};

// A model that routing can select.
struct ModelConfig {
  std::string name;      // as passed to --model
  std::string provider;  // script, openai_chat, openai_responses, anthropic
  std::string model;     // of a script: the base name of the file
  std::optional<std::string> base_url;
  std::optional<std::string> api_key_env;
  std::vector<std::string> capabilities;
  std::optional<std::uint64_t> context_tokens;
  std::optional<std::uint64_t> max_output_tokens;
  // If absent, the defaults of adapters/http/http_streams.h apply.
  std::optional<std::uint64_t> connect_timeout_ms;
  std::optional<std::uint64_t> first_byte_timeout_ms;
  std::optional<std::uint64_t> idle_timeout_ms;
  std::optional<std::uint64_t> answer_timeout_ms;
  std::optional<bool> debug_payloads;  // store raw requests and responses
  std::string model_setting;           // description of where `model` is set
  std::string url_setting;             // description of where `base_url` is set
  std::string key_setting;             // description of how to provide a key
  std::optional<Price> cost_per_mtok;
  std::string script;  // an absolute path

  bool operator==(const ModelConfig&) const = default;
};

// An MCP server as configured. Texts may contain ${NAME} and ${NAME:-default}, which are replaced
// by environment variables when the server is connected (config/mcp_servers.h).
struct McpServerConfig {
  std::vector<std::string> command;  // the program and its arguments; or
  std::optional<std::string> url;    // the server's address
  std::optional<std::string> type;   // stdio, http or sse; default: derived from command and url
  std::map<std::string, std::string> env;
  std::map<std::string, std::string> headers;
  std::optional<std::string> bearer_token_env;
  std::optional<McpOauthConfig> oauth;
  std::optional<std::string> cwd;
  bool enabled = true;
  std::optional<schema::SandboxMode> sandbox;
  std::optional<bool> network;
  std::optional<std::uint64_t> startup_ms;
  std::optional<std::uint64_t> wait_ms;
  std::optional<std::uint64_t> tool_timeout_ms;
  std::optional<std::vector<std::string>> tools;
  std::vector<std::string> disabled_tools;

  bool operator==(const McpServerConfig&) const = default;
};

struct RoutingConfig {
  std::optional<std::string> default_name;
  std::vector<std::string> fallback;
  // Default: every configured model except scripts, plus those that default, fallback or a turn
  // name.
  std::optional<std::vector<std::string>> candidates;

  bool operator==(const RoutingConfig&) const = default;
};

struct PermissionConfig {
  schema::PermissionMode mode = schema::PermissionMode::default_;
  std::vector<schema::PolicyRule> rules;
  // The layer of the file that set the mode; absent: none did.
  std::optional<schema::RuleOrigin> mode_origin = {};

  bool operator==(const PermissionConfig&) const = default;
};

struct SandboxConfig {
  schema::SandboxMode mode = schema::SandboxMode::workspace_write;
  bool network = false;
  bool report_writes = false;           // report attempts to write outside as events
  std::vector<std::string> roots = {};  // where sessions may be opened without scope approve
  // Where commands may write, besides the folders of their session: absolute, or ~/FOLDER.
  std::vector<std::string> write = {};

  bool operator==(const SandboxConfig&) const = default;
};

// Limits of [sandbox] write and [shell] env.
inline constexpr std::size_t kWriteFoldersMax = 64;
inline constexpr std::size_t kShellVariablesMax = 64;
inline constexpr std::size_t kShellValueBytesMax = 4'096;

struct LimitConfig {
  std::uint64_t turn_steps = 50;
  std::uint64_t queue_turns_max = 1'000;
  std::uint64_t tasks_max = 100'000;   // per session, not ended
  std::uint64_t task_edges_max = 256;  // per task
  std::uint64_t task_depth_max = 32;   // levels of child tasks
  std::uint64_t model_retries_max = 3;
  std::uint64_t web_fetch_ms = 30'000;
  std::uint64_t web_fetch_bytes = 10 << 20;
  std::uint64_t web_fetch_redirects = 5;
  std::uint64_t jobs_running = 16;     // per session
  std::uint64_t job_concurrency = 64;  // items of one job that run at once; at most 64
  std::uint64_t subagent_depth = 2;
  std::uint64_t subagents_running = 8;  // per session

  bool operator==(const LimitConfig&) const = default;
};

// Stored outputs, which facts name by refs.
struct OutputConfig {
  std::uint64_t keep_days = 30;
  std::uint64_t bytes_max = std::uint64_t{10} << 30;
  std::uint64_t upload_bytes_max = std::uint64_t{64} << 20;

  bool operator==(const OutputConfig&) const = default;
};

BOOST_DEFINE_ENUM_CLASS(Compact, auto_, off)

// How a conversation is kept within the context window of a model.
struct ContextConfig {
  Compact compact = Compact::auto_;            // off: only compact_thread compacts
  double compact_at = 0.8;                     // share of the window that a request may use
  std::optional<std::string> compact_model;    // writes the summary; default: that of the turn
  std::uint64_t compact_timeout_ms = 120'000;  // per request

  bool operator==(const ContextConfig&) const = default;
};

// What to do at start with turns that an earlier process left unfinished.
BOOST_DEFINE_ENUM_CLASS(Resume, ask, auto_)

// How a conversation calls a person who looks elsewhere.
BOOST_DEFINE_ENUM_CLASS(Notify, bell, osc9, off)

struct ConfigFile {
  std::string path;
  std::string layer;  // managed, user, workspace
  bool found = false;

  bool operator==(const ConfigFile&) const = default;
};

inline constexpr std::string_view kManagedFile = "/etc/agentrt/managed.toml";

// A hook file of Claude Code that was found.
struct HookFile {
  std::string path;
  std::size_t hooks = 0;              // with a counterpart here
  std::vector<std::string> unmapped;  // descriptions of those without one
  bool counts = true;                 // false: its current content is not trusted

  bool operator==(const HookFile&) const = default;
};

// Where to look for configuration files.
struct ConfigSources {
  std::string managed{kManagedFile};  // overridden only by tests
  std::optional<std::string> user;    // optional file
  std::optional<std::string> claude;  // the user's Claude Code hook file; optional
  std::optional<std::string> named;   // --config: replaces both user files, and must exist
  std::string workspace;              // the folder whose files apply
  std::vector<TrustRecord> trusted;   // trusted workspace files, with their digests

  bool operator==(const ConfigSources&) const = default;
};

struct Config {
  std::map<std::string, ModelConfig> models;
  std::map<std::string, McpServerConfig> mcp_servers;
  RoutingConfig routing;
  PermissionConfig permissions;
  std::vector<schema::HookSpec> hooks;
  SandboxConfig sandbox;
  std::map<std::string, std::string> shell_env;  // variables that commands get
  LimitConfig limits;
  OutputConfig outputs;
  ContextConfig context;
  std::vector<std::string> redact;  // names of environment variables that hold secrets
  Resume resume = Resume::ask;
  Notify notify = Notify::bell;
  ServerConfig server;
  ChannelConfig channels;
  std::map<std::string, RemoteConfig> remotes;
  McpConfig mcp;
  // The laxest values that the host policy permits; absent if it sets none.
  std::optional<schema::PermissionMode> managed_mode;
  std::optional<schema::SandboxMode> managed_sandbox;
  std::optional<bool> managed_network;
  std::vector<std::string> managed_roots;  // sandbox.roots of the host policy only

  ConfigSources sources;          // what it was read from
  std::vector<ConfigFile> files;  // that were looked for, weakest first
  std::vector<HookFile> hook_files;
  std::vector<schema::PolicyFile> policy_files;  // of the workspace, that need trust
  std::vector<std::string> warnings;             // settings that a workspace file may never make
  std::vector<std::string> ignored;              // settings that apply once the file is trusted

  bool operator==(const Config&) const = default;
};

// $XDG_CONFIG_HOME/agentrt/config.toml, else ~/.config/agentrt/config.toml; nullopt without a home.
std::optional<std::string> user_config_path(const Environment& environment);

// ~/.claude/settings.json; nullopt without a home folder.
std::optional<std::string> claude_config_path(const Environment& environment);

// Fails with invalid_params and a sentence that names file, line and key. `environment` supplies
// models if no file does; it may be empty.
Result<Config> load_config(const ConfigSources& sources, const Environment& environment = {});

// The candidate name of the model `script:FILE`, with FILE made absolute relative to `cwd`. Returns
// any other name unchanged.
std::string resolve_model_name(std::string_view name, const std::string& cwd);
// The candidate for a resolved name `script:/PATH`; nullopt for any other name.
std::optional<ModelConfig> script_model(std::string_view resolved_name);

}  // namespace agentrt::config
