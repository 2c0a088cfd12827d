// adapters/tools/identity_test.cc: tests that file tools of a root daemon have only the rights of a
// command, while the daemon's other threads keep theirs. Tests nothing unless run as root.
#include <fcntl.h>
#include <sys/fsuid.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "adapters/files/acting_as.h"
#include "adapters/files/workspace.h"
#include "adapters/tools/beneath.h"
#include "adapters/tools/testing/file_tools_fixture.h"

namespace agentrt::adapters::tools {
namespace {

constexpr uid_t kOwner = 1234, kOther = 1235;

bool is_root() { return ::geteuid() == 0; }

// A workspace owned by kOwner, with files of three users.
struct OwnedKit : FileKit {
  OwnedKit() {
    put("ws/own.txt", "own\n");
    put("ws/other.txt", "other\n");
    put("ws/root.txt", "root\n");
    put("ws/shared.txt", "shared\n");
    put("ws/closed/deep.txt", "deep\n");
    if (!is_root()) return;
    own("ws", kOwner, 0755);
    own("ws/own.txt", kOwner, 0600);
    own("ws/other.txt", kOther, 0600);
    own("ws/root.txt", 0, 0600);
    own("ws/shared.txt", kOther, 0644);
    own("ws/closed", 0, 0700);
  }
  void own(const std::string& path, uid_t user, mode_t mode) const {
    REQUIRE(::chown((base / path).c_str(), user, user) == 0);
    REQUIRE(::chmod((base / path).c_str(), mode) == 0);
  }
};

}  // namespace

TEST_CASE("a file that a command could not read is not read") {
  if (!is_root()) return;
  OwnedKit kit;
  CHECK(kit.read("own.txt").contains("own"));
  CHECK(kit.read("shared.txt").contains("shared"));
  for (const char* path : {"other.txt", "root.txt", "closed/deep.txt"})
    CHECK_MESSAGE(kit.read(path).starts_with("denied:"), path);
  CHECK_FALSE(kit.said("list_files", R"({"path":"closed"})").contains("deep.txt"));
  const std::string found = kit.said("search_files", R"({"pattern":"o"})");
  CHECK(found.contains("own.txt"));
  for (const char* path : {"other.txt", "root.txt", "deep.txt"})
    CHECK_FALSE_MESSAGE(found.contains(std::string(path) + ":"), path);
}

TEST_CASE("a file that a command could not change is not changed") {
  if (!is_root()) return;
  OwnedKit kit;
  CHECK(kit.write("own.txt", "mine\n").starts_with("Changed"));
  CHECK(kit.write("new/file.txt", "new\n").starts_with("Created"));
  for (const char* path : {"other.txt", "root.txt", "shared.txt", "closed/new.txt"})
    CHECK_MESSAGE(kit.write(path, "taken\n").starts_with("denied:"), path);
  CHECK(kit.edit("shared.txt", "shared", "taken").starts_with("denied:"));
  for (const char* path : {"ws/own.txt", "ws/new", "ws/new/file.txt"}) {
    struct stat about{};
    REQUIRE(::stat((kit.base / path).c_str(), &about) == 0);
    CHECK(about.st_uid == kOwner);
    CHECK(about.st_gid == kOwner);
  }
  CHECK(kit.get("ws/root.txt") == "root\n");
}

TEST_CASE("in a workspace of root its files are read, and those of others by their mode") {
  if (!is_root()) return;
  OwnedKit kit;
  kit.own("ws", 0, 0755);
  CHECK(kit.read("root.txt").contains("root"));
  CHECK(kit.read("closed/deep.txt").contains("deep"));
  CHECK(kit.read("shared.txt").contains("shared"));
  CHECK(kit.read("other.txt").starts_with("denied:"));
  CHECK(kit.read("own.txt").starts_with("denied:"));
}

TEST_CASE("each root has the rights of its own owner, and lies where only the daemon may go") {
  if (!is_root()) return;
  OwnedKit kit;
  kit.put("beside/other.txt", "other\n");
  kit.own("beside", kOther, 0700);
  kit.own("beside/other.txt", kOther, 0600);
  kit.own(".", 0, 0700);
  kit.request.additional_roots = {kit.base / "beside"};
  CHECK(kit.read((kit.base / "beside/other.txt").string()).contains("other"));
  CHECK(kit.read("own.txt").contains("own"));
  CHECK(kit.read("other.txt").starts_with("denied:"));
}

TEST_CASE("in full_access there is root without its power over others' files") {
  if (!is_root()) return;
  OwnedKit kit;
  kit.request.sandbox = schema::SandboxMode::full_access;
  CHECK(kit.read("root.txt").contains("root"));
  CHECK(kit.read("other.txt").starts_with("denied:"));
}

TEST_CASE("a file that is given with a question is read with the same rights") {
  if (!is_root()) return;
  OwnedKit kit;
  DiskWorkspace workspace;
  CHECK(workspace.given_file(kit.ws(), "own.txt").text == "own\n");
  CHECK(workspace.given_file(kit.ws(), "root.txt").ref.reason.has_value());
  CHECK(workspace.given_file(kit.ws(), "other.txt").ref.reason.has_value());
}

TEST_CASE("the rights are those of one thread, and come back") {
  if (!is_root()) return;
  OwnedKit kit;
  const std::string secret = kit.base / "ws/other.txt";
  {
    const ActingAs acting({kOwner, kOwner});
    CHECK(acting.in_force());
    CHECK(::access("/proc/self/fd", F_OK) == 0);
    Descriptor refused{::open(secret.c_str(), O_RDONLY | O_CLOEXEC)};
    CHECK_FALSE(refused);
    CHECK(errno == EACCES);
    bool opened_elsewhere = false;
    std::thread([&] {
      Descriptor file{::open(secret.c_str(), O_RDONLY | O_CLOEXEC)};
      opened_elsewhere = static_cast<bool>(file);
    }).join();
    CHECK_FALSE(opened_elsewhere);  // a new thread inherits its creator's identity
  }
  Descriptor again{::open(secret.c_str(), O_RDONLY | O_CLOEXEC)};
  CHECK(again);
  CHECK(::setfsuid(0) == 0);
  CHECK(::setfsgid(0) == 0);
}

TEST_CASE("another thread keeps its rights meanwhile") {
  if (!is_root()) return;
  OwnedKit kit;
  const std::string secret = kit.base / "ws/other.txt";
  std::atomic<bool> acting_now = false, looked = false;
  bool opened = false;
  std::thread other([&] {
    while (!acting_now) std::this_thread::yield();
    Descriptor file{::open(secret.c_str(), O_RDONLY | O_CLOEXEC)};
    opened = static_cast<bool>(file);
    looked = true;
  });
  {
    const ActingAs acting({kOwner, kOwner});
    acting_now = true;
    while (!looked) std::this_thread::yield();
  }
  other.join();
  CHECK(opened);
}

}  // namespace agentrt::adapters::tools
