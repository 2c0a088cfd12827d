// adapters/tools/escape_test.cc: tests that paths cannot escape the workspace, each with its error,
// and near misses that must work; as root and as an ordinary user.
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include <atomic>
#include <thread>

#include "adapters/tools/beneath.h"
#include "adapters/tools/testing/file_tools_fixture.h"

namespace agentrt::adapters::tools {
namespace {

struct Try {
  std::string path;
  std::string expected;  // prefix of the answer
};

// A workspace that contains every kind of link out of it.
struct Doors : FileKit {
  Doors() {
    put("secret.txt", "SECRET\n");
    put("ws-evil/secret.txt", "SECRET\n");
    put("ws/sub/a.txt", "inside\n");
    link("../secret.txt", "ws/out");
    link((base / "secret.txt").string(), "ws/out_absolute");
    link("chain2", "ws/chain1");
    link("chain3", "ws/chain2");
    link("../secret.txt", "ws/chain3");
    link("..", "ws/up");
    link("/", "ws/slash");
    link("/proc/self/root", "ws/magic");
    link("loop", "ws/loop");
    link("sub/a.txt", "ws/in");
    link((base / "ws/sub/a.txt").string(), "ws/in_absolute");
    link("sub/../sub", "ws/in_folder");
    link("nowhere", "ws/dangling");
    REQUIRE(::mkfifo((base / "ws/fifo").c_str(), 0666) == 0);
    const Descriptor socket{::socket(AF_UNIX, SOCK_STREAM, 0)};
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    (base / "ws/socket").string().copy(address.sun_path, sizeof(address.sun_path) - 1);
    REQUIRE(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
    if (::geteuid() == 0) {
      REQUIRE(::mknod((base / "ws/device").c_str(), S_IFCHR | 0666, makedev(1, 5)) == 0);
      for (const char* folder : {"ws", "ws/sub"})
        REQUIRE(::chown((base / folder).c_str(), AsOrdinaryUser::kUser, AsOrdinaryUser::kUser) ==
                0);
    } else {
      link("/dev/zero", "ws/device");
    }
  }

  std::vector<Try> tries() const {
    const std::string root = base.string();
    return {
        {"../secret.txt", "denied"},
        {"sub/../../secret.txt", "denied"},
        {root + "/ws/../secret.txt", "denied"},
        {root + "/secret.txt", "denied"},
        {root + "/ws-evil/secret.txt", "denied"},
        {"../ws-evil/secret.txt", "denied"},
        {"/etc/passwd", "denied"},
        {"//etc/passwd", "denied"},
        {"out", "denied"},
        {"out_absolute", "denied"},
        {"chain1", "denied"},
        {"up/secret.txt", "denied"},
        {"up/ws-evil/secret.txt", "denied"},
        {"slash/etc/passwd", "denied"},
        {"magic/etc/passwd", "denied"},
        {"/proc/self/root/etc/passwd", "denied"},
        {"/proc/self/cwd/x", "denied"},
        {"loop", "denied"},
        {"fifo", "denied"},
        {"socket", "denied"},
        {"device", "denied"},
        {std::string("sub/a.txt\0/../../secret.txt", 27), "invalid_input"},
        {std::string(300, 'n'), "invalid_input"},
        {std::string(5'000, 'n'), "invalid_input"},
        {"~/x", "invalid_input"},
        {"sub", "invalid_input"},
        {"sub/", "invalid_input"},
        {"", "invalid_input"},
        {".", "invalid_input"},
        {"sub/a.txt/b", "not_found"},
        {"secret.txt", "not_found"},
    };
  }
};

void check_doors(Doors& doors) {
  const std::string before = doors.get("secret.txt") + doors.get("ws-evil/secret.txt");
  for (const Try& each : doors.tries()) {
    CAPTURE(each.path);
    const std::string read = doors.read(each.path);
    CHECK_MESSAGE(read.starts_with(each.expected + ":"), read);
    CHECK_FALSE(read.contains("SECRET"));
    if (each.expected == "not_found") continue;  // a new file may be created there
    const std::string written = doors.write(each.path, "mine\n");
    CHECK_MESSAGE(written.starts_with(each.expected + ":"), written);
    const std::string edited = doors.edit(each.path, "SECRET", "mine");
    CHECK_MESSAGE(edited.starts_with(each.expected + ":"), edited);
    const std::string searched = doors.said(
        "search_files", fmt::format(R"({{"pattern":"SECRET","path":{}}})", json_of(each.path)));
    CHECK_FALSE_MESSAGE(searched.contains("SECRET"), searched);
  }
  CHECK(doors.write("dangling", "x").starts_with("denied:"));
  CHECK_FALSE(fs::exists(doors.base / "ws/nowhere"));
  CHECK(doors.get("secret.txt") + doors.get("ws-evil/secret.txt") == before);
}

void check_near_misses(Doors& doors) {
  for (const std::string& path :
       {std::string("sub/a.txt"), std::string("./sub//a.txt"), std::string("sub/../sub/a.txt"),
        std::string("in"), std::string("in_absolute"), std::string("in_folder/a.txt"),
        doors.ws() + "/sub/a.txt", doors.ws() + "//./sub/a.txt", std::string("../ws/sub/a.txt")}) {
    CAPTURE(path);
    CHECK(doors.read(path) == "     1\tinside\n");
  }
}

}  // namespace

TEST_CASE("no path leads a file tool out of the workspace") {
  Doors doors;
  check_doors(doors);
  check_near_misses(doors);
}

TEST_CASE("no path leads a file tool of an ordinary user out of the workspace") {
  Doors doors;
  const AsOrdinaryUser user;
  check_doors(doors);
  check_near_misses(doors);
}

TEST_CASE("what the system does not let a user open is refused") {
  FileKit kit;
  kit.put("ws/closed.txt", "closed");
  fs::permissions(kit.base / "ws/closed.txt", fs::perms::none);
  const AsOrdinaryUser user;
  CHECK(kit.read("closed.txt").starts_with("denied: closed.txt cannot be read"));
  CHECK(kit.write("new.txt", "x").starts_with("denied:"));
  CHECK(kit.get("ws/closed.txt").empty());
}

TEST_CASE("a link is followed to the file it stands for, and stays a link when that changes") {
  FileKit kit;
  kit.put("ws/sub/a.txt", "one\n");
  kit.link("sub/a.txt", "ws/link");
  const auto heard = kit.call("write_file", R"({"path":"link","content":"two\n"})");
  CHECK(heard->said() == "Changed sub/a.txt (+1 -1).");
  CHECK(heard->change->path == kit.ws() + "/sub/a.txt");
  CHECK(fs::is_symlink(kit.base / "ws/link"));
  CHECK(kit.get("ws/sub/a.txt") == "two\n");
}

TEST_CASE("additional folders are reached by absolute paths, each on its own") {
  FileKit kit;
  kit.put("more/b.txt", "more\n");
  kit.link("../more/b.txt", "ws/across");
  kit.request.additional_roots = {(kit.base / "more").string()};
  CHECK(kit.read((kit.base / "more/b.txt").string()) == "     1\tmore\n");
  CHECK(kit.read("across").starts_with("denied:"));
  CHECK(kit.read("../more/b.txt").starts_with("denied:"));
  CHECK(kit.write((kit.base / "more/c.txt").string(), "c").starts_with("Created /"));
}

TEST_CASE("a workspace that is named by a link is the folder behind it") {
  FileKit kit;
  kit.put("ws/secrets/a.txt", "hidden\n");
  kit.put("ws/b.txt", "b\n");
  kit.link("ws", "alias");
  const std::string alias = (kit.base / "alias").string();
  kit.request.workspace = alias;
  kit.request.refused = [&](const std::string& path) -> std::optional<schema::Failure> {
    if (!path.starts_with(alias + "/secrets")) return std::nullopt;
    return schema::Failure{schema::Category::denied, "a rule", false};
  };
  CHECK(kit.read("b.txt") == "     1\tb\n");
  CHECK(kit.read(alias + "/b.txt") == "     1\tb\n");
  CHECK(kit.read(kit.ws() + "/b.txt") == "     1\tb\n");
  CHECK(kit.read("secrets/a.txt") == "denied: a rule");
}

TEST_CASE("a folder that is swapped for a link while calls run does not lead outside") {
  FileKit kit;
  kit.put("outside/a.txt", "SECRET\n");
  kit.put("ws/door/a.txt", "inside\n");
  kit.link("../outside", "ws/trap");
  std::atomic<bool> over = false;
  std::thread swapper([&] {
    const std::string door = kit.ws() + "/door", trap = kit.ws() + "/trap";
    while (!over)
      ::syscall(SYS_renameat2, AT_FDCWD, door.c_str(), AT_FDCWD, trap.c_str(), RENAME_EXCHANGE);
  });
  int inside = 0, refused = 0, changed = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(700);
  for (int i = 0; std::chrono::steady_clock::now() < end; ++i) {
    const std::string read = kit.read("door/a.txt");
    CHECK_FALSE(read.contains("SECRET"));
    (read.starts_with("denied") ? refused : inside) += 1;
    changed += kit.write("door/a.txt", fmt::format("inside {}\n", i)).starts_with("Changed");
    (void)kit.write(fmt::format("door/new{}.txt", i % 50), fmt::format("{}\n", i));
    CHECK_FALSE(kit.said("search_files", R"({"pattern":"."})").contains("SECRET"));
  }
  over = true;
  swapper.join();
  MESSAGE("read ", inside, ", refused ", refused, ", changed ", changed);
  CHECK(inside > 0);
  CHECK(refused > 0);
  CHECK(changed > 0);
  CHECK(kit.get("outside/a.txt") == "SECRET\n");
  CHECK(kit.entries("outside") == 1);
}

}  // namespace agentrt::adapters::tools
