#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include <doctest/doctest.h>

#include "store/blobs/file_blob_store.h"

namespace agentrt::store {
namespace {

namespace fs = std::filesystem;

struct Folder {
  std::string path;
  Folder() {
    char name[] = "/tmp/agentrt_blobs_XXXXXX";
    path = ::mkdtemp(name);
  }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
};

std::unique_ptr<FileBlobStore> open_in(const Folder& folder) {
  auto store = FileBlobStore::open_folder(folder.path + "/blobs");
  REQUIRE(store.has_value());
  return *std::move(store);
}

StoredBlob put(BlobStore& store, std::string_view bytes) {
  auto writer = store.create();
  REQUIRE(writer.has_value());
  for (; !bytes.empty(); bytes.remove_prefix(std::min<std::size_t>(1'000, bytes.size())))
    REQUIRE((*writer)->write(bytes.substr(0, 1'000)).has_value());
  auto blob = (*writer)->seal();
  REQUIRE(blob.has_value());
  return *blob;
}

std::string get(BlobStore& store, const StoredBlob& blob) {
  auto reader = store.open(blob.digest, blob.size);
  if (!reader) return "error: " + reader.error().message;
  std::string out;
  while (out.size() < blob.size) {
    const auto piece = (*reader)->read(out.size(), 700);
    REQUIRE(piece.has_value());
    out += *piece;
  }
  return out;
}

std::string file_of(const Folder& folder, const StoredBlob& blob) {
  const std::string name = hex(bytes_of(blob.digest));
  return folder.path + "/blobs/" + name.substr(0, 2) + "/" + name.substr(2);
}

std::size_t count(BlobStore& store) {
  std::size_t blobs = 0;
  REQUIRE(store.list([&](const BlobEntry&) { ++blobs; }).has_value());
  return blobs;
}

}  // namespace

TEST_CASE("what is stored is read back, whole and in parts, also by the next process") {
  const Folder folder;
  std::string bytes;
  for (int i = 0; i < 50'000; ++i) bytes += static_cast<char>(i * 7);
  StoredBlob blob;
  {
    const auto store = open_in(folder);
    blob = put(*store, bytes);
    CHECK(blob.digest == sha256(bytes));
    CHECK(get(*store, blob) == bytes);
  }
  const auto store = open_in(folder);
  CHECK(get(*store, blob) == bytes);
  auto reader = store->open(blob.digest, blob.size);
  CHECK((*reader)->read(49'990, 100).value() == bytes.substr(49'990));
  CHECK((*reader)->read(50'000, 100).value().empty());
  CHECK(get(*store, put(*store, "")) == "");
}

TEST_CASE("equal bytes are one blob") {
  const Folder folder;
  const auto store = open_in(folder);
  CHECK(put(*store, "same").digest == put(*store, "same").digest);
  CHECK(count(*store) == 1);
}

TEST_CASE("files are the owner's alone") {
  const Folder folder;
  const auto store = open_in(folder);
  struct stat about{};
  REQUIRE(::stat(file_of(folder, put(*store, "mine")).c_str(), &about) == 0);
  CHECK((about.st_mode & 0777) == 0600);
  REQUIRE(::stat((folder.path + "/blobs").c_str(), &about) == 0);
  CHECK((about.st_mode & 0777) == 0700);
}

TEST_CASE("a writer that is dropped, and one that a crash cut off, leave nothing") {
  const Folder folder;
  const auto in_new = [&] {
    return std::distance(fs::directory_iterator(folder.path + "/blobs/new"),
                         fs::directory_iterator());
  };
  {
    const auto store = open_in(folder);
    auto writer = store->create();
    REQUIRE((*writer)->write("half").has_value());
    CHECK(in_new() == 1);
  }
  CHECK(in_new() == 0);
  std::ofstream(folder.path + "/blobs/new/17") << "left by a crash";
  const auto store = open_in(folder);
  CHECK(in_new() == 0);
  CHECK(count(*store) == 0);
}

TEST_CASE("a truncated, changed or lost blob is reported, and storing it again repairs it") {
  const Folder folder;
  const auto store = open_in(folder);
  const StoredBlob blob = put(*store, "the bytes of a blob");
  CHECK(get(*store, blob) == "the bytes of a blob");
  const std::string file = file_of(folder, blob);
  SUBCASE("cut") { fs::resize_file(file, 3); }
  SUBCASE("changed") { std::fstream(file, std::ios::in | std::ios::out) << "THE"; }
  SUBCASE("lost") { fs::remove(file); }
  const auto opened = store->open(blob.digest, blob.size);
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == Code::internal);
  CHECK(opened.error().details.contains(hex(bytes_of(blob.digest))));
  put(*store, "the bytes of a blob");
  CHECK(get(*store, blob) == "the bytes of a blob");
}

TEST_CASE("a blob that is held, or was since the sweep began, is not removed") {
  const Folder folder;
  const auto store = open_in(folder);
  StoredBlob blob = put(*store, "held");
  CHECK_FALSE(store->remove(blob.digest).value());
  store->begin_sweep();
  blob.hold = nullptr;  // its fact is stored only now, after the sweep read the references
  CHECK_FALSE(store->remove(blob.digest).value());
  store->end_sweep();
  CHECK(store->remove(blob.digest).value());
  CHECK_FALSE(store->remove(blob.digest).value());
  CHECK(count(*store) == 0);
}

TEST_CASE("a reader continues when its blob is removed") {
  const Folder folder;
  const auto store = open_in(folder);
  StoredBlob blob = put(*store, "still read");
  auto reader = store->open(blob.digest, blob.size);
  blob.hold = nullptr;
  CHECK(store->remove(blob.digest).value());
  CHECK((*reader)->read(0, 100).value() == "still read");
}

TEST_CASE("many threads store and remove the same bytes, and what is held is always there") {
  const Folder folder;
  const auto store = open_in(folder);
  std::atomic<int> lost{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        auto writer = store->create();
        (void)(*writer)->write("shared " + std::to_string(i % 3));
        auto blob = (*writer)->seal();
        if (!store->open(blob->digest, blob->size)) ++lost;
        const Digest digest = blob->digest;
        blob->hold = nullptr;
        if (t % 2 == 0) (void)store->remove(digest);
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(lost == 0);
}

TEST_CASE("a folder that cannot be written is unavailable") {
  const auto store = FileBlobStore::open_folder("/proc/agentrt_no_such/blobs");
  REQUIRE_FALSE(store);
  CHECK(store.error().code == Code::unavailable);
}

}  // namespace agentrt::store
