// channels/limits.h: all limits of the HTTP channel, with their defaults.
//
// Input from peers is limited in size, number and time before it is processed. Every limit has a
// test that reaches it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace agentrt::channels {

using Duration = std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
using Instant = Clock::time_point;

struct StreamLimits {
  // Queue of one subscriber. If it is full, the subscriber reads from disk later.
  std::size_t queue_frames_max = 4'096;
  std::size_t queue_bytes_max = std::size_t{512} << 10;
  // A live subscriber that falls further behind gets its resume position and is closed.
  std::uint64_t behind_events_max = 10'000;
  // One read from disk for one subscriber.
  std::size_t page_events_max = 512;
  std::size_t page_bytes_max = std::size_t{256} << 10;
  // Reads from disk in flight, over all subscribers; further ones are queued.
  std::size_t page_reads_max = 32;
  // Retries of a read that was refused because of load, before the stream ends.
  std::size_t page_retries_max = 100;
  // Facts queued for the network thread; beyond it subscribers read them from disk.
  std::size_t intake_events_max = 65'536;
  // Subscribers written to before other connections are served.
  std::size_t flush_slice = 64;
  // With at least this many subscribers, rounds of writes are separated by a pause, so that one
  // write carries several commits.
  std::size_t paced_from = 32;
  std::chrono::microseconds pace{2'000};
  // SO_SNDBUF of a stream.
  int send_buffer_bytes = 256 << 10;
  Duration keepalive{15'000};
  Duration stall{30'000};  // the peer has not read a byte for this long
};

// Of one WebSocket connection.
struct ChannelLimits {
  std::size_t per_connection = 256;                     // subscriptions
  std::size_t message_bytes = std::size_t{4} << 20;     // of one received message
  std::size_t calls_in_flight = 64;                     // further ones are `overloaded`
  Duration ping{20'000};                                // three unanswered pings disconnect
  std::size_t unread_bytes_max = std::size_t{8} << 20;  // beyond it nothing more is received
};

struct HttpLimits {
  std::uint32_t header_bytes_max = 16 << 10;  // request line and all header fields
  std::uint64_t body_bytes_max = std::uint64_t{4} << 20;
  std::size_t connections_max = 4'096;
  // Connections reserved for the Unix socket, so that the CLI can always connect.
  std::size_t socket_connections_kept = 64;
  // Total size of all pending replies; a single reply is always allowed.
  std::size_t reply_bytes_max = std::size_t{128} << 20;
  Duration head{10'000};         // from the first byte of a request to the end of its head
  Duration body{30'000};         // from the head to the end of the body
  Duration idle{60'000};         // between two requests
  Duration stall{30'000};        // the peer has not read a byte of a reply for this long
  Duration linger{1'000};        // for the peer to read an error before the connection closes
  Duration stop{2'000};          // for pending replies when the server stops
  Duration accept_backoff{100};  // pause after the process ran out of descriptors
  StreamLimits stream;
  ChannelLimits channels;
};

inline constexpr std::size_t kRpcBatchMax = 100;
inline constexpr std::size_t kEventTypesMax = 64;  // of a filter
inline constexpr std::uint64_t kEventsPageDefault = 100;
inline constexpr std::uint64_t kEventsPageMax = 1'000;
inline constexpr std::size_t kEventsPageBytesMax = std::size_t{8} << 20;
// Read at once for one reply.
inline constexpr std::size_t kOutputPieceBytes = std::size_t{256} << 10;
inline constexpr std::size_t kTokensMax = 1'000;
inline constexpr std::size_t kTokenNameSizeMax = 128;
inline constexpr std::size_t kLoginCodesMax = 16;  // open at once
inline constexpr Duration kLoginCodeTime{60'000};  // within which a code is used
inline constexpr Duration kLoginTokenTime{std::chrono::hours{12}};
inline constexpr std::size_t kFramesBytesMax = std::size_t{128} << 10;  // rendered at once
inline constexpr int kListenBacklog = 1'024;
inline constexpr int kAcceptBurst = 64;  // accepted before other connections are served

}  // namespace agentrt::channels
