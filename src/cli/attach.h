// cli/attach.h: connects a CLI command to the runtime that owns the data folder.
//
// Every command is a client of the owner, over its Unix socket. Where there is none, the command
// starts one in the background (cli/owner/background.h), which outlives the command. An owner that
// leaves before it has answered is no error: perform() finds or starts the next one, a bounded
// number of times.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cli/client.h"
#include "cli/remote/remote.h"
#include "cli/signals.h"
#include "runtime/data_folder.h"

namespace agentrt::cli {

// The token for the owner's own CLI, from the data folder.
Result<std::string> read_token(const std::string& data);

// Asks the background owner to leave: at once ("now"), or only if nothing needs it ("idle"). True:
// it leaves.
Result<bool> ask_to_leave(const Client& client, std::string_view when);
// How long an owner that leaves may take: it finishes what is being committed.
inline constexpr int kLeaveTimeoutMs = 30'000;

struct AttachOptions {
  std::string data;
  std::string cwd;                    // that the command was started in
  std::optional<std::string> config;  // --config, absolute: for an owner that has to be started
  // What this command is configured with (config/config_digest.h). A background owner that has
  // another configuration is replaced, if nothing else needs it. Empty: any owner will do.
  std::string config_digest;
  // Called before a background owner is started or used; an error ends the attempt. May be empty.
  std::function<Result<void>()> check;
  // Gives up waiting for a reply when it turns true.
  std::function<bool()> abandon;
  // Present: this runtime is used, and the options above that concern an owner are not.
  std::optional<RemoteTarget> remote = {};
};

// Whether a request may be sent again when the owner left without an answer. It may have been
// carried out, if the owner was killed.
enum class Repeat { never, may };

class Attachment {
 public:
  static constexpr int kHandoversMax = 3;  // from one owner to the next, for one command
  static constexpr int kAttemptsMax = 50;
  static constexpr int kPauseMs = 100;

  static Result<Attachment> make(AttachOptions options);

  const Client& client() const { return *client_; }
  bool remote() const { return options_.remote.has_value(); }
  // The owner, as it was when it was found; empty for a remote runtime.
  const runtime::Owner& owner() const { return owner_; }
  // Runs `work`, which talks to client(). When that fails because the owner has left, finds or
  // starts the next owner and runs `work` again from the start, at most kHandoversMax times and
  // not after a signal. So what `work` does must be repeatable; what it has printed stays printed.
  template <class Work>
  Result<int> perform(Signals& signals, Repeat repeat, Work work) {
    Result<int> done = work();
    for (int i = 0; i < kHandoversMax && repeat == Repeat::may && signals.count() == 0; ++i) {
      if (done || done.error().code != Code::unavailable || !renew()) break;
      done = work();
    }
    return done;
  }
  // After the owner was lost: finds it, or its successor, or starts one.
  Result<void> renew();

 private:
  explicit Attachment(AttachOptions options) : options_(std::move(options)) {}
  Result<bool> try_once();
  Result<bool> join(const runtime::Owner& owner);
  Result<bool> replace_if_changed();
  Result<bool> start();
  Result<void> join_remote();

  AttachOptions options_;
  std::unique_ptr<Client> client_;
  runtime::Owner owner_;
  bool asked_to_leave_ = false;  // an owner with another configuration, once per command
  Error last_;                   // why the latest attempt did not succeed
};

}  // namespace agentrt::cli
