// bench/sse_clients.cc: many subscribers of one session; counts the events delivered to them.
//
// Prints "ready" when every stream is open. Ends when each subscriber has --events events, and
// prints one JSON object. The time is measured from the first event received to the last.
//
// --record FILE stores the bytes of the first subscriber and their times, for bare_fanout: a line
// "MICROSECONDS COUNT" since the first event, then COUNT bytes and a newline.
//
// sse_clients --port P --token T --session S --after N --connections C --events E [--record FILE]
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <array>
#include <cstdio>
#include <fstream>

#include "wire.h"

using namespace agentrt::bench;

namespace {

constexpr std::string_view kMark = "\ndata:";
constexpr int kTimeoutMs = 30'000;

struct Subscriber {
  int socket = -1;
  std::string tail;  // the last bytes, which may contain the start of a marker
  std::uint64_t events = 0;
};

std::uint64_t count_marks(Subscriber& subscriber, std::string_view bytes) {
  subscriber.tail.append(bytes);
  std::uint64_t count = 0;
  std::size_t from = 0;
  for (;;) {
    const std::size_t at = subscriber.tail.find(kMark, from);
    if (at == std::string::npos) break;
    ++count;
    from = at + kMark.size();
  }
  const std::size_t keep = std::min(subscriber.tail.size() - from, kMark.size() - 1);
  subscriber.tail.erase(0, subscriber.tail.size() - keep);
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options(argc, argv);
  const Target target{static_cast<unsigned short>(options.number("port", 0)),
                      options.text("token")};
  const rlimit files{65536, 65536};
  setrlimit(RLIMIT_NOFILE, &files);
  std::vector<Subscriber> subscribers(options.number("connections", 1000));
  const std::string request =
      stream_text(target, fmt::format("/v1/sessions/{}/events?after={}", options.text("session"),
                                      options.number("after", 0)));
  const int poll = epoll_create1(EPOLL_CLOEXEC);
  std::array<char, 262144> bytes{};
  for (Subscriber& subscriber : subscribers) {
    subscriber.socket = connect_to(target, Blocking::yes);
    send_all(subscriber.socket, request);
    std::string head;
    while (head.find("\r\n\r\n") == std::string::npos) {
      const ssize_t got = recv(subscriber.socket, bytes.data(), bytes.size(), 0);
      if (got <= 0) die("the daemon closed a stream");
      head.append(bytes.data(), static_cast<std::size_t>(got));
    }
    if (!head.starts_with("HTTP/1.1 200")) die(fmt::format("refused: {}", head));
    epoll_event event{.events = EPOLLIN, .data = {.ptr = &subscriber}};
    epoll_ctl(poll, EPOLL_CTL_ADD, subscriber.socket, &event);
  }
  fmt::print("ready\n");
  std::fflush(stdout);

  const std::uint64_t events = options.number("events", 100);
  const std::uint64_t wanted = subscribers.size() * events;
  std::uint64_t received_bytes = 0;
  std::uint64_t delivered = 0;
  Clock::time_point first;
  std::array<epoll_event, 256> ready{};
  const std::string record_path = options.text_or("record", "");
  const bool recording = !record_path.empty();
  std::ofstream record;
  if (recording) record.open(record_path, std::ios::binary);
  while (delivered < wanted) {
    const int count = epoll_wait(poll, ready.data(), ready.size(), kTimeoutMs);
    if (count <= 0) die(fmt::format("only {} of {} deliveries came", delivered, wanted));
    for (int i = 0; i < count; ++i) {
      auto& subscriber = *static_cast<Subscriber*>(ready[static_cast<std::size_t>(i)].data.ptr);
      const ssize_t got = recv(subscriber.socket, bytes.data(), bytes.size(), 0);
      if (got <= 0) die("the daemon closed a stream");
      if (delivered == 0) first = Clock::now();
      received_bytes += static_cast<std::uint64_t>(got);
      if (recording && &subscriber == subscribers.data())
        record << fmt::format("{:.0f} {}\n", micros_since(first), got)
               << std::string_view(bytes.data(), static_cast<std::size_t>(got)) << '\n';
      const auto count_new = count_marks(subscriber, {bytes.data(), static_cast<std::size_t>(got)});
      subscriber.events += count_new;
      delivered += count_new;
    }
  }
  const double seconds = micros_since(first) / 1e6;
  // Check each: a correct total could hide one with too many events and one with too few.
  for (const Subscriber& subscriber : subscribers)
    if (subscriber.events != events) die(fmt::format("one got {} events", subscriber.events));
  fmt::print(R"({{"deliveries":{},"bytes":{},"seconds":{:.3f},"per_second":{:.0f}}})"
             "\n",
             delivered, received_bytes, seconds, static_cast<double>(delivered) / seconds);
  return 0;
}
