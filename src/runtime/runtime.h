// runtime/runtime.h: a whole runtime from a configuration: store, kernel, engine, models, channels.
//
// This is the only place that names concrete classes; main() and the library both build a Runtime
// and hold it. It owns the data folder from start() to its destructor.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "config/config.h"

namespace agentrt::runtime {

struct Listen {
  std::string address = "127.0.0.1";
  unsigned short port = 7717;           // 0 picks one
  std::vector<std::string> host_names;  // further names accepted in Host
  bool allow_remote = false;
  bool behind_proxy = false;
};

struct RuntimeOptions {
  config::Config config;
  std::string data;              // the data folder; made when missing, mode 0700
  std::string cwd;               // the workspace of sessions that name none
  std::optional<Listen> listen;  // absent: reached by the socket DATA/agentrt.sock alone
  // Called once, on a thread of the runtime, when the data folder or the store was deleted, moved
  // or replaced: nothing can be kept any more, so the process must end. Empty: it stops. Commands
  // are refused and /readyz fails for kGoneGraceMs before.
  std::function<void(const Error&)> on_gone;
};

// How often the files are looked at, besides after every commit; and the time from finding them
// gone to on_gone.
inline constexpr std::int64_t kFilesCheckMs = 1'000;
inline constexpr std::int64_t kGoneGraceMs = 1'000;

class Runtime {
 public:
  // Takes the data folder, opens the store, starts every thread and listens. Ready when it returns:
  // owner.json is written and DATA/token exists. Errors: conflict (another process owns the folder;
  // the message names its pid), unavailable (the store cannot be opened), invalid_params.
  static Result<std::unique_ptr<Runtime>> start(RuntimeOptions options);
  ~Runtime();  // stops listening, ends open streams, finishes what is being committed

  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  // http://ADDRESS:PORT, or empty without `listen`.
  const std::string& url() const;
  // How many client connections are open now, over TCP and the socket.
  std::size_t connections() const;
  // Turns that are running or could go on by themselves (not those blocked or waiting).
  std::size_t active_turns() const;

 private:
  struct Parts;
  explicit Runtime(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace agentrt::runtime
