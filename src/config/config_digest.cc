#include "config/config_digest.h"

#include <fstream>
#include <iterator>

#include "base/digest.h"
#include "config/mcp_servers.h"
#include "policy/sandbox_profile.h"
#include "schema/codec.h"

namespace agentrt::config {
namespace {

// Variables that configure models and their connections, whatever the files say.
constexpr std::string_view kNames[] = {
    "OPENAI_API_KEY",         "OPENAI_BASE_URL",    "OPENAI_MODEL",
    "ANTHROPIC_API_KEY",      "ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL",
    "AGENTRT_DEBUG_PAYLOADS", "SSL_CERT_FILE",      "SSL_CERT_DIR"};

std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Adds a name and a value so that no two lists of them give the same bytes.
void add(Sha256& digest, std::string_view name, std::string_view value) {
  std::string text;
  schema::write_string(text, name);
  schema::write_string(text, value);
  digest.add(text);
}

}  // namespace

std::string config_digest(const Config& config, const Environment& environment) {
  Sha256 digest;
  const ConfigSources& sources = config.sources;
  add(digest, sources.managed, contents_of(sources.managed));
  const auto add_file = [&](const std::optional<std::string>& path) {
    if (path) add(digest, *path, contents_of(*path));
  };
  add_file(sources.named);
  if (!sources.named) add_file(sources.user);
  if (!sources.named) add_file(sources.claude);
  std::vector<std::string> names(std::begin(kNames), std::end(kNames));
  for (const std::string_view name : policy::environment_kept()) names.emplace_back(name);
  names.insert(names.end(), config.redact.begin(), config.redact.end());
  for (const auto& [_, model] : config.models)
    if (model.api_key_env) names.push_back(*model.api_key_env);
  for (std::string& name : secret_names_of(config.mcp_servers)) names.push_back(std::move(name));
  for (const std::string& name : names) add(digest, name, environment(name).value_or(""));
  return hex(bytes_of(digest.end()));
}

}  // namespace agentrt::config
