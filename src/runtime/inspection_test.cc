// runtime/inspection_test.cc: tests what an approval is bound to, also without file descriptors.
#include "runtime/inspection.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

namespace agentrt::runtime {
namespace {

namespace fs = std::filesystem;

struct Place {
  Place() {
    std::string pattern = (fs::temp_directory_path() / "agentrt_inspect_XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    folder = fs::canonical(pattern);
    std::ofstream(folder / "run.sh") << "echo hi\n";
  }
  ~Place() { fs::remove_all(folder); }

  DiskInspector inspector() const {
    return DiskInspector([cwd = folder.string()](const ports::ProcessRequest&) {
      schema::SandboxProfile profile;
      profile.cwd = cwd;
      return Result<schema::SandboxProfile>(profile);
    });
  }

  fs::path folder;
};

// While one exists, this process can open no more files.
class NoDescriptors {
 public:
  NoDescriptors() {
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    REQUIRE(next >= 0);
    ::close(next);
    const rlimit none{static_cast<rlim_t>(next), before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  }
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
};

}  // namespace

TEST_CASE("files are bound by their digests, and one that is not there by its absence") {
  const Place place;
  DiskInspector inspector = place.inspector();
  const auto bound = inspector.inspect({}, {"run.sh", "none.sh"});
  REQUIRE(bound.has_value());
  REQUIRE(bound->files.size() == 2);
  CHECK(bound->files[0].digest.value_or("").starts_with("sha256:"));
  CHECK_FALSE(bound->files[1].digest.has_value());
  std::ofstream(place.folder / "run.sh") << "echo other\n";
  const auto again = inspector.inspect({}, {"run.sh"});
  REQUIRE(again.has_value());
  CHECK(again->files[0].digest != bound->files[0].digest);
}

// Without file descriptors, the sanitizer that checks types reports objects that it cannot read.
#if defined(__has_feature) && __has_feature(undefined_behavior_sanitizer)
constexpr bool kChecksTypes = true;
#else
constexpr bool kChecksTypes = false;
#endif

TEST_CASE("without file descriptors a file is not unknown, but cannot be read now" *
          doctest::skip(kChecksTypes)) {
  const Place place;
  DiskInspector inspector = place.inspector();
  const NoDescriptors shortage;
  const auto bound = inspector.inspect({}, {"run.sh"});
  REQUIRE_FALSE(bound.has_value());
  CHECK(bound.error().code == Code::unavailable);
  const auto held = inspector.hold({}, {"run.sh"});
  REQUIRE_FALSE(held.has_value());
  CHECK(held.error().code == Code::unavailable);
}

}  // namespace agentrt::runtime
