// bench/turn_load.cc: runs whole turns one after another: submit_turn on a persistent connection,
// then the session's live stream until the first run.status and until turn.completed. Turn N uses
// session PREFIX_N, whose stream is open before the measurement starts. Prints one JSON object.
//
// turn_load --port P --token T --turns N [--prefix turn] [--warmup 20]
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "wire.h"

using namespace agentrt::bench;

namespace {

constexpr int kTurnTimeoutMs = 10'000;

std::string receive(int socket) {
  std::array<char, 65536> bytes;
  const ssize_t got = recv(socket, bytes.data(), bytes.size(), 0);
  if (got <= 0) die("the daemon closed a connection");
  return {bytes.data(), static_cast<std::size_t>(got)};
}

struct Times {
  double reply_us = 0;
  double status_us = 0;
  double completed_us = 0;
};

Times run_turn(const Target& target, int commands, const std::string& session) {
  const int stream = connect_to(target, Blocking::yes);
  send_all(stream, stream_text(target, fmt::format("/v1/sessions/{}/events?after=1", session)));
  std::string seen;
  while (seen.find("\r\n\r\n") == std::string::npos) seen += receive(stream);
  if (!seen.starts_with("HTTP/1.1 200")) die(fmt::format("refused: {}", seen));

  Times times;
  ReplyReader reply;
  const auto begun = Clock::now();
  send_all(commands,
           post_text(target, "/v1/commands/submit_turn",
                     fmt::format(R"({{"sessionId":"{}","threadId":"t",)"
                                 R"("input":[{{"type":"text","text":"What is the answer?"}}]}})",
                                 session)));
  std::array<pollfd, 2> polled{{{commands, POLLIN, 0}, {stream, POLLIN, 0}}};
  while (times.reply_us == 0 || times.completed_us == 0) {
    if (poll(polled.data(), polled.size(), kTurnTimeoutMs) <= 0) die("a turn did not end");
    if ((polled[0].revents & POLLIN) != 0 && reply.take(receive(commands)))
      times.reply_us = micros_since(begun);
    if ((polled[1].revents & POLLIN) != 0) seen += receive(stream);
    if (times.status_us == 0 && seen.find("event: run.status") != std::string::npos)
      times.status_us = micros_since(begun);
    if (times.completed_us == 0 && seen.find("event: turn.completed") != std::string::npos)
      times.completed_us = micros_since(begun);
    if (seen.find("event: turn.failed") != std::string::npos) die("a turn failed");
  }
  close(stream);
  return times;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options(argc, argv);
  const Target target{static_cast<unsigned short>(options.number("port", 0)),
                      options.text("token")};
  const std::uint64_t warmup = options.number("warmup", 20);
  const std::uint64_t turns = options.number("turns", 300);
  const int commands = connect_to(target, Blocking::yes);
  std::vector<double> replies;
  std::vector<double> statuses;
  std::vector<double> completions;
  for (std::uint64_t i = 0; i < warmup + turns; ++i) {
    const Times times = run_turn(target, commands, fmt::format("{}_{}", options.text("prefix"), i));
    if (i < warmup) continue;
    replies.push_back(times.reply_us);
    statuses.push_back(times.status_us);
    completions.push_back(times.completed_us);
  }
  fmt::print(R"({{"turns":{},"reply_p50_us":{:.0f},"reply_p99_us":{:.0f},"status_p50_us":{:.0f},)"
             R"("status_p99_us":{:.0f},"turn_p50_us":{:.0f},"turn_p99_us":{:.0f}}})"
             "\n",
             turns, percentile(replies, 0.5), percentile(replies, 0.99), percentile(statuses, 0.5),
             percentile(statuses, 0.99), percentile(completions, 0.5),
             percentile(completions, 0.99));
  return 0;
}
