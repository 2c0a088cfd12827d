// adapters/process/cgroup_test.cc: tests that locate this process in the machine's cgroups.
#include "adapters/process/cgroup.h"

#include <doctest/doctest.h>

#include <filesystem>

namespace agentrt::adapters {

TEST_CASE("version 1 has one folder for processes and one for memory") {
  const auto places = cgroup_places(
      "5:pids:/\n4:memory:/jobs/7\n3:cpu,cpuacct:/\n0::/\n",
      "36 31 0:33 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
      "37 31 0:34 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
      "38 31 0:35 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
      "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:1 - cgroup2 cgroup2 rw\n");
  CHECK(places.legacy ==
        std::vector<std::string>{"/sys/fs/cgroup/pids", "/sys/fs/cgroup/memory/jobs/7"});
  CHECK(places.unified == "/sys/fs/cgroup/unified");
}

TEST_CASE("version 2 has one, looked for from our own upwards") {
  const auto places =
      cgroup_places("0::/user.slice/user-1000.slice/user@1000.service/app.slice/x.scope\n",
                    "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n"
                    "31 23 0:27 / /tmp rw - tmpfs tmpfs rw\n");
  CHECK(places.legacy.empty());
  CHECK(places.unified ==
        "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice/x.scope");
  CHECK(places.unified_top == "/sys/fs/cgroup");
}

TEST_CASE("a mount that shows a part of the tree shows it from there") {
  const auto places =
      cgroup_places("4:memory:/docker/abc/inner\n",
                    "36 31 0:33 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  CHECK(places.legacy == std::vector<std::string>{"/sys/fs/cgroup/memory/inner"});
}

TEST_CASE("a folder counts once, however many ways lead to it") {
  const std::filesystem::path base = std::filesystem::temp_directory_path();
  const std::string one = base.string(), two = (base / ".." / base.filename()).string();
  CHECK(each_once({one, two, "/", one + "/.", "/nowhere"}) == std::vector<std::string>{one, "/"});
}

TEST_CASE("texts that say nothing give nothing") {
  const auto places = cgroup_places("\nnonsense\n1:2\n", "one two\n\n");
  CHECK(places.legacy.empty());
  CHECK(places.unified.empty());
}

}  // namespace agentrt::adapters
