// cli/chat/status.h: the status line of a conversation. Pure.
//
// Shows only what is known. Parts are omitted from the end of the list of importance when the
// terminal is narrow; what waits for the user and the mode come first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/views/terminal.h"
#include "config/config.h"

namespace agentrt::cli {

struct StatusFacts {
  std::string model;  // empty: routing selects it
  std::string mode;   // empty: not known yet
  std::string sandbox;
  std::optional<std::uint64_t> context_tokens;  // used by the newest request
  std::optional<std::uint64_t> context_max;     // of the model, if it is configured
  std::uint64_t input_tokens = 0;
  std::uint64_t output_tokens = 0;
  std::optional<std::int64_t> cost_micros;  // in millionths of the currency of the price list
  std::size_t queued = 0;
  std::string waiting;  // what a person must do; empty: nothing
  std::string link;     // a problem of the connection; empty: none
};

std::string status_text(const StatusFacts& facts, std::size_t width, Colour colour);

// The bytes that call a person to the terminal. OSC 9 is a notification of the desktop; a terminal
// that does not know it ignores it, so it comes with a bell.
std::string notification(config::Notify notify, std::string_view what);

// "950", "3.4k", "1.2M"
std::string spoken_count(std::uint64_t number);
// "0.0042", "1.27": at least two digits after the point, and two that are not zero.
std::string spoken_cost(std::int64_t micros);

}  // namespace agentrt::cli
