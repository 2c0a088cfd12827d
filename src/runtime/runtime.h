// runtime/runtime.h: builds a complete runtime from a configuration: store, kernel, engine, models,
// channels.
//
// This is the only module that names concrete classes; main() and library users create a Runtime
// and hold it. It owns the data folder from start() to its destructor.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "channels/desk/in_process.h"
#include "config/config.h"
#include "runtime/open_work.h"

namespace agentrt::runtime {

struct Listen {
  std::string address = "127.0.0.1";
  unsigned short port = 7717;           // 0: a free port is chosen
  std::vector<std::string> host_names;  // further names accepted in Host
  bool allow_remote = false;
  bool behind_proxy = false;
  std::optional<std::string> tls_cert;  // PEM files; both or none: https
  std::optional<std::string> tls_key;
};

struct RuntimeOptions {
  config::Config config;
  std::string data;              // the data folder; made when missing, mode 0700
  std::string cwd;               // the workspace of sessions that name none
  std::optional<Listen> listen;  // absent: reached by the socket DATA/agentrt.sock alone
  // Turns that the previous owner had in flight continue by themselves, whatever the configuration
  // says about restarts: this process took the folder over from it.
  bool taken_over = false;
  std::string held_environments;  // JSON, as the previous owner gave it; empty: none
  // Makes it a background owner: called, on any thread, when a client asks it to leave and it may.
  // Empty: it leaves for nobody.
  std::function<void()> on_leave;
  std::string config_digest;  // for owner.json: identifies what it was configured with
  // Called once, on a thread of the runtime, when the data folder or the store was deleted, moved
  // or replaced. Nothing can be stored any more, so it must end the process; if empty, the process
  // aborts. For kGoneGraceMs before, commands are refused and /readyz fails.
  std::function<void(const Error&)> on_gone;
};

// Interval of the checks of the files, in addition to those after every commit; and the delay from
// a failed check to on_gone.
inline constexpr std::int64_t kFilesCheckMs = 1'000;
inline constexpr std::int64_t kGoneGraceMs = 1'000;

class Runtime {
 public:
  // Takes ownership of the data folder, opens the store, starts all threads and listens. When it
  // returns, the runtime is ready: owner.json is written and DATA/token exists. Errors: conflict:
  // another process owns the folder (the message names its pid); unavailable: the store cannot be
  // opened; invalid_params.
  static Result<std::unique_ptr<Runtime>> start(RuntimeOptions options);
  ~Runtime();  // stops listening, ends streams, finishes the current commit

  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  // http://ADDRESS:PORT or https://…, or empty without `listen`.
  const std::string& url() const;
  // What would be interrupted if the process ended now. Any thread.
  OpenWork open_work() const;
  // How many connections were accepted since the start. Any thread.
  std::uint64_t connections_accepted() const;
  // Runs a command with the rights of the first token, as POST /v1/commands/NAME does, and waits
  // for its reply. Errors: those of the command. Any thread, but not from within a callback.
  Result<std::string> call(std::string command, std::string params);
  // The events of a session after `after`: stored ones, then live ones, until the feed is
  // destroyed. `on_event` gets their JSON on a thread of the runtime and must not block. Errors:
  // not_found, gone. Any thread, but not from within a callback.
  Result<std::unique_ptr<channels::EventFeed>> subscribe(SessionId session, Sequence after,
                                                         channels::OnEvent on_event);
  // Reads certificate and key again, for new connections. On failure those in use stay. Does
  // nothing without TLS.
  Result<void> reload_tls();

 private:
  struct Parts;
  explicit Runtime(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace agentrt::runtime
