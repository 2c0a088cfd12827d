#include "cli/attach.h"

#include <chrono>
#include <fstream>
#include <thread>

#include <fmt/format.h>

#include "runtime/data_folder.h"

namespace agentrt::cli {
namespace {

constexpr int kSettlePollMs = 20;
constexpr int kSettleHintMs = 1'000;

}  // namespace

Result<std::string> read_token(const std::string& data) {
  std::ifstream file(runtime::token_path(data));
  std::string token;
  if (!file || !std::getline(file, token) || token.empty())
    return fail(Code::unavailable,
                fmt::format("The token file {} cannot be read; check its permissions.",
                            runtime::token_path(data)));
  return token;
}

Result<Attachment> Attachment::make(AttachOptions options) {
  Attachment attachment(std::move(options));
  TRY(attachment.renew());
  return attachment;
}

Result<void> Attachment::renew() {
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    if (attempt > 0) std::this_thread::sleep_for(std::chrono::milliseconds(kPauseMs));
    TRY_ASSIGN(const bool attached, try_once());
    if (attached) return {};
    if (options_.abandon && options_.abandon()) break;
  }
  return std::unexpected(last_);
}

// False: failed for now; a retry may succeed.
Result<bool> Attachment::try_once() {
  if (runtime_) return join();
  TRY_ASSIGN(const auto owner, runtime::read_owner(options_.data));
  if (owner) {
    TRY_ASSIGN(const bool joined, join());
    if (!joined)
      last_ = Error{Code::unavailable,
                    fmt::format("The data folder {} is in use by {}, which does not answer on its "
                                "socket; wait for it, or stop it.",
                                options_.data,
                                owner->pid > 0 ? fmt::format("process {}", owner->pid)
                                               : std::string("another process")),
                    {}};
    return joined;
  }
  const auto became = become();
  if (became) return join();
  if (became.error().code != Code::conflict) return std::unexpected(became.error());
  last_ = became.error();  // another process became the owner first: attach to it
  return false;
}

Result<bool> Attachment::join() {
  const auto token = read_token(options_.data);
  if (!token) {
    last_ = token.error();
    return false;
  }
  auto client = std::make_unique<Client>(runtime::socket_path(options_.data), *token);
  client->set_abandon(options_.abandon);
  const auto alive = client->ask("GET", "/healthz", "");
  if (!alive) {
    last_ = alive.error();
    if (alive.error().code == Code::unavailable) return false;
    return std::unexpected(alive.error());
  }
  client_ = std::move(client);
  return true;
}

Result<void> Attachment::become() {
  TRY_ASSIGN(config::Config config, options_.config());
  runtime::RuntimeOptions options;
  options.config = std::move(config);
  options.data = options_.data;
  options.cwd = options_.cwd;
  options.on_gone = options_.on_gone;
  TRY_ASSIGN(runtime_, runtime::Runtime::start(std::move(options)));
  return {};
}

bool Attachment::settle(Signals& signals, Output& output) const {
  if (!runtime_) return true;
  const int before = signals.count();
  for (int waited = 0; runtime_->active_turns() > 0 || runtime_->connections() > 0;
       waited += kSettlePollMs) {
    if (waited == kSettleHintMs)
      output.hint(
          "· other clients or turns still use this runtime; waiting for them (Ctrl-C quits)");
    signals.wait(kSettlePollMs);
    if (signals.count() > before) return false;
  }
  return true;
}

}  // namespace agentrt::cli
