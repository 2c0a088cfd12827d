// cli/attach.h: the way from a command to the runtime that owns the data folder.
//
// Where there is an owner, a command is its client. Where there is none, the command becomes the
// owner: it starts a runtime within its own process, reached by the socket alone, and then talks to
// it as any other client would. So there is one path, and a second command that comes meanwhile
// attaches to the first. An owner that vanishes between being found and being reached is no error:
// the search starts over, a bounded number of times.
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

// The token that the owner of the data folder takes from its own command line.
Result<std::string> read_token(const std::string& data);

struct AttachOptions {
  std::string data;
  std::string cwd;
  // Asked only when the command becomes the owner.
  std::function<Result<config::Config>()> config;
  // Gives up waiting for a reply when it turns true.
  std::function<bool()> abandon;
  // As runtime::RuntimeOptions has it, for a command that becomes the owner.
  std::function<void(const Error&)> on_gone;
};

class Attachment {
 public:
  static constexpr int kAttemptsMax = 50;
  static constexpr int kPauseMs = 100;

  static Result<Attachment> make(AttachOptions options);

  const Client& client() const { return *client_; }
  // This process is the owner.
  bool owns() const { return runtime_ != nullptr; }
  // After the owner was lost: finds it, or its successor, or becomes it.
  Result<void> renew();
  // As the owner, stays until no turn runs and every other client has left. False when a signal
  // cut that short.
  [[nodiscard]] bool settle(Signals& signals, Output& output) const;

 private:
  explicit Attachment(AttachOptions options) : options_(std::move(options)) {}
  Result<bool> try_once();
  Result<bool> join();
  Result<void> become();

  AttachOptions options_;
  std::unique_ptr<runtime::Runtime> runtime_;
  std::unique_ptr<Client> client_;
  Error last_;  // why the latest attempt did not succeed
};

}  // namespace agentrt::cli
