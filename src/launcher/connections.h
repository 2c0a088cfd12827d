// launcher/connections.h: those who are told what happens, and who may give orders.
//
// The first connection is the one that the launcher was born with: it alone opens the gate, and a
// command that may not survive ends with it. Others come later, over RUN/control. A report waits
// for a reader that is slow, up to a bound; news of output does not wait, since the next one says
// more.
#pragma once

#include <deque>

#include "launcher/link.h"

namespace agentrt::launcher {

inline constexpr std::size_t kConnectionsMax = 4;
inline constexpr std::size_t kReportsWaitingMax = 256;  // of one connection; then it is closed
inline constexpr std::size_t kOrderBytesMax = 64 * 1024;
inline constexpr int kLastWordSeconds = 5;  // that a reader has to take the last report

class Connections {
 public:
  enum class Which { first, other };

  void add(Fd connection, Which which);
  std::size_t size() const { return all_.size(); }
  bool has_first() const { return !all_.empty() && all_.front().which == Which::first; }
  bool full() const { return all_.size() >= kConnectionsMax; }

  int descriptor(std::size_t index) const { return all_[index].fd.get(); }
  // What is to be waited for, as poll has it.
  short events(std::size_t index) const;
  Which which(std::size_t index) const { return all_[index].which; }

  // The next order; nothing when there is none. An order that is too long is empty.
  enum class Heard { order, nothing, end };
  Heard hear(std::size_t index, std::string& order);
  void close(std::size_t index);

  void report(const std::string& json);
  // Sent to each once it has room; `text` makes it then.
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
  // The last report: waited for, within a bound.
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
