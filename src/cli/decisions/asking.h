// cli/decisions/asking.h: asks a question at the terminal while the turn's event stream is
// followed.
//
// Each answer is one line of input. Keys that were pressed before the question was readable do not
// count (base/typed_line.h). An invalid answer is explained, and the question stays open.
// The question may also be answered by another client, so reading never blocks: standard input is
// polled together with the stream. After the end of input, this and every later question explains
// how to answer it from elsewhere.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/decisions/keyboard.h"
#include "cli/output.h"
#include "cli/views/call_view.h"
#include "schema/commands/actions.h"

namespace agentrt::cli {

// Combines several descriptors into one that is readable when any of them is.
class Watched {
 public:
  explicit Watched(int signals);
  ~Watched();
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  void add(int descriptor);
  void remove(int descriptor);
  int descriptor() const { return fd_; }

 private:
  int fd_ = -1;
};

class Asking {
 public:
  Asking(Output& output, Watched& watched);

  bool open() const { return action_.has_value(); }

  void ask(schema::ActionSnapshot action);
  // Call when the watched descriptor is readable. Reads available input; returns an answer once a
  // complete one was typed. Never blocks.
  std::optional<schema::RespondAction> read();
  // The runtime rejected the answer to `action`.
  void ask_again(schema::ActionSnapshot action, std::string_view why);
  // The question was answered elsewhere, or is no longer open.
  void withdraw();

 private:
  Paper paper() const;
  void begin(schema::ActionSnapshot action);
  void close();
  void refuse(std::string_view why);

  Output& output_;
  Watched& watched_;
  Keyboard keyboard_;
  std::optional<schema::ActionSnapshot> action_;
  bool input_ended_ = false;
};

}  // namespace agentrt::cli
