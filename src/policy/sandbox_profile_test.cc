// policy/sandbox_profile_test.cc: tests what a command may see, depending on the settings.
#include "policy/sandbox_profile.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace agentrt::policy {
namespace {

SandboxInputs inputs_of(std::string root) {
  SandboxInputs inputs;
  inputs.cwd = root;
  inputs.roots = {std::move(root)};
  inputs.home = "/home/u";
  inputs.own_paths = {"/home/u/.local/share/agentrt", "/home/u/.config/agentrt"};
  return inputs;
}

bool has(const std::vector<std::string>& list, const std::string& path) {
  return std::ranges::find(list, path) != list.end();
}

}  // namespace

TEST_CASE("what is run later by others is protected in every root") {
  auto inputs = inputs_of("/w");
  inputs.roots.emplace_back("/v");
  const auto profile = sandbox_profile(inputs);
  for (const char* path :
       {"/w/.git/", "/w/.agentrt/", "/w/.claude/", "/v/.git/", "/v/.agentrt/", "/v/.claude/"})
    CHECK(has(profile.protected_paths, path));
  CHECK(profile.protected_paths.size() == 6);
}

TEST_CASE("the runtime's own folders, keys and doors are hidden, and what policy denies") {
  auto inputs = inputs_of("/w");
  inputs.denied = {"/w/secret"};
  const auto profile = sandbox_profile(inputs);
  for (const char* path :
       {"/home/u/.local/share/agentrt", "/home/u/.config/agentrt", "/home/u/.ssh", "/home/u/.gnupg",
        "/home/u/.aws", "/home/u/.netrc", "/home/u/.claude", "/run/docker.sock", "/w/secret"})
    CHECK(has(profile.hidden_paths, path));
}

TEST_CASE("in a workspace that holds the home, our folders and keys cannot be made either") {
  const auto profile = sandbox_profile(inputs_of("/home/u"));
  CHECK(has(profile.protected_paths, "/home/u/.config/agentrt/"));
  CHECK(has(profile.protected_paths, "/home/u/.local/share/agentrt/"));
  CHECK(has(profile.protected_paths, "/home/u/.ssh/"));
  CHECK(has(sandbox_profile(inputs_of("/home")).protected_paths, "/home/u/.claude/"));
  CHECK_FALSE(has(sandbox_profile(inputs_of("/home/user")).protected_paths, "/home/u/.ssh/"));
}

TEST_CASE("of the environment only harmless names are kept") {
  auto inputs = inputs_of("/w");
  inputs.environment = {{"PATH", "/bin"},           {"LC_TIME", "C"},     {"TERM", "xterm"},
                        {"ANTHROPIC_API_KEY", "x"}, {"LD_PRELOAD", "/x"}, {"SSH_AUTH_SOCK", "/s"},
                        {"GIT_CONFIG", "/x"},       {"BASH_ENV", "/x"}};
  CHECK(sandbox_profile(inputs).environment ==
        std::vector<std::string>{"LC_TIME=C", "PATH=/bin", "TERM=xterm"});
}

}  // namespace agentrt::policy
