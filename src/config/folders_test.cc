// config/folders_test.cc: folders on a real disk: symlinks, missing folders, and permission to
// open them.
#include "config/folders.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>

namespace agentrt::config {
namespace {

namespace fs = std::filesystem;

constexpr schema::FolderGrant kSubmit{};
const schema::FolderGrant kApprove{.any = true, .bound = false, .folder = {}};

struct Disk {
  Disk() {
    std::string pattern = (fs::temp_directory_path() / "agentrt_folders_XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    base = fs::canonical(pattern);
    for (const char* made : {"ws/sub", "data", "config/agentrt", "granted/a", "outside/x", "home"})
      fs::create_directories(base / made);
    config.sandbox.roots = {path("granted")};
  }
  ~Disk() { fs::remove_all(base); }
  std::string path(const std::string& name) const { return base / name; }

  schema::FolderFinding judge(const schema::FolderChoice& choice,
                              const schema::FolderGrant& grant) const {
    const Environment environment = [this](std::string_view name) -> std::optional<std::string> {
      if (name == "HOME") return path("home");
      if (name == "XDG_CONFIG_HOME") return path("config");
      return std::nullopt;
    };
    return DiskFolders(config, path("ws"), path("data"), environment).judge(choice, grant);
  }
  // "ok", or the error code of the refusal.
  std::string cwd(const std::string& folder, const schema::FolderGrant& grant = kSubmit) const {
    return code(judge({.cwd = folder, .additional_roots = {}}, grant));
  }
  std::string root(const std::string& folder, const schema::FolderGrant& grant = kSubmit) const {
    return code(judge({.cwd = {}, .additional_roots = {folder}}, grant));
  }
  static std::string code(const schema::FolderFinding& finding) {
    return finding.refusal ? std::string(code_name(finding.refusal->code)) : "ok";
  }

  fs::path base;
  Config config;
};

}  // namespace

TEST_CASE("a symlink is judged by where it leads, and the session gets that place") {
  const Disk disk;
  fs::create_directory_symlink(disk.path("outside"), disk.base / "ws/out");
  fs::create_directory_symlink(disk.path("ws/sub"), disk.base / "outside/in");
  fs::create_directory_symlink("/etc", disk.base / "ws/etc");
  CHECK(disk.cwd(disk.path("ws/sub")) == "ok");
  CHECK(disk.cwd(disk.path("ws/../ws/./sub/")) == "ok");
  CHECK(disk.cwd(disk.path("ws/../outside")) == "forbidden");
  CHECK(disk.cwd(disk.path("ws/out")) == "forbidden");
  CHECK(disk.cwd(disk.path("ws/out/x")) == "forbidden");
  CHECK(disk.root(disk.path("ws/out")) == "forbidden");
  CHECK(disk.cwd(disk.path("ws/etc"), kApprove) == "forbidden");
  CHECK(disk.cwd(disk.path("outside/in")) == "ok");
  const auto found = disk.judge(
      {.cwd = disk.path("outside/in"), .additional_roots = {disk.path("ws/out")}}, kApprove);
  CHECK_FALSE(found.refusal);
  CHECK(found.folders.cwd == disk.path("ws/sub"));
  CHECK(found.folders.additional_roots == std::vector<std::string>{disk.path("outside")});
}

TEST_CASE("each folder is judged by itself, and the refusal names the one that it is about") {
  const Disk disk;
  CHECK(disk.cwd(disk.path("granted/a")) == "ok");
  CHECK(disk.cwd(disk.path("outside"), kApprove) == "ok");
  const auto found = disk.judge(
      {.cwd = disk.path("ws"), .additional_roots = {disk.path("granted"), disk.path("outside")}},
      kSubmit);
  REQUIRE(found.refusal);
  CHECK(found.refusal->code == Code::forbidden);
  CHECK(found.refusal->message.contains(disk.path("outside")));
}

TEST_CASE("a folder beside the workspace has to exist and holds nothing of the runtime's own") {
  const Disk disk;
  CHECK(disk.root(disk.path("granted/none")) == "invalid_params");
  CHECK(disk.root("relative", kApprove) == "invalid_params");
  CHECK(disk.root(std::string("/a\0b", 4), kApprove) == "invalid_params");
  CHECK(disk.root(disk.base, kApprove) == "forbidden");
  CHECK(disk.root(disk.path("data"), kApprove) == "forbidden");
  CHECK(disk.root(disk.path("config"), kApprove) == "forbidden");
  CHECK(disk.cwd(disk.path("data"), kApprove) == "forbidden");
  CHECK(disk.cwd(disk.base, kApprove) == "ok");
}

TEST_CASE("a workspace that does not exist yet is judged by the folders that do") {
  const Disk disk;
  fs::create_directory_symlink(disk.path("outside"), disk.base / "ws/out");
  CHECK(disk.cwd(disk.path("ws/new/deep")) == "ok");
  CHECK(disk.cwd(disk.path("ws/out/new")) == "forbidden");
  CHECK(disk.cwd(disk.path("outside/new")) == "forbidden");
}

TEST_CASE("a token of one session gets its folder where it names none") {
  const Disk disk;
  const schema::FolderGrant bound{.any = false, .bound = true, .folder = disk.path("outside/x")};
  const auto found = disk.judge({}, bound);
  CHECK_FALSE(found.refusal);
  CHECK(found.folders.cwd == disk.path("outside/x"));
  CHECK(disk.cwd(disk.path("ws"), bound) == "forbidden");
  CHECK(disk.root(disk.path("ws"), bound) == "forbidden");
}

TEST_CASE("a configured folder that is replaced by a symlink later grants nothing more") {
  Disk disk;
  const Environment none = [](std::string_view) { return std::optional<std::string>(); };
  DiskFolders folders(disk.config, disk.path("ws"), disk.path("data"), none);
  fs::rename(disk.base / "granted", disk.base / "moved");
  fs::create_directory_symlink(disk.path("outside"), disk.base / "granted");
  const auto judged = [&](const std::string& name) {
    return Disk::code(folders.judge({.cwd = disk.path(name), .additional_roots = {}}, kSubmit));
  };
  CHECK(judged("granted") == "forbidden");
  CHECK(judged("outside") == "forbidden");
}

}  // namespace agentrt::config
