// config/models_test.cc: configured models and their defaults, and models from the environment.
#include "config/models.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace agentrt::config {
namespace {

Environment variables(std::map<std::string, std::string> values) {
  return [values = std::move(values)](std::string_view name) -> std::optional<std::string> {
    const auto found = values.find(std::string(name));
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

// Loads the configuration of a single file in a temporary folder.
Result<Config> load(const std::string& text, const Environment& environment = {}) {
  std::string folder = (std::filesystem::temp_directory_path() / "agentrt_models_XXXXXX").string();
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  std::ofstream(folder + "/config.toml") << text;
  ConfigSources sources;
  sources.managed = folder + "/managed.toml";
  sources.user = folder + "/config.toml";
  auto config = load_config(sources, environment);
  std::filesystem::remove_all(folder);
  return config;
}

std::string problem(const std::string& text, const Environment& environment = {}) {
  const auto config = load(text, environment);
  REQUIRE_FALSE(config.has_value());
  return config.error().message;
}

const std::string kMain = "[models.main]\nmodel = \"m\"\nprovider = ";

}  // namespace

TEST_CASE("a provider's own address comes with its own variable, another address with none") {
  const auto own = load(kMain + "\"anthropic\"\n");
  REQUIRE(own.has_value());
  CHECK(own->models.at("main").base_url == "https://api.anthropic.com");
  CHECK(own->models.at("main").api_key_env == "ANTHROPIC_API_KEY");
  CHECK(own->models.at("main").model_setting == "model in [models.main]");
  CHECK(own->models.at("main").url_setting == "base_url in [models.main]");
  const auto other = load(kMain + "\"openai_chat\"\nbase_url = \"http://127.0.0.1:11434/v1\"\n");
  REQUIRE(other.has_value());
  CHECK_FALSE(other->models.at("main").api_key_env.has_value());
  CHECK(other->models.at("main").capabilities == std::vector<std::string>{"tools", "streaming"});
}

TEST_CASE("images are taken at a provider's own address, and elsewhere as configured") {
  using Words = std::vector<std::string>;
  const std::string elsewhere = kMain + "\"openai_chat\"\nbase_url = \"http://127.0.0.1:1/v1\"\n";
  const auto words = [](const std::string& text) {
    const auto config = load(text);
    REQUIRE(config.has_value());
    return config->models.at("main").capabilities;
  };
  CHECK(words(kMain + "\"anthropic\"\n") == Words{"tools", "streaming", "images"});
  CHECK(words(kMain + "\"anthropic\"\nimages = false\n") ==
        Words{"tools", "streaming", "text_only"});
  CHECK(words(elsewhere + "images = true\n") == Words{"tools", "streaming", "images"});
  CHECK(words(elsewhere + "capabilities = [\"images\"]\nimages = true\n") == Words{"images"});
  CHECK(problem(kMain + "\"anthropic\"\nimages = 1\n").contains("models.main.images"));
}

TEST_CASE("an address must be one that can be asked and holds no secret") {
  for (const char* good : {"http://localhost", "https://host:8443/v1/", "http://[::1]:80/a/b"})
    CHECK(check_base_url(good).has_value());
  for (const char* bad :
       {"", "host/v1", "ftp://host", "http://", "http:///v1", "https://me:pw@host",
        "http://host/v1?key=1", "http://host/#x", "http://ho st"}) {
    CAPTURE(bad);
    CHECK_FALSE(check_base_url(bad).has_value());
  }
  CHECK(problem(kMain + "\"openai_chat\"\nbase_url = \"localhost\"\n")
            .contains("config.toml:4: models.main.base_url must be a URL"));
}

TEST_CASE("limits of a model are whole numbers within bounds") {
  for (const char* key : {"connect_timeout_ms", "first_byte_timeout_ms", "idle_timeout_ms",
                          "answer_timeout_ms", "max_output_tokens"}) {
    CAPTURE(key);
    const std::string text = kMain + "\"openai_chat\"\n" + key + " = ";
    CHECK(load(text + "5\n").has_value());
    for (const char* bad : {"0", "-1", "100000001", "\"5\"", "1.5"})
      CHECK(problem(text + bad + "\n").contains(key));
  }
}

TEST_CASE("variables give models only where no file does") {
  const auto keys = variables({{"OPENAI_API_KEY", "a"},
                               {"ANTHROPIC_API_KEY", "b"},
                               {"ANTHROPIC_MODEL", "claude-x"},
                               {"OPENAI_BASE_URL", ""}});
  const auto config = load("", keys);
  REQUIRE(config.has_value());
  REQUIRE(config->models.size() == 2);
  CHECK(config->routing.default_name == "openai");
  CHECK(config->models.at("openai").provider == "openai_chat");
  CHECK(config->models.at("openai").base_url == "https://api.openai.com/v1");
  CHECK(config->models.at("anthropic").model == "claude-x");
  CHECK(config->models.at("anthropic").model_setting == "ANTHROPIC_MODEL");
  CHECK(config->models.at("anthropic").url_setting == "ANTHROPIC_BASE_URL");
  CHECK(config->models.at("anthropic").key_setting == "set ANTHROPIC_API_KEY");
  CHECK(load("[models.p]\nprovider = \"script\"\nscript = \"x\"\n", keys)->models.size() == 1);
  CHECK(load("", variables({}))->models.empty());
}

TEST_CASE("a server of one's own needs an address and no key") {
  const auto config = load("", variables({{"OPENAI_BASE_URL", "http://127.0.0.1:8080/v1"}}));
  REQUIRE(config.has_value());
  CHECK_FALSE(config->models.at("openai").api_key_env.has_value());
  CHECK(problem("", variables({{"OPENAI_BASE_URL", "127.0.0.1"}})).starts_with("OPENAI_BASE_URL"));
}

TEST_CASE("a key that is missing, or set to nothing, is named by its variable") {
  ModelConfig model;
  CHECK_FALSE(missing_key(model, variables({})).has_value());
  model.api_key_env = "SOME_KEY";
  CHECK(missing_key(model, variables({})) == "SOME_KEY");
  CHECK(missing_key(model, variables({{"SOME_KEY", ""}})) == "SOME_KEY");
  CHECK_FALSE(missing_key(model, variables({{"SOME_KEY", "k"}})).has_value());
}

}  // namespace agentrt::config
