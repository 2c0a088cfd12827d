// adapters/process/launcher_report.h: what a launcher says, read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "schema/codec.h"

namespace agentrt::adapters {

// One report; each event has its own members, the others are absent.
struct LauncherReport {
  std::string event;  // ready, started, output, violation, refused, execFailed, exited, …
  std::optional<std::int64_t> pid;
  std::optional<std::uint64_t> start_ticks;
  std::optional<schema::Json> layers;
  std::optional<std::uint64_t> out, err;  // bytes written so far
  std::optional<std::string> kind, attempted, layer;
  std::optional<bool> advisory;
  std::optional<std::string> stage;
  std::optional<std::int64_t> error;  // an errno
};

// An event of no name for a text that is none.
LauncherReport read_launcher_report(std::string_view text);

// Why nothing ran, as a sentence without its end.
std::string refusal_of(const LauncherReport& report);

}  // namespace agentrt::adapters
