// channels/limits.h: every bound of the HTTP channel, with its default.
//
// What comes from a peer is limited in size, number and time before anything is done with it. Each
// limit here has a test that reaches it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace agentrt::channels {

using Duration = std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
using Instant = Clock::time_point;

struct StreamLimits {
  // What may wait for one subscriber. Beyond it the subscriber reads from disk once it has room.
  std::size_t queue_frames_max = 4'096;
  std::size_t queue_bytes_max = std::size_t{512} << 10;
  // A subscriber that was live and is further behind than this is told where to resume and closed.
  std::uint64_t behind_events_max = 10'000;
  // One read from disk for one subscriber.
  std::size_t page_events_max = 512;
  std::size_t page_bytes_max = std::size_t{256} << 10;
  // Reads from disk under way at once, over all subscribers; the others wait their turn.
  std::size_t page_reads_max = 32;
  // How often a read that was refused for load is asked again before the stream ends.
  std::size_t page_retries_max = 100;
  // Facts that may wait for the network thread; beyond it subscribers read them from disk.
  std::size_t intake_events_max = 65'536;
  // Subscribers written to before other connections get their turn.
  std::size_t flush_slice = 64;
  // From this many subscribers on, a round of writes is followed by a pause, so that what is
  // committed meanwhile rides in one write instead of many.
  std::size_t paced_from = 32;
  std::chrono::microseconds pace{2'000};
  // The operating system's send buffer of a stream.
  int send_buffer_bytes = 256 << 10;
  Duration keepalive{15'000};
  Duration stall{30'000};  // no byte taken by the peer for so long
};

struct HttpLimits {
  std::uint32_t header_bytes_max = 16 << 10;  // request line and all fields
  std::uint64_t body_bytes_max = std::uint64_t{4} << 20;
  std::size_t connections_max = 4'096;
  // Of them, kept for the Unix socket, so that the command line gets in however many come by TCP.
  std::size_t socket_connections_kept = 64;
  // What all replies may hold together until their peers have taken them; one reply always may.
  std::size_t reply_bytes_max = std::size_t{128} << 20;
  Duration head{10'000};         // from a request's first byte to the end of its head
  Duration body{30'000};         // from there to the end of its body
  Duration idle{60'000};         // between two requests
  Duration stall{30'000};        // no byte of a reply taken for so long
  Duration linger{1'000};        // for the peer to take a refusal before the connection ends
  Duration stop{2'000};          // for replies under way when the server stops
  Duration accept_backoff{100};  // after the process ran out of descriptors
  StreamLimits stream;
};

inline constexpr std::size_t kRpcBatchMax = 100;
inline constexpr std::uint64_t kEventsPageDefault = 100;
inline constexpr std::uint64_t kEventsPageMax = 1'000;
inline constexpr std::size_t kEventsPageBytesMax = std::size_t{8} << 20;
inline constexpr std::size_t kOutputPieceBytes = std::size_t{256}
                                                 << 10;  // read for one reply at once
inline constexpr std::size_t kTokensMax = 1'000;
inline constexpr std::size_t kTokenNameSizeMax = 128;
inline constexpr std::size_t kFramesBytesMax = std::size_t{128} << 10;  // rendered in one piece
inline constexpr int kListenBacklog = 1'024;
inline constexpr int kAcceptBurst = 64;  // connections taken before others get their turn

}  // namespace agentrt::channels
