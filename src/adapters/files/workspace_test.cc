// adapters/files/workspace_test.cc: tests what each context file becomes, and that no file outside
// the workspace is read.
#include "adapters/files/workspace.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "adapters/files/skills.h"

namespace agentrt::adapters {
namespace {

namespace fs = std::filesystem;

struct Folder {
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "agentrt_given_XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    root = pattern;
    fs::create_directories(root / "work/sub");
    write("outside.txt", "secret");
  }
  ~Folder() { fs::remove_all(root); }
  void write(const std::string& path, const std::string& text) {
    std::ofstream(root / path, std::ios::binary) << text;
  }
  ports::GivenFile give(const std::string& path) {
    return DiskWorkspace{}.given_file((root / "work").string(), path);
  }
  fs::path root;
};

const std::string kPng("\x89PNG\r\n\x1a\n\0\0", 10);

}  // namespace

TEST_CASE("text is given as text, with its digest") {
  Folder folder;
  folder.write("work/sub/a.txt", "hello");
  for (const std::string& path :
       {std::string("sub/a.txt"), (folder.root / "work/sub/a.txt").string()}) {
    const ports::GivenFile file = folder.give(path);
    CHECK(file.text == "hello");
    CHECK(file.ref.ref == "file:" + path);
    CHECK(file.ref.size == 5);
    CHECK(file.ref.digest->starts_with("sha256:2cf24dba"));
    CHECK_FALSE(file.ref.reason.has_value());
    CHECK_FALSE(file.attachment.has_value());
  }
}

TEST_CASE("images and documents are known by how they begin, not by their name") {
  Folder folder;
  for (const auto& [bytes, media_type] :
       {std::pair{kPng, "image/png"}, std::pair{std::string("\xff\xd8\xff\xe0"), "image/jpeg"},
        std::pair{std::string("GIF89a"), "image/gif"},
        std::pair{std::string("RIFF1234WEBPVP8 "), "image/webp"},
        std::pair{std::string("%PDF-1.7"), "application/pdf"}}) {
    folder.write("work/sub/thing", bytes);
    const ports::GivenFile file = folder.give("sub/thing");
    REQUIRE(file.attachment.has_value());
    CHECK(file.attachment->media_type == media_type);
    CHECK(file.attachment->name == "thing");
    CHECK(file.attachment->bytes == bytes);
  }
}

TEST_CASE("nothing outside the workspace is given, by whatever path or link") {
  Folder folder;
  fs::create_symlink(folder.root / "outside.txt", folder.root / "work/absolute");
  fs::create_symlink("../outside.txt", folder.root / "work/relative");
  fs::create_directory_symlink("..", folder.root / "work/up");
  for (const std::string& path :
       {std::string("../outside.txt"), (folder.root / "outside.txt").string(),
        std::string("absolute"), std::string("relative"), std::string("up/outside.txt"),
        std::string("/proc/self/root/etc/passwd"), std::string(), std::string("nothing.txt")}) {
    CAPTURE(path);
    const ports::GivenFile file = folder.give(path);
    CHECK(file.text.empty());
    CHECK(file.ref.reason.has_value());
  }
}

TEST_CASE("what is too large, no file or no text is refused in words") {
  Folder folder;
  folder.write("work/long.txt", std::string(kGivenTextBytesMax + 1, 'x'));
  CHECK(folder.give("long.txt").ref.reason == "it is larger than 262144 bytes");
  folder.write("work/long.png", kPng + std::string(kGivenFileBytesMax, 'x'));
  CHECK(folder.give("long.png").ref.reason == "it is larger than 5242880 bytes");
  folder.write("work/binary", std::string("a\0b", 3));
  CHECK(folder.give("binary").ref.reason->contains("neither text"));
  CHECK(folder.give("sub").ref.reason == "it is not a regular file");
  REQUIRE(::mkfifo((folder.root / "work/pipe").c_str(), 0600) == 0);
  CHECK(folder.give("pipe").ref.reason == "it is not a regular file");
}

namespace {

std::vector<schema::ContextRef> refs_of(const ports::Instructions& told) {
  std::vector<schema::ContextRef> out;
  for (const ports::InstructionText& file : told.files) out.push_back(file.ref);
  return out;
}

std::string text_of(const ports::Instructions& told) {
  std::string out;
  for (const ports::InstructionText& file : told.files) out += file.text;
  return out;
}

std::vector<std::string> names_of(const std::vector<schema::ContextRef>& refs,
                                  const fs::path& root) {
  std::vector<std::string> names;
  for (const schema::ContextRef& ref : refs)
    names.push_back(ref.ref.substr(("file:" + root.string() + "/").size()));
  return names;
}
using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("AGENTS.md files are a chain from the user's own down to the workspace") {
  Folder folder;
  for (const char* made : {"user", "repo/.git", "repo/a/b/c"})
    fs::create_directories(folder.root / made);
  folder.write("AGENTS.md", "outside");
  folder.write("user/AGENTS.md", "mine");
  folder.write("repo/AGENTS.md", "top\n");
  folder.write("repo/a/b/AGENTS.md", "deep");
  folder.write("repo/a/b/c/AGENTS.md", "deeper than the workspace");
  DiskWorkspace workspace((folder.root / "user").string());
  const auto told = workspace.instructions((folder.root / "repo/a/b").string());
  CHECK(names_of(refs_of(told), folder.root) ==
        Names{"user/AGENTS.md", "repo/AGENTS.md", "repo/a/b/AGENTS.md"});
  const std::string root = folder.root.string();
  CHECK(text_of(told) == "[" + root + "/user/AGENTS.md]\nmine\n[" + root +
                             "/repo/AGENTS.md]\ntop\n[" + root + "/repo/a/b/AGENTS.md]\ndeep\n");
  CHECK(refs_of(told)[0].digest->starts_with("sha256:"));
  // Without a repository, only the workspace's own file counts.
  CHECK(DiskWorkspace{}.instructions((folder.root / "work").string()).files.empty());
}

TEST_CASE("a folder without AGENTS.md may have CLAUDE.md, under the same rules") {
  Folder folder;
  for (const char* made : {"user", "repo/.git", "repo/a/b"})
    fs::create_directories(folder.root / made);
  folder.write("user/CLAUDE.md", "mine");
  folder.write("repo/AGENTS.md", "top");
  folder.write("repo/CLAUDE.md", "not read: there is an AGENTS.md");
  folder.write("repo/a/CLAUDE.md", "middle");
  fs::create_symlink("../../../outside.txt", folder.root / "repo/a/b/CLAUDE.md");
  DiskWorkspace workspace((folder.root / "user").string());
  const auto told = workspace.instructions((folder.root / "repo/a/b").string());
  CHECK(names_of(refs_of(told), folder.root) ==
        Names{"user/CLAUDE.md", "repo/AGENTS.md", "repo/a/CLAUDE.md"});
  CHECK_FALSE(text_of(told).contains("not read"));
  REQUIRE(told.omitted.size() == 1);
  CHECK(told.omitted[0].reason == "it is a symbolic link that leads out of the workspace");
}

TEST_CASE("an AGENTS.md that leads out of its repository or is too large is not read") {
  Folder folder;
  fs::create_directories(folder.root / "work/.git");
  fs::create_symlink("../../outside.txt", folder.root / "work/sub/AGENTS.md");
  folder.write("work/AGENTS.md", std::string(kInstructionBytesMax + 1, 'x'));
  const auto told = DiskWorkspace{}.instructions((folder.root / "work/sub").string());
  CHECK(text_of(told).empty());
  REQUIRE(told.omitted.size() == 2);
  CHECK(told.omitted[0].reason == "it is larger than 262144 bytes");
  CHECK(told.omitted[1].reason == "it is a symbolic link that leads out of the workspace");
  // A link within the repository is followed.
  folder.write("work/AGENTS.md", "all");
  fs::remove(folder.root / "work/sub/AGENTS.md");
  fs::create_symlink("../AGENTS.md", folder.root / "work/sub/AGENTS.md");
  CHECK(DiskWorkspace{}.instructions((folder.root / "work/sub").string()).files.size() == 2);
}

TEST_CASE("the root of a repository is looked for so far up and no further") {
  Folder folder;
  fs::create_directories(folder.root / ".git");
  folder.write("AGENTS.md", "top");
  fs::path deep = folder.root;
  for (std::size_t i = 1; i < kChainFoldersMax; ++i) deep /= "d";
  fs::create_directories(deep / "e");
  CHECK(DiskWorkspace{}.instructions(deep.string()).files.size() == 1);
  CHECK(DiskWorkspace{}.instructions((deep / "e").string()).files.empty());
}

TEST_CASE("a repository is looked for up to the home folder and not above it") {
  Folder folder;
  for (const char* made : {".git", "home/project/sub", "home/repo/.git", "home/repo/sub"})
    fs::create_directories(folder.root / made);
  folder.write("AGENTS.md", "above");
  folder.write("home/AGENTS.md", "home");
  folder.write("home/project/AGENTS.md", "project");
  folder.write("home/project/sub/AGENTS.md", "sub");
  folder.write("home/repo/AGENTS.md", "repo");
  DiskWorkspace workspace({}, (folder.root / "home").string());
  const auto told = [&](const char* cwd) {
    return names_of(refs_of(workspace.instructions((folder.root / cwd).string())), folder.root);
  };
  CHECK(told("home/project/sub") == Names{"home/project/sub/AGENTS.md"});
  CHECK(told("home/repo/sub") == Names{"home/repo/AGENTS.md"});
  fs::create_directories(folder.root / "home/.git");
  CHECK(told("home/project/sub") ==
        Names{"home/AGENTS.md", "home/project/AGENTS.md", "home/project/sub/AGENTS.md"});
}

TEST_CASE("what another user put above the workspace is not told") {
  if (::geteuid() != 0) return;  // needs root to create files of two users
  constexpr uid_t kAnn = 1234, kBob = 1235;
  Folder folder;
  for (const char* made : {"repo/.git", "repo/a/b"}) fs::create_directories(folder.root / made);
  for (const char* file : {"repo/AGENTS.md", "repo/a/AGENTS.md", "repo/a/b/AGENTS.md"})
    folder.write(file, file);
  const auto give = [&](const char* path, uid_t user) {
    REQUIRE(::chown((folder.root / path).c_str(), user, user) == 0);
  };
  fs::permissions(folder.root, fs::perms(0755));
  give("repo/a/b", kAnn);
  give("repo/a/b/AGENTS.md", kAnn);
  give("repo/a/AGENTS.md", kBob);
  const auto told = [&] {
    return DiskWorkspace{}.instructions((folder.root / "repo/a/b").string());
  };
  CHECK(names_of(refs_of(told()), folder.root) == Names{"repo/AGENTS.md", "repo/a/b/AGENTS.md"});
  CHECK(names_of(told().omitted, folder.root) == Names{"repo/a/AGENTS.md"});
  CHECK(told().omitted[0].reason == "it belongs to another user");
  // A repository that another user created around the workspace does not count either.
  give("repo/.git", kBob);
  CHECK(names_of(refs_of(told()), folder.root) == Names{"repo/a/b/AGENTS.md"});
}

TEST_CASE("AGENTS.md files have one limit together") {
  Folder folder;
  fs::create_directories(folder.root / "work/.git");
  folder.write("work/AGENTS.md", std::string(kInstructionBytesMax - 1'000, 'x'));
  folder.write("work/sub/AGENTS.md", std::string(1'000, 'y'));
  const auto told = DiskWorkspace{}.instructions((folder.root / "work/sub").string());
  CHECK(names_of(refs_of(told), folder.root) == Names{"work/AGENTS.md"});
  CHECK(names_of(told.omitted, folder.root) == Names{"work/sub/AGENTS.md"});
}

TEST_CASE("skills are found in three places, and the closest of a name is taken") {
  Folder folder;
  const auto skill = [&](const std::string& place, const std::string& name,
                         const std::string& description) {
    fs::create_directories(folder.root / place / name);
    folder.write(place + "/" + name + "/SKILL.md",
                 "---\nname: " + name + "\ndescription: " + description + "\n---\nText.\n");
  };
  skill("work/.agentrt/skills", "deploy", "ours");
  skill("work/.claude/skills", "deploy", "theirs");
  skill("work/.claude/skills", "test", "how to test");
  skill("user/skills", "write", "how to write");
  fs::create_directories(folder.root / "work/.agentrt/skills/broken");
  folder.write("work/.agentrt/skills/broken/SKILL.md", "no head");
  fs::create_directories(folder.root / "work/.agentrt/skills/empty");
  fs::create_directories(folder.root / "work/.agentrt/skills/thief");
  fs::create_symlink("../../../../outside.txt",
                     folder.root / "work/.agentrt/skills/thief/SKILL.md");
  DiskWorkspace workspace((folder.root / "user").string());
  const auto told = workspace.instructions((folder.root / "work").string());
  Names listed;
  for (const ports::Skill& each : told.skills)
    listed.push_back(each.name + ": " + each.description);
  CHECK(listed == Names{"deploy: ours", "test: how to test", "write: how to write"});
  CHECK(told.skills[0].path == (folder.root / "work/.agentrt/skills/deploy/SKILL.md").string());
  CHECK(told.skills[0].ref.digest->starts_with("sha256:"));
  CHECK(!told.skills[0].text);
  CHECK(told.skills[2].text == "Text.\n");  // tools cannot read the user's folder
  REQUIRE(told.omitted.size() == 1);
  CHECK(told.omitted[0].reason->contains("same name"));
  REQUIRE(told.missing.size() == 2);
  CHECK(told.missing[0].reason == "it does not start with a header between two lines of ---");
  CHECK(told.missing[1].reason == "it is a symbolic link that leads out of the workspace");
}

TEST_CASE("the list of skills is bounded") {
  Folder folder;
  for (std::size_t i = 0; i < kSkillsMax + 3; ++i) {
    const std::string name = "s" + std::to_string(100 + i);
    fs::create_directories(folder.root / "work/.agentrt/skills" / name);
    folder.write("work/.agentrt/skills/" + name + "/SKILL.md",
                 "---\nname: " + name + "\ndescription: d\n---\n");
  }
  const std::string work = (folder.root / "work").string();
  auto told = DiskWorkspace{}.instructions(work);
  CHECK(told.skills.size() == kSkillsMax);
  CHECK(told.omitted.size() == 3);
  for (std::size_t i = 0; i < kSkillsMax; ++i)
    folder.write("work/.agentrt/skills/s" + std::to_string(100 + i) + "/SKILL.md",
                 "---\nname: s" + std::to_string(100 + i) +
                     "\ndescription: " + std::string(kSkillDescriptionBytesMax, 'x') + "\n---\n");
  told = DiskWorkspace{}.instructions(work);
  CHECK(told.skills.size() < kSkillIndexBytesMax / kSkillDescriptionBytesMax);
  CHECK(told.skills.size() + told.omitted.size() == kSkillsMax + 3);
  folder.write("work/.agentrt/skills/s100/SKILL.md", std::string(kSkillBytesMax + 1, 'x'));
  CHECK(DiskWorkspace{}.instructions(work).missing.size() == 1);
}

TEST_CASE("so many folders of skills are looked into and no more") {
  Folder folder;
  for (std::size_t i = 0; i <= kSkillFoldersMax; ++i)
    fs::create_directories(folder.root / "work/.agentrt/skills" / std::to_string(i));
  const auto told = DiskWorkspace{}.instructions((folder.root / "work").string());
  REQUIRE(told.omitted.size() == 1);
  CHECK(told.omitted[0].reason == "only 256 of its folders are searched");
}

TEST_CASE("skills that are included in full have a limit in total") {
  Folder folder;
  for (const char* name : {"a", "b", "c"}) {
    fs::create_directories(folder.root / "user/skills" / name);
    folder.write(std::string("user/skills/") + name + "/SKILL.md",
                 std::string("---\nname: ") + name + "\ndescription: d\n---\n" +
                     std::string(kSkillTextBytesMax / 2, 'x'));
  }
  DiskWorkspace workspace((folder.root / "user").string());
  const auto told = workspace.instructions((folder.root / "work").string());
  CHECK(told.skills.size() == 2);
  REQUIRE(told.omitted.size() == 1);
  CHECK(told.omitted[0].reason->contains("bytes in total"));
}

TEST_CASE("the head of a skill is read, and what is wrong with it is said") {
  auto head =
      read_skill_head("---\r\nname: 'a-b'\r\nlicense: x\r\ndescription: \"One: two.\"\r\n---\r\n");
  REQUIRE(head);
  CHECK(head->name == "a-b");
  CHECK(head->description == "One: two.");
  head = read_skill_head("---\nname: x\ndescription: >-\n  one\n  two\nother: y\n---");
  REQUIRE(head);
  CHECK(head->description == "one two");
  for (const auto& [text, problem] :
       {std::pair{"", "does not start"}, std::pair{"# Title", "does not start"},
        std::pair{"---\nname: x\n", "not closed"},
        std::pair{"---\ndescription: x\n---\n", "no valid name"},
        std::pair{"---\nname: a b\ndescription: x\n---\n", "no valid name"},
        std::pair{"---\nname: x\n---\n", "no description"}}) {
    const auto broken = read_skill_head(text);
    REQUIRE(!broken);
    CHECK(broken.error().message.contains(problem));
  }
  const std::string lengthy(kSkillDescriptionBytesMax + 5, 'd');
  head = read_skill_head("---\nname: x\ndescription: " + lengthy + "\n---\n");
  CHECK(head->description.size() == kSkillDescriptionBytesMax + std::string_view("…").size());
}

}  // namespace agentrt::adapters
