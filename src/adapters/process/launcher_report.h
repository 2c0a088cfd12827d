// adapters/process/launcher_report.h: parses the reports of a launcher.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/codec.h"

namespace agentrt::adapters {

// One report. Each event has its own members; the others are absent.
struct LauncherReport {
  std::string event;  // ready, started, output, violation, refused, execFailed, exited, …
  std::optional<std::int64_t> pid;
  std::optional<std::uint64_t> start_ticks;
  std::optional<schema::Json> layers;
  std::optional<std::uint64_t> out, err;            // bytes written so far
  std::optional<std::uint64_t> out_kept, err_kept;  // of these, bytes stored on disk
  std::optional<std::string> kind, attempted, layer;
  std::optional<bool> advisory;
  std::optional<std::string> stage;
  std::optional<std::int64_t> error;         // an errno
  std::optional<std::int64_t> code, signal;  // how the command ended
  std::optional<std::uint64_t> violations;   // all of them, including those not reported
  std::vector<std::string> limits_hit;
  std::optional<bool> started;    // the command was released from its gate
  std::optional<bool> abandoned;  // killed because its connection closed
};

struct LauncherLayer {
  std::string name;
  bool enforced = false;
  std::string how;
};
// The state of each sandbox layer in a report.
std::vector<LauncherLayer> layers_of(const LauncherReport& report);

// Returns an empty `event` if the text is not a report.
LauncherReport read_launcher_report(std::string_view text);

// Why the command did not run, as a sentence without a full stop.
std::string refusal_of(const LauncherReport& report);

}  // namespace agentrt::adapters
