// cli/decisions/asking.h: a question at the terminal, while the turn's stream is still followed.
//
// One line of input is one answer; one that cannot be taken is told why, and the question stays.
// The question may be answered elsewhere meanwhile, so reading never blocks: the descriptor is
// watched beside the stream. Once the input has ended, this and every later question says how it is
// answered elsewhere.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/output.h"
#include "schema/commands/actions.h"

namespace agentrt::cli {

// Several descriptors as one that becomes readable with any of them.
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
  // Takes what was typed; an answer, once there is a whole one. Nothing waits here.
  std::optional<schema::RespondAction> read();
  // The runtime did not take the answer to `action`.
  void ask_again(schema::ActionSnapshot action, std::string_view why);
  // It was answered elsewhere, or nobody has to any more.
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
