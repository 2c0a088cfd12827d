// launcher/connections.h: the supervisor's connections to clients that receive reports and may send
// orders.
//
// The first connection is inherited at start. Only it can open the start gate, and a command that
// must not outlive its client ends with it. Others connect later through RUN/control. Reports are
// queued for a slow reader, up to a limit. Output notifications are not queued, because a later one
// supersedes an earlier one.
#pragma once

#include <deque>

#include "launcher/link.h"

namespace agentrt::launcher {

inline constexpr std::size_t kConnectionsMax = 4;
inline constexpr std::size_t kReportsWaitingMax = 256;  // per connection; then it is closed
inline constexpr std::size_t kOrderBytesMax = 64 * 1024;
inline constexpr int kLastWordSeconds = 5;  // send timeout of the last report

class Connections {
 public:
  enum class Which { first, other };

  void add(Fd connection, Which which);
  std::size_t size() const { return all_.size(); }
  bool has_first() const { return !all_.empty() && all_.front().which == Which::first; }
  bool full() const { return all_.size() >= kConnectionsMax; }

  int descriptor(std::size_t index) const { return all_[index].fd.get(); }
  // The poll events to wait for.
  short events(std::size_t index) const;
  Which which(std::size_t index) const { return all_[index].which; }

  // Receives the next order. An order that is too long becomes empty.
  enum class Received { order, nothing, end };
  Received hear(std::size_t index, std::string& order);
  void close(std::size_t index);

  void report(const std::string& json);
  // Marks a notification as pending. flush() sends it when the connection has room; `text` creates
  // it then.
  void news() {
    for (Connection& each : all_) each.news = true;
  }
  template <class Text>
  void flush(Text text) {
    for (Connection& each : all_) {
      send_waiting(each);
      if (!each.news || !each.waiting.empty()) continue;
      each.news = !send(each, text());
    }
  }
  // Sends the last report, with a timeout.
  void say_last(const std::string& json);

 private:
  struct Connection {
    Fd fd;
    Which which = Which::other;
    std::deque<std::string> waiting;
    bool news = false;
  };
  static bool send(const Connection& to, const std::string& json);
  static void send_waiting(Connection& to);

  std::vector<Connection> all_;
};

}  // namespace agentrt::launcher
