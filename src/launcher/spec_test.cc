// launcher/spec_test.cc: tests that a Spec survives encoding, and that damaged bytes are refused.
#include "launcher/spec.h"

#include <doctest/doctest.h>

#include <set>

#include "launcher/link.h"

namespace agentrt::launcher {
namespace {

Spec whole_spec() {
  Spec spec;
  spec.argv = {"sh", "-c", "echo \"a\nb\"", ""};
  spec.env = {"PATH=/bin", "EMPTY="};
  spec.cwd = "/w";
  spec.mode = Mode::read_only;
  spec.network = Network::host;
  spec.roots = {"/w", "/v"};
  spec.protect = {"/w/.git/hooks/"};
  spec.hide = {"/home/u/.ssh"};
  spec.held_sizes = {"3", "0"};
  spec.held_files = {"0", "1"};
  spec.held_paths = {"/w/a b", "/w/c"};
  spec.held_folders = {"1:2", "1:2"};
  spec.held_links = {"/w/a b"};
  spec.held_targets = {"d"};
  spec.cwd_identity = "1:2";
  spec.run_folder = "/r";
  spec.tty = spec.no_input = spec.survive = spec.apart = spec.watch_writes = true;
  spec.rows = 50;
  spec.columns = 132;
  spec.spool_bytes = 1;
  spec.processes = 2;
  spec.open_files = 3;
  spec.file_bytes = 4;
  spec.address_bytes = 5;
  spec.tmp_bytes = 6;
  spec.memory_bytes = 7ull << 40;
  spec.cgroups = {"/sys/fs/cgroup/a"};
  spec.wanted = bit(Layer::landlock);
  spec.required = bit(Layer::seccomp);
  return spec;
}

}  // namespace

TEST_CASE("a spec is read back as it was written") {
  const std::string bytes = encode(whole_spec());
  Spec read;
  REQUIRE(decode(bytes, read));
  CHECK(encode(read) == bytes);
  CHECK(read.argv == whole_spec().argv);
  CHECK(read.env == whole_spec().env);
  CHECK(read.memory_bytes == 7ull << 40);
  CHECK(read.network == Network::host);
  CHECK(read.survive);
  CHECK(read.no_input);
  CHECK(read.apart);
}

TEST_CASE("a spec that was cut anywhere is none") {
  const std::string bytes = encode(whole_spec());
  Spec read;
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK_FALSE(decode(std::string_view(bytes).substr(0, size), read));
}

TEST_CASE("a spec with an unknown member, an invalid number or no command is rejected") {
  Spec read;
  const auto with = [](const std::string& name, const std::string& value) {
    return std::string("argv\0true\0", 10) + name + '\0' + value + '\0' + std::string("end\0\0", 5);
  };
  CHECK(decode(with("cwd", "/"), read));
  CHECK_FALSE(decode(with("unheard", "1"), read));
  CHECK_FALSE(decode(with("rows", "1x"), read));
  CHECK_FALSE(decode(std::string("end\0\0", 5), read));
  CHECK_FALSE(decode(with("cwd", "/") + "more", read));
}

TEST_CASE("every layer has a name of its own") {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kLayers; ++i) names.insert(name_of(static_cast<Layer>(i)));
  CHECK(names.size() == kLayers);
}

TEST_CASE("a path of any bytes becomes a JSON string") {
  CHECK(quoted("a\"b\\c\n") == R"("a\"b\\c\u000a")");
  CHECK(quoted("g\xc3\xbc") == "\"g\xc3\xbc\"");
  CHECK(quoted("\xff\xc3") == R"("\ufffd\ufffd")");
}

}  // namespace agentrt::launcher
