// runtime/data_folder.h: the data folder of a runtime, and its exclusive ownership.
//
// The owning process holds a lock (flock) on DATA/lock; the operating system releases it when the
// process ends in any way. DATA/owner.json describes the owner and how to reach it. It is only
// informative: the lock decides whether there is an owner. The folder has mode 0700, so only the
// user can access its files.
//
// A DataFolder has one owner; it is not thread-safe, except for check().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "config/environment.h"

namespace agentrt::runtime {

// The data folder to use, as an absolute path: `flag` (--data), else AGENTRT_HOME, else
// $XDG_DATA_HOME/agentrt, else ~/.local/share/agentrt. invalid_params: none of them is known.
Result<std::string> resolve_data_folder(const std::optional<std::string>& flag,
                                        const config::Environment& environment);

struct Owner {
  std::int64_t pid = 0;            // 0: owner.json is not written yet
  std::optional<std::string> url;  // absent: only reachable through the socket
  std::string socket;
  std::optional<Timestamp> started_at;

  bool operator==(const Owner&) const = default;
};

// Paths inside a data folder.
std::string lock_path(const std::string& data);
std::string owner_path(const std::string& data);
std::string socket_path(const std::string& data);
std::string token_path(const std::string& data);
std::string store_path(const std::string& data);
std::string blobs_path(const std::string& data);
std::string clock_path(const std::string& data);

// The current owner of `data`; nullopt: none, even if a crashed process left owner.json behind, or
// the folder does not exist.
Result<std::optional<Owner>> read_owner(const std::string& data);

class DataFolder {
 public:
  // Creates the folder if it is missing, and takes ownership. Errors: conflict: another process
  // owns it (the message names its pid and the folder; details {"pid", "data", "url"?});
  // unavailable: the folder cannot be created, is not a folder, or belongs to another user.
  static Result<DataFolder> take(const std::string& data);
  // Removes owner.json and the socket, unless the folder was replaced, and releases the lock.
  ~DataFolder();

  DataFolder(DataFolder&& other) noexcept;
  DataFolder& operator=(DataFolder&&) = delete;
  DataFolder(const DataFolder&) = delete;

  const std::string& path() const { return path_; }
  // Checks that path() is still the folder that was taken. Errors: unavailable: it was deleted,
  // moved or replaced. Any thread.
  Result<void> check() const;
  // Publishes how to reach this process, by replacing owner.json.
  Result<void> announce(const std::optional<std::string>& url, Timestamp now) const;

 private:
  DataFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

  std::string path_;
  int lock_ = -1;
};

// read_owner() of another process holds the lock for an instant, so taking ownership retries.
inline constexpr int kTakeAttemptsMax = 5;
inline constexpr int kTakePauseMs = 10;

}  // namespace agentrt::runtime
