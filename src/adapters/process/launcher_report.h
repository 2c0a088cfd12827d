// adapters/process/launcher_report.h: what a launcher says, read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/codec.h"

namespace agentrt::adapters {

// One report; each event has its own members, the others are absent.
struct LauncherReport {
  std::string event;  // ready, started, output, violation, refused, execFailed, exited, …
  std::optional<std::int64_t> pid;
  std::optional<std::uint64_t> start_ticks;
  std::optional<schema::Json> layers;
  std::optional<std::uint64_t> out, err;            // bytes written so far
  std::optional<std::uint64_t> out_kept, err_kept;  // bytes of them that the disk took
  std::optional<std::string> kind, attempted, layer;
  std::optional<bool> advisory;
  std::optional<std::string> stage;
  std::optional<std::int64_t> error;         // an errno
  std::optional<std::int64_t> code, signal;  // how the command ended
  std::optional<std::uint64_t> violations;   // all of them, told or not
  std::vector<std::string> limits_hit;
  std::optional<bool> started;    // it was let go
  std::optional<bool> abandoned;  // it was ended because nobody was connected any more
};

struct LauncherLayer {
  std::string name;
  bool enforced = false;
  std::string how;
};
// What a report says of each layer.
std::vector<LauncherLayer> layers_of(const LauncherReport& report);

// An event of no name for a text that is none.
LauncherReport read_launcher_report(std::string_view text);

// Why nothing ran, as a sentence without its end.
std::string refusal_of(const LauncherReport& report);

}  // namespace agentrt::adapters
