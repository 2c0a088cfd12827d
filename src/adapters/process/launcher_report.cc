#include "adapters/process/launcher_report.h"

#include <system_error>

#include <fmt/format.h>

namespace agentrt::adapters {
namespace {

struct Members {
  std::string event;
  std::optional<std::int64_t> pid;
  std::optional<std::uint64_t> start_ticks;
  std::optional<schema::Json> layers;
  std::optional<std::uint64_t> stdout_, stderr_;
  std::optional<std::string> kind, attempted, layer;
  std::optional<bool> advisory;
  std::optional<std::string> stage;
  std::optional<std::int64_t> errno_;
};
BOOST_DESCRIBE_STRUCT(Members, (),
                      (event, pid, start_ticks, layers, stdout_, stderr_, kind, attempted, layer,
                       advisory, stage, errno_))

}  // namespace

LauncherReport read_launcher_report(std::string_view text) {
  Members read;
  if (!schema::check_json(text) || !schema::from_json(text, read, schema::Unknown::ignore))
    return {};
  return {.event = std::move(read.event),
          .pid = read.pid,
          .start_ticks = read.start_ticks,
          .layers = std::move(read.layers),
          .out = read.stdout_,
          .err = read.stderr_,
          .kind = std::move(read.kind),
          .attempted = std::move(read.attempted),
          .layer = std::move(read.layer),
          .advisory = read.advisory,
          .stage = std::move(read.stage),
          .error = read.errno_};
}

std::string refusal_of(const LauncherReport& report) {
  const std::string stage = report.stage.value_or("for no reason given");
  const int error = static_cast<int>(report.error.value_or(0));
  return error == 0 ? stage : fmt::format("{}: {}", stage, std::generic_category().message(error));
}

}  // namespace agentrt::adapters
