#include "cli/page/demo_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "cli/page/demo_story.h"
#include "runtime/data_folder.h"

namespace agentrt::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "agentrt_demo_";
constexpr std::chrono::seconds kYoung{60};  // another demo may be about to start in it

std::unexpected<Error> failed(const std::string& path, int error) {
  return fail(Code::unavailable, fmt::format("{} cannot be written: {}.", path,
                                             std::generic_category().message(error)));
}

// Whether the folder belongs to this user's demo that has ended.
bool left_behind(const fs::path& path) {
  struct stat found{};
  if (!path.filename().string().starts_with(kPrefix)) return false;
  if (::lstat(path.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) return false;
  if (found.st_uid != ::geteuid()) return false;
  const auto changed = std::chrono::system_clock::from_time_t(found.st_mtime);
  if (std::chrono::system_clock::now() - changed < kYoung) return false;
  const auto owner = runtime::read_owner(path.string() + "/data");
  return owner && !*owner && !fs::exists(path / "kept");
}

void remove_ended(const fs::path& folder) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    if (left_behind(entry.path())) fs::remove_all(entry.path(), error);
}

Result<void> write(const std::string& path, std::string_view text) {
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) return failed(path, errno);
  return {};
}

}  // namespace

Result<DemoFolder> DemoFolder::make() {
  std::error_code error;
  const fs::path above = fs::temp_directory_path(error);
  if (error) return failed("the folder for temporary files", error.value());
  remove_ended(above);
  std::string path = (above / (std::string(kPrefix) + "XXXXXX")).string();
  if (::mkdtemp(path.data()) == nullptr) return failed(path, errno);
  DemoFolder folder(std::move(path));
  for (const DemoFile& file : demo_files())
    TRY(write(fmt::format("{}/{}", folder.path_, file.path), file.text));
  TRY(write(folder.config(), demo_config(folder.path_)));
  return folder;
}

DemoFolder::DemoFolder(DemoFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), kept_(other.kept_) {}

DemoFolder::~DemoFolder() {
  if (path_.empty()) return;
  std::error_code error;
  if (kept_)
    std::ofstream(path_ + "/kept") << "This folder was kept by agentrt demo --keep.\n";
  else
    fs::remove_all(path_, error);
}

}  // namespace agentrt::cli
