// bench/http_load.cc: sends commands over persistent connections; each connection sends the next
// command after the reply to the last. Connection N uses session PREFIX_N. Prints one JSON object.
//
// http_load --port P --token T --connections N --seconds S [--prefix bench] [--warmup-ms 500]
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>

#include "wire.h"

using namespace agentrt::bench;

namespace {

struct Connection {
  int socket = -1;
  std::string session;
  ReplyReader reader;
  Clock::time_point sent;
  std::uint64_t count = 0;
};

void send_next(const Target& target, Connection& connection) {
  const std::string body = fmt::format(R"({{"sessionId":"{}","title":"title number {}"}})",
                                       connection.session, ++connection.count);
  connection.reader.next();
  connection.sent = Clock::now();
  send_all(connection.socket, post_text(target, "/v1/commands/update_session", body));
}

struct Outcome {
  std::vector<double> micros;
  double seconds = 0;
};

Outcome drive(const Target& target, std::vector<Connection>& connections, double warmup_seconds,
              double seconds) {
  const int poll = epoll_create1(EPOLL_CLOEXEC);
  for (Connection& connection : connections) {
    epoll_event event{.events = EPOLLIN, .data = {.ptr = &connection}};
    epoll_ctl(poll, EPOLL_CTL_ADD, connection.socket, &event);
    send_next(target, connection);
  }
  Outcome outcome;
  const auto begun = Clock::now();
  std::array<epoll_event, 256> ready{};
  std::array<char, 65536> bytes{};
  for (;;) {
    const double elapsed = micros_since(begun) / 1e6;
    if (elapsed > warmup_seconds + seconds) break;
    const int count = epoll_wait(poll, ready.data(), ready.size(), 100);
    for (int i = 0; i < count; ++i) {
      auto& connection = *static_cast<Connection*>(ready[static_cast<std::size_t>(i)].data.ptr);
      const ssize_t got = recv(connection.socket, bytes.data(), bytes.size(), 0);
      if (got <= 0) die("the daemon closed a connection");
      if (!connection.reader.take({bytes.data(), static_cast<std::size_t>(got)})) continue;
      if (elapsed > warmup_seconds) outcome.micros.push_back(micros_since(connection.sent));
      send_next(target, connection);
    }
  }
  outcome.seconds = micros_since(begun) / 1e6 - warmup_seconds;
  return outcome;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options(argc, argv);
  const Target target{static_cast<unsigned short>(options.number("port", 0)),
                      options.text("token")};
  std::vector<Connection> connections(options.number("connections", 1));
  for (std::size_t i = 0; i < connections.size(); ++i) {
    connections[i].socket = connect_to(target, Blocking::yes);
    connections[i].session = fmt::format("{}_{}", options.text("prefix"), i);
  }
  Outcome outcome =
      drive(target, connections, static_cast<double>(options.number("warmup-ms", 500)) / 1e3,
            static_cast<double>(options.number("seconds", 3)));
  const double rate = static_cast<double>(outcome.micros.size()) / outcome.seconds;
  fmt::print(R"({{"requests":{},"seconds":{:.3f},"per_second":{:.0f},"p50_us":{:.0f},)"
             R"("p99_us":{:.0f}}})"
             "\n",
             outcome.micros.size(), outcome.seconds, rate, percentile(outcome.micros, 0.5),
             percentile(outcome.micros, 0.99));
  return 0;
}
