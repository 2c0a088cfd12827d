// adapters/files/workspace_test.cc: files that a person gives with a question: what each becomes,
// and that none lies outside the workspace.
#include "adapters/files/workspace.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

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

}  // namespace agentrt::adapters
