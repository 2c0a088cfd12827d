// adapters/process/sandbox_test.cc: tests of the spec given to the launcher.
#include "adapters/process/sandbox.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>

namespace agentrt::adapters {
namespace {

schema::SandboxProfile profile_of(schema::SandboxMode mode) {
  schema::SandboxProfile profile;
  profile.mode = mode;
  profile.cwd = "/";
  profile.roots = {"/var/tmp"};
  profile.environment = {"PATH=/bin", "HOME=/root"};
  return profile;
}

bool has(launcher::Layers layers, launcher::Layer layer) { return (layers & bit(layer)) != 0; }

}  // namespace

using launcher::Layer;

TEST_CASE("a profile asks for every layer and requires those that nothing makes up for") {
  const auto spec = spec_of(profile_of(schema::SandboxMode::workspace_write), {"true"});
  CHECK(spec.wanted == launcher::kAllLayers);
  for (const Layer layer : {Layer::user_namespace, Layer::mount_namespace, Layer::pid_namespace,
                            Layer::seccomp, Layer::capabilities, Layer::limits})
    CHECK(has(spec.required, layer));
  for (const Layer layer : {Layer::network_namespace, Layer::ipc_namespace, Layer::landlock,
                            Layer::notify, Layer::cgroup})
    CHECK_FALSE(has(spec.required, layer));
  CHECK(has(spec.required, Layer::identity) == (::geteuid() == 0));
}

TEST_CASE("without a network a command has one of its own") {
  auto profile = profile_of(schema::SandboxMode::workspace_write);
  CHECK(spec_of(profile, {"true"}).network == launcher::Network::loopback);
  profile.network = schema::CommandNetwork::host;
  CHECK(spec_of(profile, {"true"}).network == launcher::Network::host);
}

TEST_CASE("under root a command is another user and has no home, unless it has full access") {
  const auto home = [](schema::SandboxMode mode) {
    const auto env = spec_of(profile_of(mode), {"true"}).env;
    return *std::ranges::find_if(env, [](const auto& each) { return each.starts_with("HOME="); });
  };
  const bool root = ::geteuid() == 0;
  CHECK(home(schema::SandboxMode::read_only) == (root ? "HOME=/tmp" : "HOME=/root"));
  CHECK(home(schema::SandboxMode::full_access) == "HOME=/root");
  CHECK_FALSE(has(required_layers(profile_of(schema::SandboxMode::full_access)), Layer::identity));
}

TEST_CASE("a command may have most of the machine's memory and not all of it") {
  const auto spec = spec_of(profile_of(schema::SandboxMode::workspace_write), {"true"});
  const auto whole = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                     static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  CHECK(spec.memory_bytes > whole / 2);
  CHECK(spec.memory_bytes < whole);
}

TEST_CASE("every layer has its line in the table, once") {
  CHECK(layer_rules().size() == launcher::kLayers);
  for (std::size_t i = 0; i < launcher::kLayers; ++i)
    CHECK(std::ranges::count(layer_rules(), static_cast<Layer>(i), &LayerRule::layer) == 1);
  const auto required =
      required_layers(profile_of(schema::SandboxMode::workspace_write)) | bit(Layer::identity);
  for (const LayerRule& rule : layer_rules())
    CHECK(std::string_view(rule.without).ends_with("commands cannot run") ==
          has(required, rule.layer));
}

}  // namespace agentrt::adapters
