// bench/turn_rate.cc: turns per second over many concurrent threads; each submits its next turn
// when the last one is completed. Worker N uses session PREFIX_N, which must exist, and starts a
// new thread every --thread-turns turns, because the cost of a turn depends on the number of
// earlier ones. Prints one JSON object.
//
// turn_rate --port P --token T --threads N --seconds S --prefix PREFIX [--thread-turns 20]
//           [--warmup-ms 300]
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>

#include "wire.h"

using namespace agentrt::bench;

namespace {

constexpr std::string_view kEnd = "event: turn.completed\n";
constexpr std::string_view kFailure = "event: turn.failed\n";
constexpr int kTimeoutMs = 10'000;

struct Worker {
  int commands = -1;
  int stream = -1;
  std::string session;
  std::uint64_t thread_turns = 20;
  std::uint64_t turns = 0;
  std::string seen;  // the stream's bytes since the turn was submitted
  Clock::time_point submitted;
};

// One of a worker's two sockets.
struct Door {
  Worker* worker = nullptr;
  int socket = -1;
};

void submit(const Target& target, Worker& worker) {
  worker.seen.clear();
  worker.submitted = Clock::now();
  send_all(worker.commands,
           post_text(target, "/v1/commands/submit_turn",
                     fmt::format(R"({{"sessionId":"{}","threadId":"t{}",)"
                                 R"("input":[{{"type":"text","text":"What is the answer?"}}]}})",
                                 worker.session, worker.turns++ / worker.thread_turns)));
}

void open_stream(const Target& target, Worker& worker, std::uint64_t after) {
  worker.stream = connect_to(target, Blocking::yes);
  send_all(worker.stream, stream_text(target, fmt::format("/v1/sessions/{}/events?after={}",
                                                          worker.session, after)));
  std::string head;
  std::array<char, 4096> bytes{};
  while (head.find("\r\n\r\n") == std::string::npos) {
    const ssize_t got = recv(worker.stream, bytes.data(), bytes.size(), 0);
    if (got <= 0) die("the daemon closed a stream");
    head.append(bytes.data(), static_cast<std::size_t>(got));
  }
  if (!head.starts_with("HTTP/1.1 200")) die(fmt::format("refused: {}", head));
}

// Opens each worker's two connections.
int prepare(const Target& target, const Options& options, std::vector<Worker>& workers,
            std::vector<Door>& doors) {
  const int poll = epoll_create1(EPOLL_CLOEXEC);
  for (std::size_t i = 0; i < workers.size(); ++i) {
    Worker& worker = workers[i];
    worker.session = fmt::format("{}_{}", options.text("prefix"), i);
    worker.thread_turns = options.number("thread-turns", 20);
    worker.commands = connect_to(target, Blocking::yes);
    open_stream(target, worker, options.number("after", 1));
    doors[2 * i] = {&worker, worker.commands};
    doors[2 * i + 1] = {&worker, worker.stream};
    for (std::size_t d : {2 * i, 2 * i + 1}) {
      epoll_event event{.events = EPOLLIN, .data = {.ptr = &doors[d]}};
      epoll_ctl(poll, EPOLL_CTL_ADD, doors[d].socket, &event);
    }
  }
  return poll;
}

// Processes received bytes. True: the worker's turn has ended.
bool take(const Door& door, std::string_view text) {
  Worker& worker = *door.worker;
  if (door.socket == worker.commands) {
    if (text.starts_with("HTTP/1.1") && !text.starts_with("HTTP/1.1 200"))
      die(fmt::format("refused: {}", text));
    return false;
  }
  worker.seen.append(text);
  if (worker.seen.find(kFailure) != std::string::npos) die("a turn failed");
  return worker.seen.find(kEnd) != std::string::npos;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options(argc, argv);
  const Target target{static_cast<unsigned short>(options.number("port", 0)),
                      options.text("token")};
  std::vector<Worker> workers(options.number("threads", 1));
  std::vector<Door> doors(workers.size() * 2);
  const int poll = prepare(target, options, workers, doors);
  const double warmup = static_cast<double>(options.number("warmup-ms", 300)) / 1e3;
  const double seconds = static_cast<double>(options.number("seconds", 2));
  std::vector<double> micros;
  std::array<epoll_event, 256> ready{};
  std::array<char, 65536> bytes{};
  const auto begun = Clock::now();
  for (Worker& worker : workers) submit(target, worker);
  for (;;) {
    const double elapsed = micros_since(begun) / 1e6;
    if (elapsed > warmup + seconds) break;
    const int count = epoll_wait(poll, ready.data(), ready.size(), kTimeoutMs);
    if (count <= 0) die("no turn ended in time");
    for (int i = 0; i < count; ++i) {
      const auto& door = *static_cast<Door*>(ready[static_cast<std::size_t>(i)].data.ptr);
      const ssize_t got = recv(door.socket, bytes.data(), bytes.size(), 0);
      if (got <= 0) die("the daemon closed a connection");
      Worker& worker = *door.worker;
      if (!take(door, {bytes.data(), static_cast<std::size_t>(got)})) continue;
      if (elapsed > warmup) micros.push_back(micros_since(worker.submitted));
      submit(target, worker);
    }
  }
  const double measured = micros_since(begun) / 1e6 - warmup;
  fmt::print(R"({{"turns":{},"seconds":{:.3f},"per_second":{:.0f},"p50_us":{:.0f},)"
             R"("p99_us":{:.0f}}})"
             "\n",
             micros.size(), measured, static_cast<double>(micros.size()) / measured,
             percentile(micros, 0.5), percentile(micros, 0.99));
  return 0;
}
