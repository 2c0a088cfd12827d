#include "cli/decisions/trusted_config.h"

#include <fmt/format.h>

#include "schema/commands/actions.h"

namespace agentrt::cli {

Result<config::Config> with_trusted_files(const config::Config& config, const Client& client,
                                          const std::string& cwd,
                                          const config::Environment& environment) {
  config::ConfigSources sources = config.sources;
  sources.workspace = cwd;
  sources.trusted.clear();
  TRY_ASSIGN(config::Config untrusted, config::load_config(sources, environment));
  if (untrusted.policy_files.empty()) return untrusted;
  TRY_ASSIGN(const std::string text,
             client.call("get_trust", schema::to_json(schema::GetTrust{cwd})));
  schema::TrustReply trust;
  TRY(schema::from_json(text, trust, schema::Unknown::ignore));
  for (const schema::PolicyFile& file : trust.files)
    if (file.trusted) sources.trusted.push_back({file.path, file.digest});
  return config::load_config(sources, environment);
}

std::string untrusted_models(const config::Config& config) {
  for (const schema::PolicyFile& file : config.policy_files)
    for (const std::string& effect : file.effects.value_or(std::vector<std::string>{}))
      if (!file.trusted && effect.starts_with("adds the model "))
        return fmt::format(
            " {} names models, but it is not trusted; agentrt trust shows what it does.",
            file.path);
  return {};
}

}  // namespace agentrt::cli
