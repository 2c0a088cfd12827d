// adapters/tools/change_test.cc: tests what write_file and edit_file leave on disk when a crash
// interrupts them at any point.
#include "adapters/tools/change.h"

#include "adapters/tools/testing/file_tools_fixture.h"
#include "base/digest.h"

namespace agentrt::adapters::tools {
namespace {

struct stat about(const fs::path& path) {
  struct stat out{};
  REQUIRE(::lstat(path.c_str(), &out) == 0);
  return out;
}

}  // namespace

TEST_CASE("what would be refused is known beforehand, and nothing is touched") {
  FileKit kit;
  kit.put("ws/a.txt", "one\ntwo\n");
  kit.put("ws/kept/b.txt", "b\n");
  kit.profile.protected_paths = {kit.ws() + "/kept"};
  const auto objection = [&](const std::string& tool, const std::string& args, ports::Sight sight) {
    kit.request.tool = tool;
    kit.request.args = {args};
    const auto found = kit.tools.objection(kit.request, sight);
    return found ? std::string(schema::name_of(found->category)) : "none";
  };
  struct Expected {
    std::string tool, args, by_file, by_path;
  };
  const std::vector<Expected> all = {
      {"edit_file", R"({"path":"a.txt","oldText":"two","newText":"2"})", "none", "none"},
      {"edit_file", R"({"path":"a.txt","oldText":"six","newText":"2"})", "invalid_input", "none"},
      {"edit_file", R"({"path":"no.txt","oldText":"two","newText":"2"})", "not_found", "none"},
      {"write_file", R"({"path":"kept/b.txt","content":"x"})", "denied", "none"},
      {"write_file", R"({"path":"new/c.txt","content":"x"})", "none", "none"},
      {"write_file", R"({"path":"/etc/passwd","content":"x"})", "denied", "denied"},
      {"read_file", R"({"path":"/etc/passwd"})", "denied", "denied"},
      {"read_file", R"({"path":"output:out_1"})", "none", "none"},
      {"search_files", R"({"pattern":"x"})", "none", "none"}};
  for (const Expected& each : all) {
    CAPTURE(each.args);
    CHECK(objection(each.tool, each.args, ports::Sight::file) == each.by_file);
    CHECK(objection(each.tool, each.args, ports::Sight::path) == each.by_path);
  }
  CHECK(kit.get("ws/a.txt") == "one\ntwo\n");
  CHECK(kit.entries("ws") == 2);
  CHECK(kit.kept.all.empty());
}

TEST_CASE("a change is announced with its diff, and made when it is released") {
  FileKit kit;
  kit.put("ws/a.txt", "one\ntwo\n");
  const auto heard = kit.start("edit_file", R"({"path":"a.txt","oldText":"two","newText":"2\n3"})");
  REQUIRE(heard->change);
  schema::FileChange expected{.path = kit.ws() + "/a.txt",
                              .kind = schema::FileChangeKind::update,
                              .before = digest_of("one\ntwo\n"),
                              .after = digest_of("one\n2\n3\n"),
                              .lines_added = 2,
                              .lines_removed = 1,
                              .diff_ref = "out_1"};
  CHECK(*heard->change == expected);
  CHECK(heard->diff->media_type == "text/x-diff");
  CHECK(kit.kept.all["out_1"] ==
        "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n"
        "@@ -1,2 +1,3 @@\n one\n-two\n+2\n+3\n");
  CHECK_FALSE(heard->end);
  CHECK(kit.get("ws/a.txt") == "one\ntwo\n");
  CHECK(kit.entries("ws") == 1);
  kit.tools.release(kit.request.call);
  kit.loop.run();
  CHECK(heard->said() == "Changed a.txt (+2 -1).");
  CHECK(kit.get("ws/a.txt") == "one\n2\n3\n");
  CHECK(kit.entries("ws") == 1);
}

TEST_CASE("a new file is made with the folders that lead to it, for the owner of the folder") {
  FileKit kit;
  if (::geteuid() == 0)
    REQUIRE(::chown(kit.ws().c_str(), AsOrdinaryUser::kUser, AsOrdinaryUser::kUser) == 0);
  const auto heard = kit.start("write_file", R"({"path":"x/y/z.txt","content":"new\n"})");
  REQUIRE(heard->change);
  CHECK(heard->change->kind == schema::FileChangeKind::create);
  CHECK_FALSE(heard->change->before);
  CHECK(kit.entries("ws") == 0);  // nothing is written before the change is stored
  kit.tools.release(kit.request.call);
  kit.loop.run();
  CHECK(heard->said() == "Created x/y/z.txt (+1).");
  CHECK(kit.get("ws/x/y/z.txt") == "new\n");
  const auto owner = about(kit.ws()).st_uid;
  for (const char* path : {"ws/x", "ws/x/y", "ws/x/y/z.txt"})
    CHECK(about(kit.base / path).st_uid == owner);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  CHECK((about(kit.base / "ws/x/y/z.txt").st_mode & 0777) == (0644 & ~mask));
}

TEST_CASE("mode and owner of a file stay, and other names of it keep their bytes") {
  FileKit kit;
  kit.put("ws/run.sh", "old\n");
  fs::permissions(kit.base / "ws/run.sh", fs::perms(0751));
  if (::geteuid() == 0)
    for (const char* path : {"ws", "ws/run.sh"})
      REQUIRE(::chown((kit.base / path).c_str(), 1234, 4321) == 0);
  fs::create_hard_link(kit.base / "ws/run.sh", kit.base / "other");
  const auto before = about(kit.base / "ws/run.sh");
  CHECK(kit.write("run.sh", "new\n") == "Changed run.sh (+1 -1).");
  const auto after = about(kit.base / "ws/run.sh");
  CHECK(after.st_mode == before.st_mode);
  CHECK(after.st_uid == before.st_uid);
  CHECK(after.st_gid == before.st_gid);
  CHECK(after.st_ino != before.st_ino);
  CHECK(kit.get("other") == "old\n");
}

TEST_CASE("a read-only file is not changed") {
  FileKit kit;
  kit.put("ws/a.txt", "one\n");
  fs::permissions(kit.base / "ws/a.txt", fs::perms(0444));
  CHECK(kit.write("a.txt", "two\n") == "denied: a.txt is read-only (mode 444).");
  fs::permissions(kit.base / "ws/a.txt", fs::perms(0644));
  const AsOrdinaryUser user;
  if (::geteuid() == AsOrdinaryUser::kUser)
    CHECK(kit.write("a.txt", "two\n") == "denied: a.txt is read-only (mode 644).");
  CHECK(kit.get("ws/a.txt") == "one\n");
}

TEST_CASE("a file that changes between announcement and release is left alone") {
  FileKit kit;
  kit.put("ws/a.txt", "one\n");
  auto heard = kit.start("write_file", R"({"path":"a.txt","content":"two\n"})");
  SUBCASE("changed") { kit.put("ws/a.txt", "theirs\n"); }
  SUBCASE("removed") { fs::remove(kit.base / "ws/a.txt"); }
  SUBCASE("made") {
    heard = kit.start("write_file", R"({"path":"b.txt","content":"two\n"})");
    kit.put("ws/b.txt", "theirs\n");
  }
  SUBCASE("a link") {
    fs::remove(kit.base / "ws/a.txt");
    kit.put("outside", "one\n");
    kit.link("../outside", "ws/a.txt");
  }
  SUBCASE("another folder") {
    heard = kit.start("write_file", R"({"path":"sub/b.txt","content":"two\n"})");
    kit.put("outside/b.txt", "theirs\n");
    kit.link("../outside", "ws/sub");
  }
  kit.tools.release(kit.request.call);
  kit.loop.run();
  REQUIRE(heard->end);
  CHECK(heard->end->failure);
  for (const auto& entry : fs::recursive_directory_iterator(kit.base))
    if (entry.is_regular_file()) {
      std::ifstream in(entry.path());
      std::string text;
      std::getline(in, text);
      CHECK(text != "two");
    }
}

TEST_CASE("a call that an earlier boot announced is finished, whichever instant cut it off") {
  FileKit kit;
  std::string path = "a.txt";
  SUBCASE("a present file") { kit.put("ws/a.txt", "one\n"); }
  SUBCASE("a new file") {}
  SUBCASE("a new file in a new folder") { path = "x/y/a.txt"; }
  const std::string args = fmt::format(R"({{"path":"{}","content":"two\n"}})", path);
  const auto first = kit.start("write_file", args);
  REQUIRE(first->change);
  kit.request.announced = first->change;
  const int calls = kit.calls;
  const auto again = [&] {
    kit.tools.stop();       // simulates another boot
    kit.calls = calls - 1;  // repeats the same call
    return kit.call("write_file", args);
  };
  const auto state = [&] { return kit.get("ws/" + path); };

  // Crash before the rename: the call's own partial temporary file is still there.
  std::optional<StagedFile> cut_off;
  {
    const auto grounds = Grounds::open(kit.request, kit.profile);
    auto staged = stage(*grounds, agentrt::tools::WriteFileArgs{path, "tw"}, nullptr);
    REQUIRE(staged);
    auto file = StagedFile::write(*grounds, *staged, kit.request.call);
    REQUIRE(file);
    cut_off.emplace(*std::move(file));
  }
  auto heard = again();
  CHECK_FALSE(heard->change);  // already announced
  CHECK(heard->said().contains("a.txt (+1"));
  CHECK(state() == "two\n");
  CHECK(kit.entries(fs::path("ws/" + path).parent_path()) == 1);

  // Crash after the rename.
  heard = again();
  CHECK_FALSE(heard->change);
  CHECK(heard->said().contains("a.txt (+1"));
  CHECK(state() == "two\n");

  // Another program changed the file.
  kit.put("ws/" + path, "theirs\n");
  heard = again();
  CHECK(heard->said().starts_with("lost: "));
  CHECK(state() == "theirs\n");
}

TEST_CASE("an announced edit is made once, however often it is checked") {
  FileKit kit;
  kit.put("ws/a.txt", "x\n");
  const std::string args = R"({"path":"a.txt","oldText":"x","newText":"xx"})";
  const auto first = kit.start("edit_file", args);
  kit.request.announced = first->change;
  for (int i = 0; i < 3; ++i) {
    CHECK(kit.said("edit_file", args) == "Changed a.txt (+1 -1).");
    CHECK(kit.get("ws/a.txt") == "xx\n");
  }
}

TEST_CASE("what is dropped before it is put in place leaves nothing behind") {
  FileKit kit;
  kit.put("ws/a.txt", "one\n");
  kit.request.call = ToolCallId{"call_x"};
  const auto grounds = Grounds::open(kit.request, kit.profile);
  auto staged = stage(*grounds, agentrt::tools::WriteFileArgs{"a.txt", "two\n"}, nullptr);
  REQUIRE(staged);
  {
    const auto file = StagedFile::write(*grounds, *staged, kit.request.call);
    REQUIRE(file);
    CHECK(kit.entries("ws") == 2);
  }
  CHECK(kit.entries("ws") == 1);
  CHECK(kit.get("ws/a.txt") == "one\n");
}

TEST_CASE("hidden, protected and refused places are not changed") {
  FileKit kit;
  kit.put("ws/hidden/key", "k\n");
  kit.put("hooks/pre-commit", "h\n");
  fs::create_directories(kit.base / "ws/.git");
  fs::create_directories(kit.base / "ws/hooks");
  kit.link("../hooks", "ws/.git/hooks");
  kit.profile.hidden_paths = {kit.ws() + "/hidden"};
  kit.profile.protected_paths = {kit.ws() + "/.git/hooks/", kit.ws() + "/.agentrt/"};
  CHECK(kit.write("hidden/key", "x").starts_with("denied: hidden/key is hidden"));
  CHECK(kit.write("hidden/new", "x").starts_with("denied: hidden is hidden"));
  CHECK(kit.read("hidden/key").starts_with("denied: hidden/key is hidden"));
  CHECK(kit.write(".git/hooks/x", "x").starts_with("denied: hooks/x is read-only"));
  CHECK(kit.write("hooks/x", "x").starts_with("denied: hooks/x is read-only"));
  CHECK(kit.write(".agentrt/config.toml", "x").starts_with("denied:"));
  CHECK(kit.write(".agentrt", "x").starts_with("denied:"));
  CHECK(kit.write(".git", "gitdir: evil\n").starts_with("invalid_input:"));
  fs::remove_all(kit.base / "ws/.git");
  CHECK(kit.write(".git", "gitdir: evil\n").starts_with("denied: .git is read-only"));
  CHECK(kit.write(".git/HEAD", "x").starts_with("Created"));
  CHECK(kit.write(".agentrt2", "x").starts_with("Created"));
  kit.request.sandbox = schema::SandboxMode::read_only;
  CHECK(kit.write("b.txt", "x").contains("the sandbox mode is read_only"));
  kit.request.sandbox = schema::SandboxMode::workspace_write;
  kit.request.refused = [&](const std::string& path) -> std::optional<schema::Failure> {
    if (path != kit.ws() + "/c.txt") return std::nullopt;
    return schema::Failure{schema::Category::denied, "a rule", false};
  };
  kit.link("c.txt", "ws/to_c");
  CHECK(kit.write("c.txt", "x") == "denied: a rule");
  kit.put("ws/c.txt", "c");
  CHECK(kit.write("to_c", "x") == "denied: a rule");
  CHECK(kit.read("to_c") == "denied: a rule");
}

TEST_CASE("a secret that was shown as a mark is not overwritten by the mark") {
  FileKit kit;
  kit.redactor = policy::Redactor({{"KEY", "hunter2hunter2"}});
  kit.put("ws/.env", "KEY=hunter2hunter2\nX=1\n");
  CHECK(kit.read(".env") == "     1\tKEY=[redacted:KEY]\n     2\tX=1\n");
  CHECK(kit.write(".env", "KEY=[redacted:KEY]\nX=2\n")
            .starts_with("invalid_input: The file contains"));
  CHECK(kit.edit(".env", "X=1", "X=2") == "Changed .env (+1 -1).");
  CHECK(kit.get("ws/.env") == "KEY=hunter2hunter2\nX=2\n");
}

TEST_CASE("bytes that are no text are not overwritten by the character they were shown as") {
  FileKit kit;
  const std::string mark = "\xEF\xBF\xBD";
  kit.put("ws/latin", "caf\xe9\nold " + mark + "\n");
  CHECK(kit.write("latin", "caf" + mark + "\nnew " + mark + "\n")
            .starts_with("invalid_input: The file contains bytes that are not UTF-8"));
  CHECK(kit.edit("latin", "old", "new " + mark).starts_with("invalid_input: The file contains"));
  CHECK(kit.edit("latin", "caf" + mark, "tea").contains("edit the text before or after it"));
  CHECK(kit.edit("latin", "old", "new") == "Changed latin (+1 -1).");
  CHECK(kit.get("ws/latin") == "caf\xe9\nnew " + mark + "\n");
  CHECK(kit.write("latin", "café\nnew " + mark + "\n").starts_with("Changed latin"));
  CHECK(kit.write("latin", mark + mark).starts_with("Changed latin"));
}

TEST_CASE("nothing is announced that cannot be kept or is no change") {
  FileKit kit;
  kit.put("ws/a.txt", "one\n");
  CHECK(kit.write("a.txt", "one\n") ==
        "invalid_input: a.txt already has this content; nothing was changed.");
  kit.put("ws/large", std::string(kFileBytesMax + 1, 'x'));
  CHECK(kit.edit("large", "x", "y").starts_with("invalid_input: The file is larger"));
  kit.put("ws/bin", std::string("a\0b", 3));
  CHECK(kit.edit("bin", "a", "b") == "invalid_input: bin is not a text file.");
  CHECK(kit.edit("none", "a", "b").starts_with("not_found:"));
  kit.kept.full = true;
  CHECK(kit.write("a.txt", "two\n").starts_with("unavailable: The diff cannot be stored"));
  CHECK(kit.get("ws/a.txt") == "one\n");
}

TEST_CASE("an empty file can be made, filled and emptied") {
  FileKit kit;
  CHECK(kit.write("e", "") == "Created e (+0).");
  CHECK(kit.read("e") == "[e is empty.]\n");
  CHECK(kit.write("e", "x") == "Changed e (+1 -0).");
  CHECK(kit.write("e", "") == "Changed e (+0 -1).");
  CHECK(kit.get("ws/e").empty());
}

TEST_CASE("a cancelled call changes nothing and is not heard of") {
  FileKit kit;
  kit.put("ws/a.txt", "one\n");
  const auto heard = kit.start("write_file", R"({"path":"a.txt","content":"two\n"})");
  REQUIRE(heard->change);
  SUBCASE("before release") { kit.tools.cancel(kit.request.call); }
  SUBCASE("after release") {
    kit.tools.release(kit.request.call);
    kit.tools.cancel(kit.request.call);
  }
  kit.tools.release(kit.request.call);
  kit.loop.run();
  CHECK_FALSE(heard->end);
  CHECK(kit.get("ws/a.txt") == "one\n");
  CHECK(kit.entries("ws") == 1);
}

TEST_CASE("a call that finds the worker full ends with that") {
  FileKit kit;
  kit.loop.worker().full = true;
  CHECK(kit.read("a.txt").starts_with("unavailable: Too many file calls"));
  kit.loop.worker().full = false;
  kit.put("ws/a.txt", "one\n");
  const auto heard = kit.start("write_file", R"({"path":"a.txt","content":"two\n"})");
  kit.loop.worker().full = true;
  kit.tools.release(kit.request.call);
  kit.loop.run();
  CHECK(heard->said().starts_with("unavailable: Too many file calls"));
  CHECK(kit.get("ws/a.txt") == "one\n");
}

}  // namespace agentrt::adapters::tools
