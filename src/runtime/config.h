// runtime/config.h: the configuration of a runtime, as plain values, and how it is put together.
//
// Layers, weakest first: managed (host policy), user, workspace. A later layer wins for single
// values; rules and hooks are joined and keep where they come from. Two things bend that rule, both
// towards safety: what the host policy sets can be tightened but never loosened below it, and a
// workspace file, which came with somebody's repository, can only tighten until a person trusts it
// as it is (runtime/trust.h). Hook files of Claude Code stand beside those of the user and the
// workspace and count like them.
//
// Loading is strict. A file that cannot be read, a key that is not known, a value of the wrong type
// or a feature that this version lacks is an error that names file, line and key: a rule that was
// meant to hold is never dropped in silence.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/data_folder.h"
#include "runtime/laxity.h"
#include "runtime/trust.h"
#include "schema/policy.h"
#include "schema/statuses.h"

namespace agentrt::runtime {

// Prices in millionths of the currency per million tokens.
struct Price {
  std::int64_t input_micros = 0;
  std::int64_t output_micros = 0;

  bool operator==(const Price&) const = default;
};

// One candidate for routing.
struct ModelConfig {
  std::string name;      // what --model takes
  std::string provider;  // script, openai_chat, openai_responses, anthropic
  std::string model;     // a script's: the file's base name
  std::optional<std::string> base_url;
  std::optional<std::string> api_key_env;
  std::vector<std::string> capabilities;
  std::optional<std::uint64_t> context_tokens;
  std::optional<std::uint64_t> max_output_tokens;
  // Absent ones have the defaults of adapters/http/http_streams.h.
  std::optional<std::uint64_t> connect_timeout_ms;
  std::optional<std::uint64_t> first_byte_timeout_ms;
  std::optional<std::uint64_t> idle_timeout_ms;
  std::optional<std::uint64_t> answer_timeout_ms;
  std::optional<bool> debug_payloads;  // keep what goes over the wire
  std::string model_setting;           // where `model` is set, in words
  std::string url_setting;             // and `base_url`
  std::string key_setting;             // what to do to give a key, in words
  std::optional<Price> cost_per_mtok;
  std::string script;  // an absolute path

  bool operator==(const ModelConfig&) const = default;
};

// A server of tools as a file names it. Texts may hold ${NAME} and ${NAME:-otherwise}, which stand
// for environment variables and are read when the server is connected to (runtime/mcp_servers.h).
struct McpServerConfig {
  std::vector<std::string> command;  // the program and its arguments, or
  std::optional<std::string> url;    // where it listens
  std::optional<std::string> type;   // stdio, http or sse; absent: as the two above say
  std::map<std::string, std::string> env;
  std::map<std::string, std::string> headers;
  std::optional<std::string> bearer_token_env;
  std::optional<std::string> cwd;
  bool enabled = true;
  std::optional<schema::SandboxMode> sandbox;
  std::optional<bool> network;
  std::optional<std::uint64_t> startup_timeout_ms;
  std::optional<std::uint64_t> tool_timeout_ms;
  std::optional<std::vector<std::string>> tools;
  std::vector<std::string> disabled_tools;

  bool operator==(const McpServerConfig&) const = default;
};

struct RoutingConfig {
  std::optional<std::string> default_name;
  std::vector<std::string> fallback;
  // Absent: every configured model but script ones, plus what default, fallback or a turn names.
  std::optional<std::vector<std::string>> candidates;

  bool operator==(const RoutingConfig&) const = default;
};

struct PermissionConfig {
  schema::PermissionMode mode = schema::PermissionMode::default_;
  std::vector<schema::PolicyRule> rules;

  bool operator==(const PermissionConfig&) const = default;
};

struct SandboxConfig {
  schema::SandboxMode mode = schema::SandboxMode::workspace_write;
  bool network = false;
  bool report_writes = false;           // attempts to write outside become events
  std::vector<std::string> roots = {};  // where sessions may be opened without scope approve

  bool operator==(const SandboxConfig&) const = default;
};

struct LimitConfig {
  std::uint64_t turn_steps = 50;
  std::uint64_t queue_turns_max = 1'000;
  std::uint64_t model_retries_max = 3;

  bool operator==(const LimitConfig&) const = default;
};

// Bytes behind refs.
struct OutputConfig {
  std::uint64_t keep_days = 30;
  std::uint64_t bytes_max = std::uint64_t{10} << 30;
  std::uint64_t upload_bytes_max = std::uint64_t{64} << 20;

  bool operator==(const OutputConfig&) const = default;
};

// What happens at start to turns that an earlier process left unfinished.
BOOST_DEFINE_ENUM_CLASS(Resume, ask, auto_)

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
  std::size_t hooks = 0;              // that have a counterpart here
  std::vector<std::string> unmapped;  // what has none, in words
  bool counts = true;                 // false: it is not trusted as it is

  bool operator==(const HookFile&) const = default;
};

// Where a configuration is looked for.
struct ConfigSources {
  std::string managed{kManagedFile};  // tests name another file here; nothing else does
  std::optional<std::string> user;    // read where it exists
  std::optional<std::string> claude;  // the user's hook file; read where it exists
  std::optional<std::string> named;   // --config: in place of both, and it must exist
  std::string workspace;              // the folder whose files count
  std::vector<TrustRecord> trusted;   // files of it that a person trusts, as they were then

  bool operator==(const ConfigSources&) const = default;
};

struct Config {
  std::map<std::string, ModelConfig> models;
  std::map<std::string, McpServerConfig> mcp_servers;
  RoutingConfig routing;
  PermissionConfig permissions;
  std::vector<schema::HookSpec> hooks;
  SandboxConfig sandbox;
  LimitConfig limits;
  OutputConfig outputs;
  std::vector<std::string> redact;  // names of environment variables whose values are secrets
  Resume resume = Resume::ask;
  // The laxest that the host policy lets anyone choose, where it speaks.
  std::optional<schema::PermissionMode> managed_mode;
  std::optional<schema::SandboxMode> managed_sandbox;
  std::optional<bool> managed_network;
  std::vector<std::string> managed_roots;  // sandbox.roots of the host policy alone

  ConfigSources sources;          // what it was read from
  std::vector<ConfigFile> files;  // that were looked for, weakest first
  std::vector<HookFile> hook_files;
  std::vector<schema::PolicyFile> policy_files;  // of the workspace, that need to be trusted
  std::vector<std::string> warnings;             // what a workspace file said that never counts
  std::vector<std::string> ignored;              // and what counts once the file is trusted

  bool operator==(const Config&) const = default;
};

// $XDG_CONFIG_HOME/agentrt/config.toml, else ~/.config/agentrt/config.toml; nothing without a home.
std::optional<std::string> user_config_path(const Environment& environment);

// ~/.claude/settings.json; nothing without a home.
std::optional<std::string> claude_config_path(const Environment& environment);

// Errors: invalid_params, with a sentence that names file, line and key.
// `environment` gives models where no file does; it may be empty.
Result<Config> load_config(const ConfigSources& sources, const Environment& environment = {});

// The name under which the model `script:FILE` is a candidate: FILE made absolute against `cwd`.
// Any other name comes back as it is.
std::string resolve_model_name(std::string_view name, const std::string& cwd);
// The candidate that a resolved name `script:/PATH` stands for; nothing for any other name.
std::optional<ModelConfig> script_model(std::string_view resolved_name);

}  // namespace agentrt::runtime
