#include "cli/attach.h"

#include <chrono>
#include <fstream>
#include <thread>

#include <fmt/format.h>

#include "cli/owner/background.h"
#include "schema/codec.h"

namespace agentrt::cli {
namespace {

struct LeaveReply {
  bool leaves = false;
};
BOOST_DESCRIBE_STRUCT(LeaveReply, (), (leaves))

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

Result<bool> ask_to_leave(const Client& client, std::string_view when) {
  TRY_ASSIGN(const std::string text,
             client.ask("POST", "/v1/owner/leave", fmt::format(R"({{"when":"{}"}})", when)));
  LeaveReply reply;
  TRY(schema::from_json(text, reply, schema::Unknown::ignore));
  return reply.leaves;
}

Result<Attachment> Attachment::make(AttachOptions options) {
  Attachment attachment(std::move(options));
  TRY(attachment.renew());
  return attachment;
}

// The token is checked at once, so that a bad one is not mistaken for a missing permission later.
Result<void> Attachment::join_remote() {
  const RemoteTarget& remote = *options_.remote;
  auto client = std::make_unique<Client>(remote.endpoint, remote.token);
  client->set_abandon(options_.abandon);
  const auto known = client->ask("GET", "/v1/sessions?limit=1", "");
  if (!known && known.error().code == Code::unauthenticated)
    return fail(Code::unauthenticated,
                fmt::format("{} does not accept the token; create one on that machine with agentrt "
                            "token create.",
                            remote.where));
  if (!known && known.error().code == Code::unavailable)
    return fail(Code::unavailable,
                fmt::format("{} Check the address {} and that the daemon runs there.",
                            known.error().message, remote.where));
  if (!known && known.error().code != Code::forbidden) return std::unexpected(known.error());
  client_ = std::move(client);
  return {};
}

Result<void> Attachment::renew() {
  if (options_.remote) return join_remote();
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
  TRY_ASSIGN(const auto owner, runtime::read_owner(options_.data));
  if (!owner) return start();
  TRY_ASSIGN(const bool joined, join(*owner));
  if (!joined) {
    last_ = Error{Code::unavailable,
                  fmt::format("The data folder {} is in use by {}, which does not answer on its "
                              "socket; wait for it, or stop it.",
                              options_.data,
                              owner->pid > 0 ? fmt::format("process {}", owner->pid)
                                             : std::string("another process")),
                  {}};
    return false;
  }
  if (owner_.kind != runtime::OwnerKind::background) return true;
  if (options_.check) TRY(options_.check());
  return replace_if_changed();
}

Result<bool> Attachment::join(const runtime::Owner& owner) {
  const auto token = read_token(options_.data);
  if (!token) {
    last_ = token.error();
    return false;
  }
  auto client = std::make_unique<Client>(runtime::socket_path(options_.data), *token);
  client->set_abandon(options_.abandon);
  client->set_folder(options_.cwd);
  const auto alive = client->ask("GET", "/healthz", "");
  if (!alive) {
    last_ = alive.error();
    if (alive.error().code == Code::unavailable) return false;
    return std::unexpected(alive.error());
  }
  client_ = std::move(client);
  owner_ = owner;
  if (owner_.kind) return true;
  // It was found before it had written who it is; it answers, so it has by now.
  TRY_ASSIGN(const auto announced, runtime::read_owner(options_.data));
  if (announced) owner_ = *announced;
  return true;
}

// True: the owner that was found is the one to use.
Result<bool> Attachment::replace_if_changed() {
  if (options_.config_digest.empty() || owner_.config_digest.empty()) return true;
  if (owner_.config_digest == options_.config_digest || asked_to_leave_) return true;
  asked_to_leave_ = true;
  const auto leaves = ask_to_leave(*client_, "idle");
  if (leaves && !*leaves) return true;
  if (!leaves && leaves.error().code != Code::unavailable) return std::unexpected(leaves.error());
  client_.reset();
  (void)runtime::wait_for_no_owner(options_.data, kLeaveTimeoutMs);
  return try_once();
}

Result<bool> Attachment::start() {
  if (runtime::Takeover::in_progress(options_.data)) {
    last_ = Error{Code::unavailable,
                  fmt::format("agentrt serve is taking over the data folder {}, and is not ready.",
                              options_.data),
                  {}};
    return false;
  }
  if (options_.check) TRY(options_.check());
  const auto started = start_background_owner(
      {.data = options_.data, .config = options_.config, .abandon = options_.abandon});
  if (!started && started.error().code != Code::conflict) return std::unexpected(started.error());
  if (!started) last_ = started.error();  // another command was faster: attach to its owner
  TRY_ASSIGN(const auto owner, runtime::read_owner(options_.data));
  if (!owner) return false;
  return join(*owner);
}

}  // namespace agentrt::cli
