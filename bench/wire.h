// bench/wire.h: sockets and minimal HTTP for load programs that cost less than what they measure.
//
// Every failure ends the program, because a measurement with errors is invalid.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace agentrt::bench {

using Clock = std::chrono::steady_clock;

// Command line options of the form --name value.
class Options {
 public:
  Options(int argc, char** argv);
  std::string text(const std::string& name) const;  // required
  std::string text_or(const std::string& name, const std::string& otherwise) const;
  std::uint64_t number(const std::string& name, std::uint64_t otherwise) const;

 private:
  std::map<std::string, std::string> values_;
};

struct Target {
  unsigned short port = 0;
  std::string token;
};

[[noreturn]] void die(const std::string& what);

enum class Blocking { yes, no };
int connect_to(const Target& target, Blocking blocking);
void send_all(int socket, std::string_view bytes);

std::string post_text(const Target& target, std::string_view path, std::string_view body);
std::string stream_text(const Target& target, std::string_view path);
// The request that opens a WebSocket, and one message of its client.
std::string upgrade_text(const Target& target, std::string_view path);
std::string text_frame(std::string_view message);

// Collects one reply at a time from a kept connection.
class ReplyReader {
 public:
  // Adds received bytes. True: the reply is complete. A status other than 200 ends the program.
  bool take(std::string_view bytes);
  void next() { buffer_.clear(); }

 private:
  std::string buffer_;
};

// The value below which `share` (0 to 1) of the samples lie. Sorts the samples.
double percentile(std::vector<double>& samples, double share);

double micros_since(Clock::time_point start);

}  // namespace agentrt::bench
