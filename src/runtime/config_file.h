// runtime/config_file.h: one configuration file, read and checked, before it meets the others.
//
// Reading judges the form only: the keys there are, their types, their words. What a layer may say
// and which layer wins is runtime/config.cc's business, so every value keeps the line it stands on.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/config.h"

namespace agentrt::runtime {

template <class T>
struct Given {
  T value;
  std::size_t line = 0;
};

// A key that the configuration format knows and this version cannot honour.
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
  std::optional<Given<std::uint64_t>> turn_steps;
  std::optional<Given<std::uint64_t>> queue_turns_max;
  std::optional<Given<std::uint64_t>> model_retries_max;
  std::optional<Given<std::uint64_t>> keep_days;
  std::optional<Given<std::uint64_t>> output_bytes_max;
  std::optional<Given<std::uint64_t>> upload_bytes_max;
  std::optional<Given<std::vector<std::string>>> redact;
  std::optional<Given<Resume>> resume;
  std::vector<schema::HookSpec> hooks;  // of no origin yet
  std::vector<Beyond> beyond;           // limits.session_cost
};

// invalid_params at a place in a file: "FILE:LINE: KEY REST".
std::unexpected<Error> wrong_at(const std::string& path, std::size_t line, const std::string& key,
                                const std::string& rest);

// The text of a file of the user or the host; nothing when there is no such file.
Result<std::optional<std::string>> read_config_file(const std::string& path);
// The layer from the text of the file at `path`.
Result<ConfigLayer> read_config_text(const std::string& text, const std::string& path);

}  // namespace agentrt::runtime
