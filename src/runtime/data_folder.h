// runtime/data_folder.h: the folder that holds everything a runtime keeps, and its one owner.
//
// DATA/lock is locked (flock) by the process that owns the folder, for as long as it owns it; the
// operating system gives the lock back when the process ends, however it ends. DATA/owner.json says
// who the owner is and how to reach it; it is a courtesy, never the proof: whether there is an
// owner is asked of the lock. The folder is mode 0700, so the files in it are the user's alone.
//
// A DataFolder is a resource with one holder; it is not thread-safe and does not need to be.
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
  std::int64_t pid = 0;            // 0: the owner has not said yet
  std::optional<std::string> url;  // absent: reached by the socket alone
  std::string socket;
  std::optional<Timestamp> started_at;

  bool operator==(const Owner&) const = default;
};

// Where things are within a data folder.
std::string lock_path(const std::string& data);
std::string owner_path(const std::string& data);
std::string socket_path(const std::string& data);
std::string token_path(const std::string& data);
std::string store_path(const std::string& data);
std::string blobs_path(const std::string& data);
std::string clock_path(const std::string& data);

// Who owns `data` now; nothing when nobody does, also when owner.json was left behind by a process
// that ended without cleaning up. A folder that does not exist has no owner.
Result<std::optional<Owner>> read_owner(const std::string& data);

class DataFolder {
 public:
  // Makes the folder where it is missing and takes it. Errors: conflict (another process owns it;
  // the message names its pid and the folder, details {"pid", "data", "url"?}), unavailable (the
  // folder cannot be made, is not a folder, or belongs to someone else).
  static Result<DataFolder> take(const std::string& data);
  // Removes owner.json and the socket, unless the folder is another's by now, and lets it go.
  ~DataFolder();

  DataFolder(DataFolder&& other) noexcept;
  DataFolder& operator=(DataFolder&&) = delete;
  DataFolder(const DataFolder&) = delete;

  const std::string& path() const { return path_; }
  // Whether the folder at path() is still the one that was taken; unavailable if it was deleted,
  // moved or replaced. Any thread.
  Result<void> check() const;
  // Tells others how to reach this process: replaces owner.json whole.
  Result<void> announce(const std::optional<std::string>& url, Timestamp now) const;

 private:
  DataFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

  std::string path_;
  int lock_ = -1;
};

// Someone asking read_owner() holds the lock for an instant; taking the folder waits that out.
inline constexpr int kTakeAttemptsMax = 5;
inline constexpr int kTakePauseMs = 10;

}  // namespace agentrt::runtime
