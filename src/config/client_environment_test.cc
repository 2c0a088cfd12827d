// config/client_environment_test.cc: tests what of a client's environment is sent to the owner.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "config/client_environment.h"
#include "config/config_digest.h"

namespace agentrt::config {
namespace {

using Variables = std::vector<ports::EnvironmentVariable>;

const Variables kAll = {{"TERM", "vt100"},         {"OPENAI_API_KEY", "k"}, {"OPENAI_MODEL", "m"},
                        {"MY_KEY", "mine"},        {"UNRELATED", "u"},      {"AWS_SECRET", "s"},
                        {"SSH_AUTH_SOCK", "sock"}, {"EXTRA", "extra"}};

struct File {
  explicit File(const std::string& text) {
    std::string name = "/tmp/agentrt_config_XXXXXX";
    folder = ::mkdtemp(name.data());
    path = folder + "/config.toml";
    std::ofstream(path) << text;
  }
  ~File() { std::filesystem::remove_all(folder); }
  std::string folder, path;
};

}  // namespace

TEST_CASE("only what commands get and what the configuration names leaves the client") {
  Config config;
  config.models["a"].api_key_env = "MY_KEY";
  config.redact = {"EXTRA"};
  const ports::ClientEnvironment sent = client_environment(config, environment_of(kAll));
  CHECK(sent.variables == Variables{{"TERM", "vt100"}});
  CHECK(sent.settings == Variables{{"OPENAI_MODEL", "m"}});
  CHECK(sent.credentials ==
        Variables{{"OPENAI_API_KEY", "k"}, {"MY_KEY", "mine"}, {"EXTRA", "extra"}});
  CHECK_FALSE(sent.config);
}

TEST_CASE("names_only_models is false for a file that sets anything else") {
  const std::string models = "[models.a]\nprovider = \"script\"\nscript = \"a.jsonl\"\n";
  CHECK(*names_only_models(File(models + "[routing]\ndefault = \"a\"\n").path));
  CHECK_FALSE(*names_only_models(File(models + "[permissions]\nmode = \"plan\"\n").path));
  CHECK_FALSE(*names_only_models(File(models + "[redact]\nnames = []\n").path));
  CHECK_FALSE(names_only_models(File("[models.").path).has_value());
  CHECK_FALSE(names_only_models("/nonexistent/x.toml").has_value());
}

TEST_CASE("the digest of a configuration covers its files and the variables of connections") {
  const File file("[permissions]\nmode = \"plan\"\n");
  Config config;
  config.sources.managed = "/nonexistent";
  config.sources.user = file.path;
  const Environment none = environment_of(Variables{});
  const std::string before = config_digest(config, none);
  config.sources.workspace = "/elsewhere";
  CHECK(config_digest(config, environment_of(kAll)) == before);
  CHECK(config_digest(config, environment_of(Variables{{"SSL_CERT_FILE", "/a"}})) != before);
  std::ofstream(file.path) << "[permissions]\nmode = \"auto\"\n";
  CHECK(config_digest(config, none) != before);
}

}  // namespace agentrt::config
