// runtime/data_folder.h: the data folder of a runtime, and its exclusive ownership.
//
// DATA/lock is locked (flock) by the process that owns the folder, for as long as it owns it; the
// operating system gives the lock back when the process ends, however it ends. DATA/owner.json says
// who the owner is and how to reach it; it is a courtesy, never the proof: whether there is an
// owner is asked of the lock. The folder is mode 0700, so the files in it are the user's alone.
// DATA/takeover is locked by a `serve` that is about to take the folder from a background owner.
//
// A DataFolder has one owner; it is not thread-safe, except for check().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <boost/describe/enum.hpp>

#include "base/descriptor.h"
#include "base/result.h"
#include "base/time.h"
#include "config/environment.h"

namespace agentrt::runtime {

// The data folder to use, as an absolute path: `flag` (--data), else AGENTRT_HOME, else
// $XDG_DATA_HOME/agentrt, else ~/.local/share/agentrt. invalid_params: none of them is known.
Result<std::string> resolve_data_folder(const std::optional<std::string>& flag,
                                        const config::Environment& environment);

// background: started by a command that found no owner, leaves when nothing needs it. serve: runs
// until it is stopped.
BOOST_DEFINE_ENUM_CLASS(OwnerKind, background, serve)

struct Owner {
  std::int64_t pid = 0;                  // 0: the owner has not said yet
  std::optional<OwnerKind> kind;         // absent: the owner has not said yet
  std::optional<std::string> url;        // absent: reached by the socket alone
  std::optional<std::string> host_name;  // the first name that it accepts besides its address
  std::string socket;
  std::optional<Timestamp> started_at;
  std::optional<std::string> config;  // the file named by its --config, as an absolute path
  std::string config_digest;          // of its configuration; empty: the owner did not write it

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
std::string owner_log_path(const std::string& data);
std::string environments_path(const std::string& data);
std::string mcp_logins_path(const std::string& data);

// The current owner of `data`; nullopt: none, even if a crashed process left owner.json behind, or
// the folder does not exist.
Result<std::optional<Owner>> read_owner(const std::string& data);

// Makes the folder where it is missing, mode 0700. unavailable: it cannot be made, is not a folder,
// or belongs to someone else.
Result<void> make_data_folder(const std::string& data);

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
  // Tells others who owns the folder and how to reach it: replaces owner.json whole. Fills in pid
  // and socket.
  Result<void> announce(Owner owner) const;

 private:
  DataFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

  std::string path_;
  int lock_ = -1;
};

// The right to take the folder from a background owner. Nobody else starts an owner while it is
// held, so that clients of the old owner which look for the next one cannot be faster.
class Takeover {
 public:
  // conflict: another process is taking the folder over.
  static Result<Takeover> begin(const std::string& data);
  static bool in_progress(const std::string& data);

 private:
  explicit Takeover(Descriptor lock) : lock_(std::move(lock)) {}
  Descriptor lock_;
};

// Waits until nobody owns `data`. False: not within `timeout_ms` milliseconds.
bool wait_for_no_owner(const std::string& data, int timeout_ms);

// read_owner() of another process holds the lock for an instant, so taking ownership retries.
inline constexpr int kTakeAttemptsMax = 5;
inline constexpr int kTakePauseMs = 10;

}  // namespace agentrt::runtime
