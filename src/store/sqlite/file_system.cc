#include "store/sqlite/file_system.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

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

// The values are those of statfs(2).
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
  // f_type is signed on some machines; only its 32 bits count.
  const auto type = static_cast<std::uint32_t>(about.f_type);
  if (const auto name = network_file_system(type))
    return fail(Code::unavailable,
                fmt::format("the data folder {} is on a network file system ({}), where the store "
                            "would not be safe; choose a folder on a local disk with --data",
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
