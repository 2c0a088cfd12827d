#include "store/sqlite/file_system.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

namespace agentrt::store {
namespace {

struct NetworkType {
  std::uint64_t type;
  std::string_view name;
};

// The values of f_type from statfs(2).
constexpr NetworkType kNetworkTypes[] = {
    {0x6969, "NFS"},      {0x517B, "SMB"},     {0xFE534D42, "SMB"},
    {0xFF534D42, "CIFS"}, {0x01021997, "9p"},  {0x00C36400, "Ceph"},
    {0x5346414F, "AFS"},  {0x6B414653, "AFS"}, {0x0BD00BD0, "Lustre"},
};

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

std::string reason(int error) { return std::generic_category().message(error); }

}  // namespace

std::optional<std::string_view> network_file_system(std::uint64_t type) {
  for (const NetworkType& known : kNetworkTypes)
    if (known.type == type) return known.name;
  return std::nullopt;
}

Result<void> check_folder_of(const std::string& path) {
  const std::string folder = folder_of(path);
  struct statfs about{};
  if (statfs(folder.c_str(), &about) != 0)
    return fail(Code::unavailable,
                fmt::format("the data folder {} cannot be used: {}", folder, reason(errno)));
  // f_type is signed on some machines; only its low 32 bits matter.
  const auto type = static_cast<std::uint32_t>(about.f_type);
  if (const auto name = network_file_system(type))
    return fail(Code::unavailable,
                fmt::format("the data folder {} is on a network file system ({}), on which the "
                            "store is not safe; choose a folder on a local disk with --data",
                            folder, *name));
  return {};
}

Result<void> create_private_file(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0)
    return fail(errno == ENOSPC || errno == EDQUOT ? Code::storage_full : Code::unavailable,
                fmt::format("the store {} cannot be opened: {}", path, reason(errno)));
  close(file);
  return {};
}

std::optional<FileId> file_id(const std::string& path) {
  struct stat about{};
  if (stat(path.c_str(), &about) != 0) return std::nullopt;
  return FileId{about.st_dev, about.st_ino};
}

// The offsets are those of SQLite's documented file format; numbers are big-endian.
Result<FileHeader> read_header(const std::string& path) {
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  constexpr std::size_t kHeaderBytes = 100, kPageSizeAt = 16, kPagesAt = 28, kApplicationAt = 68;
  constexpr std::size_t kLargestPage = 65'536;  // stored as 1
  unsigned char bytes[kHeaderBytes] = {};
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat about{};
  const ssize_t got =
      file >= 0 && fstat(file, &about) == 0 ? pread(file, bytes, sizeof bytes, 0) : ssize_t{-1};
  const int error = errno;
  if (file >= 0) close(file);
  if (got < 0)
    return fail(Code::unavailable,
                fmt::format("the store {} cannot be read now: {}", path, reason(error)));
  const auto number = [&](std::size_t at, std::size_t count) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < count; ++i) value = value << 8 | bytes[at + i];
    return value;
  };
  FileHeader header;
  header.bytes = static_cast<std::uint64_t>(about.st_size);
  const std::string_view start(reinterpret_cast<const char*>(bytes),
                               std::min(static_cast<std::size_t>(got), kMagic.size()));
  header.sqlite = !start.empty() && start == kMagic.substr(0, start.size());
  header.bytes_expected = kHeaderBytes;
  if (static_cast<std::size_t>(got) < kHeaderBytes) return header;
  const std::uint64_t page = number(kPageSizeAt, 2);
  header.bytes_expected = number(kPagesAt, 4) * (page == 1 ? kLargestPage : page);
  header.application = static_cast<std::int64_t>(number(kApplicationAt, 4));
  return header;
}

Result<void> sync_folder_of(const std::string& path) {
  const std::string folder = folder_of(path);
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0)
    return fail(Code::unavailable,
                fmt::format("the data folder {} cannot be used: {}", folder, reason(errno)));
  const int code = fsync(file);
  const int error = errno;
  close(file);
  if (code != 0)
    return fail(Code::unavailable,
                fmt::format("the data folder {} cannot be synced: {}", folder, reason(error)));
  return {};
}

}  // namespace agentrt::store
