// sim/history/history_story.h: random histories of conversations under virtual time: turns on
// several threads, rollbacks and forks, with crashes between and within commands. Every model
// request is compared with a book that the story keeps of each conversation.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "sim/checks.h"

namespace agentrt::sim {

// Defects that prove that the checks detect them. Each is planted in the store that the kernel
// reads, or in the history that the engine reads, so the product contains no trace of it.
enum class HistoryPlant {
  none,
  removed_turn_sent,          // a conversation that is read from the log forgets rollbacks
  kept_survives_rollback,     // a kept conversation is used again after a rollback
  prefix_moved,               // the oldest messages are left out of long conversations
  fork_sees_later_turns,      // a fork inherits what happened to its source later
  rolled_back_beyond_target,  // a rollback removes the last turn that was to be kept
};

struct HistoryDefect {
  HistoryPlant plant;
  std::string_view name;
  std::uint64_t seeds_max;  // it is found with a seed from 1 to this
};
std::span<const HistoryDefect> history_defects();

// The first violation in the history of this seed.
Checked run_history_story(std::uint64_t seed, HistoryPlant plant = HistoryPlant::none);

}  // namespace agentrt::sim
