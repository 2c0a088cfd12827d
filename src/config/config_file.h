// config/config_file.h: parses and validates one configuration file, before layers are merged.
//
// Checks only the syntax: known keys, types, words. config/config.cc decides what a layer may set
// and which layer wins, so every value keeps its line number.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/config.h"

namespace agentrt::config {

template <class T>
struct Given {
  T value;
  std::size_t line = 0;
};

// A key of the configuration format that this version does not support.
struct Beyond {
  std::string key;
  std::size_t line = 0;
};

struct ConfigLayer {
  std::string path;
  std::map<std::string, Given<ModelConfig>> models;
  std::map<std::string, Given<McpServerConfig>> mcp_servers;
  std::optional<Given<std::string>> routing_default;
  std::optional<Given<std::vector<std::string>>> routing_fallback;
  std::optional<Given<std::vector<std::string>>> routing_candidates;
  std::optional<Given<schema::PermissionMode>> mode;
  std::optional<Given<std::vector<std::string>>> allow;
  std::optional<Given<std::vector<std::string>>> ask;
  std::optional<Given<std::vector<std::string>>> deny;
  std::optional<Given<schema::SandboxMode>> sandbox;
  std::optional<Given<bool>> network;
  std::optional<Given<bool>> report_writes;
  std::optional<Given<std::vector<std::string>>> roots;
  std::optional<Given<std::vector<std::string>>> write;
  std::optional<Given<std::map<std::string, std::string>>> shell_env;
  std::optional<Given<std::uint64_t>> turn_steps;
  std::optional<Given<std::uint64_t>> queue_turns_max;
  std::optional<Given<std::uint64_t>> tasks_max;
  std::optional<Given<std::uint64_t>> task_edges_max;
  std::optional<Given<std::uint64_t>> task_depth_max;
  std::optional<Given<std::uint64_t>> model_retries_max;
  std::optional<Given<std::uint64_t>> web_fetch_ms;
  std::optional<Given<std::uint64_t>> web_fetch_bytes;
  std::optional<Given<std::uint64_t>> web_fetch_redirects;
  std::optional<Given<std::uint64_t>> jobs_running;
  std::optional<Given<std::uint64_t>> job_concurrency;
  std::optional<Given<std::uint64_t>> subagent_depth;
  std::optional<Given<std::uint64_t>> subagents_running;
  std::optional<Given<std::string>> listen;
  std::optional<Given<std::string>> tls_cert;
  std::optional<Given<std::string>> tls_key;
  std::optional<Given<std::vector<std::string>>> host_names;
  std::optional<Given<std::vector<std::string>>> origins;
  std::map<std::string, std::uint64_t> channels;  // given limits of [channels], by key
  std::map<std::string, RemoteConfig> remotes;
  std::optional<Given<std::string>> client_metadata_url;
  std::optional<Given<std::uint64_t>> keep_days;
  std::optional<Given<std::uint64_t>> output_bytes_max;
  std::optional<Given<std::uint64_t>> upload_bytes_max;
  std::optional<Given<Compact>> compact;
  std::optional<Given<double>> compact_at;
  std::optional<Given<std::string>> compact_model;
  std::optional<Given<std::uint64_t>> compact_timeout_ms;
  std::optional<Given<std::vector<std::string>>> redact;
  std::optional<Given<Resume>> resume;
  std::optional<Given<Notify>> notify;
  std::vector<schema::HookSpec> hooks;  // without origin yet
  std::vector<Beyond> beyond;           // limits.session_cost
};

// An invalid_params error at a place in a file: "FILE:LINE: KEY REST".
std::unexpected<Error> wrong_at(const std::string& path, std::size_t line, const std::string& key,
                                const std::string& rest);

// The error for a file that the system cannot read: `unavailable` if the process has no descriptors
// or memory left, otherwise invalid_params. `error`: the errno.
std::unexpected<Error> unreadable(const std::string& path, int error);

// Reads a file of the user or the host; nullopt if it does not exist.
Result<std::optional<std::string>> read_config_file(const std::string& path);
// Parses the text of the file at `path` as one layer.
Result<ConfigLayer> read_config_text(const std::string& text, const std::string& path);

}  // namespace agentrt::config
