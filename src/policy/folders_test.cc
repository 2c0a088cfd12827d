// policy/folders_test.cc: tests which folders a client may open, and the messages of refusals.
#include "policy/folders.h"

#include <doctest/doctest.h>

namespace agentrt::policy {
namespace {

using schema::FolderGrant;

constexpr FolderGrant kSubmit{};
const FolderGrant kApprove{.any = true, .bound = false, .folder = {}};

FolderRules usual() {
  return {.workspace = "/home/ann/work",
          .granted = {"/home/ann/projects"},
          .managed = {"/usr/share/data"},
          .own = {"/home/ann/.local/share/agentrt", "/home/ann/.config/agentrt"},
          .homes = {"/home/ann"},
          .other_homes = {"/home/bob", "/root"}};
}

// "ok", or the error code.
std::string said(const FolderRules& rules, const FolderGrant& grant, const std::string& path,
                 FolderUse use = FolderUse::workspace) {
  const auto error = refused_folder(rules, grant, {use, path, path});
  if (!error) return "ok";
  CHECK(error->message.contains(path));
  return std::string(code_name(error->code));
}

}  // namespace

TEST_CASE("without scope approve there are the daemon's workspace and the configured roots") {
  for (const char* path : {"/home/ann/work", "/home/ann/work/sub", "/home/ann/projects",
                           "/home/ann/projects/a/b", "/usr/share/data/x"})
    CHECK_MESSAGE(said(usual(), kSubmit, path) == "ok", path);
  for (const char* path : {"/home/ann", "/home/ann/workshop", "/home/ann/other", "/tmp/x",
                           "/home/ann/projects2", "/srv", "/opt/x", "/mnt"})
    for (const FolderUse use : {FolderUse::workspace, FolderUse::additional})
      CHECK_MESSAGE(said(usual(), kSubmit, path, use) == "forbidden", path);
}

TEST_CASE("scope approve opens every folder but those of the system and of other users") {
  for (const char* path : {"/home/ann/other", "/tmp/x", "/srv/docs", "/opt/x", "/dev/shm/x",
                           "/var/tmp/x", "/home/ann"})
    CHECK_MESSAGE(said(usual(), kApprove, path) == "ok", path);
  for (const char* path :
       {"/",     "/etc",       "/etc/cron.d", "/usr",      "/usr/local",  "/usr/share",
        "/bin",  "/sbin",      "/lib",        "/lib64",    "/boot",       "/dev",
        "/proc", "/proc/self", "/sys",        "/run",      "/var",        "/var/spool/cron",
        "/root", "/root/x",    "/home",       "/home/bob", "/home/bob/x", "/dev/shmx"})
    for (const FolderUse use : {FolderUse::workspace, FolderUse::additional})
      CHECK_MESSAGE(said(usual(), kApprove, path, use) == "forbidden", path);
}

TEST_CASE("the managed configuration alone opens folders of the system") {
  CHECK(said(usual(), kApprove, "/usr/share/data") == "ok");
  FolderRules rules = usual();
  rules.granted = {"/etc", "/"};
  CHECK(said(rules, kSubmit, "/etc") == "forbidden");
  CHECK(said(rules, kApprove, "/etc/x") == "forbidden");
  rules.managed = {"/etc"};
  CHECK(said(rules, kSubmit, "/etc/x") == "ok");
}

TEST_CASE("a daemon that was started in a folder of the system has it, one in / has nothing") {
  FolderRules rules = usual();
  rules.workspace = "/etc/nixos";
  CHECK(said(rules, kSubmit, "/etc/nixos/x") == "ok");
  CHECK(said(rules, kSubmit, "/etc") == "forbidden");
  rules.workspace = "/";
  for (const char* path : {"/", "/etc", "/srv"}) CHECK(said(rules, kSubmit, path) == "forbidden");
}

TEST_CASE("a home below a folder of the system is its user's") {
  FolderRules rules = usual();
  rules.homes = {"/var/lib/agent"};
  CHECK(said(rules, kApprove, "/var/lib/agent/work") == "ok");
  CHECK(said(rules, kApprove, "/var/lib/other") == "forbidden");
  rules.homes = {"/root"};
  rules.other_homes = {"/home/bob"};
  CHECK(said(rules, kApprove, "/root/x") == "ok");
  for (const char* home : {"/", "/etc", "/usr"}) {  // of services without a home folder
    rules.homes = {home};
    CHECK(said(rules, kApprove, "/etc") == "forbidden");
    CHECK(said(rules, kApprove, "/usr/bin") == "forbidden");
  }
}

TEST_CASE("the runtime's own folders are never opened, nor given beside a workspace") {
  for (const FolderGrant& grant : {kSubmit, kApprove})
    for (const FolderUse use : {FolderUse::workspace, FolderUse::additional})
      for (const char* path : {"/home/ann/.local/share/agentrt", "/home/ann/.config/agentrt/x"})
        CHECK_MESSAGE(said(usual(), grant, path, use) == "forbidden", path);
  for (const char* path : {"/home/ann", "/home/ann/.config", "/home/ann/.local/share"}) {
    CHECK_MESSAGE(said(usual(), kApprove, path, FolderUse::additional) == "forbidden", path);
    CHECK_MESSAGE(said(usual(), kApprove, path, FolderUse::workspace) == "ok", path);
  }
}

TEST_CASE("a token of one session opens one folder") {
  for (const bool approves : {false, true}) {
    FolderGrant bound{.any = approves, .bound = true, .folder = {}};
    CHECK(said(usual(), bound, "/home/ann/work") == "ok");
    CHECK(said(usual(), bound, "/home/ann/work/sub") == "forbidden");
    CHECK(said(usual(), bound, "/home/ann/projects/a") == "forbidden");
    CHECK(said(usual(), bound, "/home/ann/work", FolderUse::additional) == "forbidden");
    bound.folder = "/srv/docs";
    CHECK(said(usual(), bound, "/srv/docs") == "ok");
    CHECK(said(usual(), bound, "/srv/docs/sub") == "forbidden");
    CHECK(said(usual(), bound, "/home/ann/work") == "forbidden");
    bound.folder = "/etc";
    CHECK(said(usual(), bound, "/etc") == "forbidden");
  }
}

TEST_CASE("a path that is none is refused with the member that holds it") {
  const std::string nul("/a\0b", 4);
  CHECK(wrong_folder("cwd", "x")->message == "cwd: expected an absolute path");
  CHECK(wrong_folder("cwd", "")->message == "cwd: expected an absolute path");
  CHECK(wrong_folder("cwd", nul)->code == Code::invalid_params);
  CHECK(wrong_folder("cwd", nul)->message.contains("NUL"));
  CHECK(wrong_folder("cwd", "/" + std::string(schema::kFolderBytesMax, 'a')).has_value());
  CHECK_FALSE(wrong_folder("cwd", "/a").has_value());
  CHECK(wrong_folders("options.", {.cwd = {}, .additional_roots = {"/a", "b"}})->message ==
        "options.additionalRoots[1]: expected an absolute path");
  schema::FolderChoice many;
  many.additional_roots.assign(schema::kAdditionalRootsMax + 1, "/a");
  CHECK(wrong_folders("", many)->message.contains("at most 64"));
}

TEST_CASE("homes are those of people, as /etc/passwd has them") {
  constexpr std::string_view kPasswd =
      "root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1::/usr/sbin:/usr/sbin/nologin\n"
      "www-data:x:33:33::/var/www:/x\nann:x:1000:1000:Ann:/home/ann:/bin/sh\n"
      "bob:x:1001:1001::/home/bob:/bin/sh\nnobody:x:65534:65534::/nonexistent:/x\n"
      "broken\nodd:x:x:1::/home/odd:\nslash:x:1002:1::/:/bin/sh\nlast:x:1003:1::/home/last:/x";
  CHECK(homes_of_others(kPasswd, 1000) ==
        std::vector<std::string>{"/root", "/home/bob", "/home/last"});
  CHECK(homes_of_others(kPasswd, 0) ==
        std::vector<std::string>{"/home/ann", "/home/bob", "/home/last"});
  CHECK(home_of(kPasswd, 1000) == "/home/ann");
  CHECK_FALSE(home_of(kPasswd, 4711).has_value());
}

}  // namespace agentrt::policy
