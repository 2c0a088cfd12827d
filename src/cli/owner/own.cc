// cli/owner/own.cc: the hidden verb `own`: the background owner of a data folder.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>

#include <fmt/format.h>

#include "cli/owner/background.h"
#include "cli/verbs.h"
#include "config/config_digest.h"
#include "runtime/runtime.h"

namespace agentrt::cli {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// The owner leaves after this time in which nothing needed it.
constexpr milliseconds kIdle{60'000};
constexpr milliseconds kTickMin{5}, kTickMax{1'000};  // how often it looks

// Tests shorten the time.
milliseconds idle_time(const config::Environment& environment) {
  const std::string text = environment("AGENTRT_OWNER_IDLE_MS").value_or("");
  std::int64_t given = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), given);
  if (error != std::errc{} || end != text.data() + text.size() || given < 0) return kIdle;
  return std::min(milliseconds(given), kIdle);
}

Result<std::unique_ptr<runtime::Runtime>> start(Context& context) {
  TRY_ASSIGN(const std::string data, data_folder_of(context));
  runtime::RuntimeOptions options;
  TRY_ASSIGN(options.config, config_of(context, ""));
  options.config_digest = config::config_digest(options.config, context.environment);
  options.data = data;
  options.cwd = "/";  // none of its own
  options.on_gone = stop_when_gone(context);
  options.on_leave = [] { ::kill(::getpid(), SIGTERM); };
  return runtime::Runtime::start(std::move(options));
}

// Returns when nothing has needed the owner for `idle`, or at a signal.
void stay(const runtime::Runtime& runtime, Signals& signals, milliseconds idle) {
  const milliseconds tick = std::clamp(idle / 10, kTickMin, kTickMax);
  Clock::time_point quiet_since = Clock::now();
  std::uint64_t accepted = runtime.connections_accepted();
  while (signals.count() == 0) {
    signals.wait(static_cast<int>(tick.count()));
    const std::uint64_t now_accepted = runtime.connections_accepted();
    if (runtime::needed(runtime.open_work()) || now_accepted != accepted)
      quiet_since = Clock::now();
    else if (Clock::now() - quiet_since >= idle)
      return;
    accepted = now_accepted;
  }
}

}  // namespace

int own(Context& context) {
  ::fcntl(kReportFd, F_SETFD, FD_CLOEXEC);
  Signals signals;
  const auto runtime = start(context);
  if (!runtime) {
    report_start(std::unexpected(runtime.error()));
    return context.output.problem(runtime.error());
  }
  report_start({});
  stay(**runtime, signals, idle_time(context.environment));
  return kExitDone;
}

}  // namespace agentrt::cli
