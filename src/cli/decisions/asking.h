// cli/decisions/asking.h: asks a question at the terminal while the turn's event stream is
// followed.
//
// Each answer is one line of input. An invalid answer is explained, and the question stays open.
// The question may also be answered by another client, so reading never blocks: standard input is
// polled together with the stream. After the end of input, this and every later question explains
// how to answer it from elsewhere.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/output.h"
#include "schema/commands/actions.h"

namespace agentrt::cli {

// Combines several descriptors into one that is readable when any of them is.
class Watched {
 public:
  explicit Watched(int signals);
  ~Watched();
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  void add_input();
  void remove_input();
  int descriptor() const { return fd_; }

 private:
  int fd_ = -1;
  bool input_ = false;
};

class Asking {
 public:
  static constexpr std::size_t kLineBytesMax = 64 * 1024;

  Asking(Output& output, Watched& watched) : output_(output), watched_(watched) {}

  bool open() const { return action_.has_value(); }

  void ask(schema::ActionSnapshot action);
  // Reads available input; returns an answer once a complete one was typed. Never blocks.
  std::optional<schema::RespondAction> read();
  // The runtime rejected the answer to `action`.
  void ask_again(schema::ActionSnapshot action, std::string_view why);
  // The question was answered elsewhere, or is no longer open.
  void withdraw();

 private:
  void begin(schema::ActionSnapshot action);
  void close();
  void refuse(std::string_view why);

  Output& output_;
  Watched& watched_;
  std::optional<schema::ActionSnapshot> action_;
  std::string typed_;
  bool input_ended_ = false;
};

}  // namespace agentrt::cli
