// sim/channels/channel_story.h: random histories of channels under virtual time: peers that
// connect, read, acknowledge, answer, lose their connection and resume, while the runtime crashes.
//
// The peers use the desk and the subscribers of src/channels, and keep only what a careful client
// would store: channel id, resume token, generation and position. Each history is checked by the
// rules of conformance, against snapshots and rows that are rebuilt from the log, and from the side
// of the peers: nothing is lost or repeated without a gap.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "sim/checks.h"

namespace agentrt::sim {

// Defects that prove that the checks detect them. Each is planted at an interface between the parts
// (store, command sink, channel plane, peer), so the product contains no trace of it.
enum class ChannelPlant {
  none,
  ack_goes_back,
  replay_off_by_one,
  silent_gap,
  resume_token_reused,
  disconnect_completes_work,
  answer_crosses_channels,
};

struct ChannelDefect {
  ChannelPlant plant;
  std::string_view name;
  std::uint64_t seeds_max;  // it is found with a seed from 1 to this
};
std::span<const ChannelDefect> channel_defects();

// The first violation in the history of this seed.
Checked run_channel_story(std::uint64_t seed, ChannelPlant plant = ChannelPlant::none);

}  // namespace agentrt::sim
