// cli/attach.h: connects a CLI command to the runtime that owns the data folder.
//
// Where there is an owner, a command is its client. Where there is none, the command becomes the
// owner: it starts a runtime within its own process, reached by the socket alone, and then talks to
// it as any other client would. So there is one path, and a second command that comes meanwhile
// attaches to the first. An owner that leaves before it has answered is no error: perform() finds
// or becomes the next one, a bounded number of times.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cli/client.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "config/config.h"
#include "runtime/runtime.h"

namespace agentrt::cli {

// The token for the owner's own CLI, from the data folder.
Result<std::string> read_token(const std::string& data);

struct AttachOptions {
  std::string data;
  std::string cwd;
  // Asked only when the command becomes the owner.
  std::function<Result<config::Config>()> config;
  // Gives up waiting for a reply when it turns true.
  std::function<bool()> abandon;
  // For runtime::RuntimeOptions::on_gone, if the command becomes the owner.
  std::function<void(const Error&)> on_gone;
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
  // Whether this process is the owner.
  bool owns() const { return runtime_ != nullptr; }
  // Runs `work`, which talks to client(). When that fails because the owner has left, finds or
  // becomes the next owner and runs `work` again from the start, at most kHandoversMax times and
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
  // After the owner was lost: finds it, or its successor, or becomes it.
  Result<void> renew();
  // As the owner: waits until no turn runs and all other clients have disconnected. False:
  // interrupted by a signal.
  [[nodiscard]] bool settle(Signals& signals, Output& output) const;

 private:
  explicit Attachment(AttachOptions options) : options_(std::move(options)) {}
  Result<bool> try_once();
  Result<bool> join();
  Result<void> become();

  AttachOptions options_;
  std::unique_ptr<runtime::Runtime> runtime_;
  std::unique_ptr<Client> client_;
  Error last_;  // of the last attempt
};

}  // namespace agentrt::cli
