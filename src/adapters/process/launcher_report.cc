#include "adapters/process/launcher_report.h"

#include <cstdlib>
#include <map>
#include <system_error>

#include <fmt/format.h>

namespace agentrt::adapters {
namespace {

struct Members {
  std::string event;
  std::optional<std::int64_t> pid;
  std::optional<std::uint64_t> start_ticks;
  std::optional<schema::Json> layers;
  std::optional<std::uint64_t> stdout_, stderr_, stdout_kept, stderr_kept;
  std::optional<std::string> kind, attempted, layer;
  std::optional<bool> advisory;
  std::optional<std::string> stage;
  std::optional<std::int64_t> errno_;
  std::optional<schema::Json> code, signal;  // a number or null
  std::optional<std::uint64_t> violations;
  std::optional<std::vector<std::string>> limits_hit;
  std::optional<bool> started, abandoned;
};
BOOST_DESCRIBE_STRUCT(Members, (),
                      (event, pid, start_ticks, layers, stdout_, stderr_, stdout_kept, stderr_kept,
                       kind, attempted, layer, advisory, stage, errno_, code, signal, violations,
                       limits_hit, started, abandoned))

struct Layers {
  std::map<std::string, schema::Json> layers;
};
BOOST_DESCRIBE_STRUCT(Layers, (), (layers))

struct LayerMembers {
  bool enforced = false;
  std::string how;
};
BOOST_DESCRIBE_STRUCT(LayerMembers, (), (enforced, how))

std::optional<std::int64_t> number_in(const std::optional<schema::Json>& json) {
  if (!json || json->text == "null") return std::nullopt;
  return std::strtoll(json->text.c_str(), nullptr, 10);
}

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
          .out_kept = read.stdout_kept,
          .err_kept = read.stderr_kept,
          .kind = std::move(read.kind),
          .attempted = std::move(read.attempted),
          .layer = std::move(read.layer),
          .advisory = read.advisory,
          .stage = std::move(read.stage),
          .error = read.errno_,
          .code = number_in(read.code),
          .signal = number_in(read.signal),
          .violations = read.violations,
          .limits_hit = std::move(read.limits_hit).value_or(std::vector<std::string>{}),
          .started = read.started,
          .abandoned = read.abandoned};
}

std::vector<LauncherLayer> layers_of(const LauncherReport& report) {
  Layers read;
  std::vector<LauncherLayer> out;
  if (!report.layers || !schema::from_json(R"({"layers":)" + report.layers->text + "}", read,
                                           schema::Unknown::ignore))
    return out;
  for (const auto& [name, json] : read.layers) {
    LayerMembers layer;
    if (schema::from_json(json.text, layer, schema::Unknown::ignore))
      out.push_back({name, layer.enforced, layer.how});
  }
  return out;
}

std::string refusal_of(const LauncherReport& report) {
  const std::string stage = report.stage.value_or("no reason given");
  const int error = static_cast<int>(report.error.value_or(0));
  return error == 0 ? stage : fmt::format("{}: {}", stage, std::generic_category().message(error));
}

}  // namespace agentrt::adapters
