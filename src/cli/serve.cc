// cli/serve.cc: `agentrt serve`.
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "cli/listen_address.h"
#include "cli/verbs.h"
#include "config/config_digest.h"
#include "runtime/runtime.h"

namespace agentrt::cli {
namespace {

constexpr int kTakeoversMax = 50;  // attempts to take the folder from a background owner
constexpr int kTakeoverPauseMs = 100;

// Whether the folder belongs to an owner that makes way, or to one that has not said what it is.
bool makes_way(const std::string& data) {
  const auto owner = runtime::read_owner(data);
  return owner && *owner && (*owner)->kind != runtime::OwnerKind::serve;
}

// Asks a background owner to leave and waits for it; `held` is what it hands over. False: there was
// none that makes way.
bool end_background_owner(const std::string& data, std::string& held) {
  if (!makes_way(data)) return false;
  const auto token = read_token(data);
  if (!token) return true;  // it has just been started
  const Client client(runtime::socket_path(data), *token);
  if (auto given = client.ask("GET", "/v1/environments", "")) held = *std::move(given);
  if (ask_to_leave(client, "now")) (void)runtime::wait_for_no_owner(data, kLeaveTimeoutMs);
  return true;
}

// Starts the runtime; takes the folder over from a background owner if there is one.
Result<std::unique_ptr<runtime::Runtime>> start(const runtime::RuntimeOptions& wanted) {
  if (!makes_way(wanted.data)) {
    auto started = runtime::Runtime::start(wanted);
    if (started || started.error().code != Code::conflict || !makes_way(wanted.data))
      return started;
  }
  TRY_ASSIGN(const runtime::Takeover takeover, runtime::Takeover::begin(wanted.data));
  runtime::RuntimeOptions options = wanted;
  options.taken_over = true;
  for (int attempt = 1;; ++attempt) {
    const bool was_there = end_background_owner(options.data, options.held_environments);
    auto started = runtime::Runtime::start(options);
    const bool again = !started && started.error().code == Code::conflict && was_there;
    if (!again || attempt == kTakeoversMax) return started;
    std::this_thread::sleep_for(std::chrono::milliseconds(kTakeoverPauseMs));
  }
}

}  // namespace

int serve(Context& context, const ServeArguments& arguments) {
  const auto data = data_folder_of(context);
  if (!data) return context.output.problem(data.error());
  auto config = config_of(context, context.cwd);
  if (!config) return context.output.problem(config.error());
  const auto listen = read_listen(arguments, config->server);
  if (!listen) return context.output.problem(listen.error());

  Signals signals;
  runtime::RuntimeOptions options;
  options.config_digest = config::config_digest(*config, context.environment);
  options.config = *std::move(config);
  options.data = *data;
  options.cwd = context.cwd;
  options.listen = *listen;
  options.on_gone = stop_when_gone(context);
  const auto runtime = start(options);
  if (!runtime) {
    context.output.problem(runtime.error());
    return runtime.error().code == Code::invalid_params ? kExitUsage : kExitUnavailable;
  }
  context.output.out(fmt::format("listening on {}\n", (*runtime)->url()));
  if (context.output.screen().out_terminal)
    context.output.hint(
        "· use it from another terminal: agentrt run \"PROMPT\", agentrt sessions; Ctrl-C stops "
        "it");
  while (true) {
    while (signals.count() == 0) signals.wait(-1);
    if (!listen->tls_cert || !signals.only_hangups()) return kExitDone;
    signals.forget();
    const auto reloaded = (*runtime)->reload_tls();
    context.output.err(reloaded ? "agentrt: certificate and key were read again\n"
                                : fmt::format("agentrt: the certificate in use stays: {}\n",
                                              one_line(reloaded.error().message)));
  }
}

}  // namespace agentrt::cli
