// runtime/configured_models_test.cc: what the adapters are given of a configured model.
#include "runtime/configured_models.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace agentrt::runtime {
namespace {

config::Environment variables(std::map<std::string, std::string> values) {
  return [values = std::move(values)](std::string_view name) -> std::optional<std::string> {
    const auto found = values.find(std::string(name));
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

// Loads the configuration of a single file in a temporary folder.
Result<config::Config> load(const std::string& text, const config::Environment& environment = {}) {
  std::string folder = (std::filesystem::temp_directory_path() / "agentrt_models_XXXXXX").string();
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  std::ofstream(folder + "/config.toml") << text;
  config::ConfigSources sources;
  sources.managed = folder + "/managed.toml";
  sources.user = folder + "/config.toml";
  auto config = config::load_config(sources, environment);
  std::filesystem::remove_all(folder);
  return config;
}

const std::string kMain = "[models.main]\nmodel = \"m\"\nprovider = ";

}  // namespace

TEST_CASE("time-outs, limits and the key reach the adapter; defaults hold where nothing is said") {
  const auto config = load(kMain +
                           "\"openai_chat\"\nbase_url = \"http://host/v1//\"\n"
                           "api_key_env = \"SOME_KEY\"\nidle_timeout_ms = 7\n"
                           "max_output_tokens = 9\ncontext_tokens = 11\n"
                           "capabilities = [\"reasoning\"]\n");
  REQUIRE(config.has_value());
  const auto models = configured_models(*config, variables({{"SOME_KEY", "k"}}));
  REQUIRE(models.size() == 1);
  const adapters::Endpoint& endpoint = *models[0].endpoint;
  CHECK(endpoint.base_url == "http://host/v1");
  CHECK(endpoint.key_env == "SOME_KEY");
  CHECK(endpoint.key == "k");
  CHECK(endpoint.reasons);
  CHECK(endpoint.timeouts == adapters::HttpTimeouts{.idle_ms = 7});
  CHECK(endpoint.max_output_tokens == 9);
  CHECK(models[0].candidate.context_tokens == 11);
}

}  // namespace agentrt::runtime
