#include "runtime/data_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "schema/codec.h"

namespace agentrt::runtime {
namespace {

constexpr std::size_t kOwnerBytesMax = 16 * 1024;

// The content of owner.json.
struct OwnerFile {
  std::int64_t pid = 0;
  std::optional<OwnerKind> kind;
  std::optional<std::string> url;
  std::optional<std::string> host_name;
  std::string socket;
  std::optional<Timestamp> started_at;
  std::optional<std::string> config;
  std::optional<std::string> config_digest;
};
BOOST_DESCRIBE_STRUCT(OwnerFile, (),
                      (pid, kind, url, host_name, socket, started_at, config, config_digest))

std::string reason(int error) { return std::generic_category().message(error); }

Result<void> write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0)
      return fail(errno == ENOSPC ? Code::storage_full : Code::unavailable, reason(errno));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Owner read_owner_file(const std::string& data) {
  Owner owner;
  owner.socket = socket_path(data);
  const Descriptor file(::open(owner_path(data).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (file.get() < 0) return owner;
  std::string text(kOwnerBytesMax, '\0');
  const ssize_t size = ::read(file.get(), text.data(), text.size());
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  OwnerFile stored;
  if (!schema::check_json(text) || !schema::from_json(text, stored, schema::Unknown::ignore))
    return owner;
  owner.pid = stored.pid;
  owner.kind = stored.kind;
  owner.url = std::move(stored.url);
  owner.host_name = std::move(stored.host_name);
  owner.started_at = stored.started_at;
  owner.config = std::move(stored.config);
  owner.config_digest = stored.config_digest.value_or("");
  return owner;
}

Error owned_by_another(const std::string& data) {
  const Owner owner = read_owner_file(data);
  std::string details = fmt::format(R"({{"pid":{},"data":)", owner.pid);
  schema::write_string(details, data);
  if (owner.url) {
    details += R"(,"url":)";
    schema::write_string(details, *owner.url);
  }
  details += '}';
  const std::string who =
      owner.pid > 0 ? fmt::format("process {}", owner.pid) : std::string("another process");
  const std::string where = owner.url ? fmt::format(", which listens on {}", *owner.url) : "";
  return Error{Code::conflict,
               fmt::format("The data folder {} is in use by {}{}; use that process, stop it, or "
                           "choose another folder with --data.",
                           data, who, where),
               std::move(details)};
}

}  // namespace

Result<void> make_data_folder(const std::string& data) {
  std::error_code error;
  const std::filesystem::path path(data);
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  if (::mkdir(data.c_str(), 0700) != 0 && errno != EEXIST)
    return fail(Code::unavailable,
                fmt::format("The data folder {} cannot be created: {}.", data, reason(errno)));
  struct stat found{};
  if (::stat(data.c_str(), &found) != 0 || !S_ISDIR(found.st_mode))
    return fail(Code::unavailable,
                fmt::format("{} is not a folder; choose another one with --data.", data));
  if (found.st_uid != ::geteuid())
    return fail(
        Code::unavailable,
        fmt::format("The data folder {} belongs to another user; choose another one with --data.",
                    data));
  if ((found.st_mode & 077) != 0 && ::chmod(data.c_str(), 0700) != 0)
    return fail(
        Code::unavailable,
        fmt::format(
            "The data folder {} is accessible to other users and its mode cannot be changed: {}.",
            data, reason(errno)));
  return {};
}

Result<std::string> resolve_data_folder(const std::optional<std::string>& flag,
                                        const config::Environment& environment) {
  std::filesystem::path chosen;
  if (flag && !flag->empty()) {
    chosen = *flag;
  } else if (const auto home = environment("AGENTRT_HOME")) {
    chosen = *home;
  } else if (const auto data_home = environment("XDG_DATA_HOME")) {
    chosen = std::filesystem::path(*data_home) / "agentrt";
  } else if (const auto user_home = environment("HOME")) {
    chosen = std::filesystem::path(*user_home) / ".local" / "share" / "agentrt";
  } else {
    return fail(Code::invalid_params,
                "There is no data folder; give --data DIR, or set AGENTRT_HOME or HOME.");
  }
  std::error_code error;
  std::filesystem::path absolute = std::filesystem::absolute(chosen, error).lexically_normal();
  if (error)
    return fail(Code::invalid_params,
                fmt::format("The path of the data folder {} cannot be resolved: {}.",
                            chosen.string(), error.message()));
  if (!absolute.has_filename()) absolute = absolute.parent_path();
  return absolute.string();
}

std::string lock_path(const std::string& data) { return data + "/lock"; }
std::string clock_path(const std::string& data) { return data + "/clock.json"; }
std::string owner_log_path(const std::string& data) { return data + "/owner.log"; }
std::string environments_path(const std::string& data) { return data + "/environments"; }
std::string mcp_logins_path(const std::string& data) { return data + "/mcp_logins"; }
std::string owner_path(const std::string& data) { return data + "/owner.json"; }
std::string socket_path(const std::string& data) { return data + "/agentrt.sock"; }
std::string token_path(const std::string& data) { return data + "/token"; }
std::string store_path(const std::string& data) { return data + "/agentrt.db"; }
std::string blobs_path(const std::string& data) { return data + "/blobs"; }

Result<std::optional<Owner>> read_owner(const std::string& data) {
  const Descriptor lock(::open(lock_path(data).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (lock.get() < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    return fail(Code::unavailable,
                fmt::format("The data folder {} cannot be read: {}.", data, reason(errno)));
  }
  // A shared lock is compatible with other readers and fails only if the owner holds its exclusive
  // lock.
  if (::flock(lock.get(), LOCK_SH | LOCK_NB) == 0) return std::nullopt;
  if (errno != EWOULDBLOCK)
    return fail(
        Code::unavailable,
        fmt::format("The lock of the data folder {} cannot be checked: {}.", data, reason(errno)));
  return read_owner_file(data);
}

Result<DataFolder> DataFolder::take(const std::string& data) {
  TRY(make_data_folder(data));
  Descriptor lock(::open(lock_path(data).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (lock.get() < 0)
    return fail(Code::unavailable,
                fmt::format("The data folder {} is not writable: {}.", data, reason(errno)));
  for (int attempt = 1; ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0; ++attempt) {
    if (errno != EWOULDBLOCK)
      return fail(Code::unavailable,
                  fmt::format("The data folder {} cannot be locked: {}.", data, reason(errno)));
    if (attempt == kTakeAttemptsMax) return std::unexpected(owned_by_another(data));
    std::this_thread::sleep_for(std::chrono::milliseconds(kTakePauseMs));
  }
  ::unlink(owner_path(data).c_str());  // left by a crashed process
  return DataFolder(data, lock.release());
}

DataFolder::DataFolder(DataFolder&& other) noexcept
    : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}

DataFolder::~DataFolder() {
  if (lock_ < 0) return;
  if (check()) {
    ::unlink(owner_path(path_).c_str());
    ::unlink(socket_path(path_).c_str());
  }
  ::close(lock_);
}

Result<void> DataFolder::check() const {
  struct stat ours{}, found{};
  if (::fstat(lock_, &ours) == 0 && ::stat(lock_path(path_).c_str(), &found) == 0 &&
      ours.st_dev == found.st_dev && ours.st_ino == found.st_ino)
    return {};
  return fail(
      Code::unavailable,
      fmt::format(
          "The data folder {} was deleted, moved or replaced while agentrt was running, so nothing "
          "more can be stored; put it back or restore a backup, then start agentrt again.",
          path_));
}

Result<void> DataFolder::announce(Owner owner) const {
  OwnerFile stored{.pid = ::getpid(),
                   .kind = owner.kind,
                   .url = std::move(owner.url),
                   .host_name = std::move(owner.host_name),
                   .socket = socket_path(path_),
                   .started_at = owner.started_at,
                   .config = std::move(owner.config),
                   .config_digest = {}};
  if (!owner.config_digest.empty()) stored.config_digest = std::move(owner.config_digest);
  const std::string text = schema::to_json(stored) + "\n";
  const std::string fresh = owner_path(path_) + ".new";
  ::unlink(fresh.c_str());
  const Descriptor file(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.get() < 0)
    return fail(Code::unavailable, fmt::format("{} cannot be written: {}.", fresh, reason(errno)));
  if (auto written = write_all(file.get(), text); !written) {
    ::unlink(fresh.c_str());
    return fail(written.error().code,
                fmt::format("{} cannot be written: {}.", fresh, written.error().message));
  }
  if (::rename(fresh.c_str(), owner_path(path_).c_str()) != 0)
    return fail(Code::unavailable, fmt::format("{} cannot be replaced: {}.", fresh, reason(errno)));
  return {};
}

namespace {

std::string takeover_path(const std::string& data) { return data + "/takeover"; }

}  // namespace

Result<Takeover> Takeover::begin(const std::string& data) {
  Descriptor lock(
      ::open(takeover_path(data).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock)
    return fail(Code::unavailable,
                fmt::format("The data folder {} is not writable: {}.", data, reason(errno)));
  for (int attempt = 1; ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0; ++attempt) {
    if (attempt == kTakeAttemptsMax)
      return fail(Code::conflict,
                  fmt::format("Another process is taking over the data folder {}; use that one, or "
                              "choose another folder with --data.",
                              data));
    std::this_thread::sleep_for(std::chrono::milliseconds(kTakePauseMs));
  }
  return Takeover(std::move(lock));
}

bool Takeover::in_progress(const std::string& data) {
  const Descriptor lock(::open(takeover_path(data).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  return lock && ::flock(lock.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

bool wait_for_no_owner(const std::string& data, int timeout_ms) {
  for (int waited = 0;; waited += kTakePauseMs) {
    const auto owner = read_owner(data);
    if (owner && !*owner) return true;
    if (waited >= timeout_ms) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(kTakePauseMs));
  }
}

}  // namespace agentrt::runtime
