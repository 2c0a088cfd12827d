// cli/tasks/watching.h: the loop of --watch: what is shown is drawn in place at a terminal;
// elsewhere each change is printed as a line.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/chat/frame.h"
#include "cli/context.h"

namespace agentrt::cli {

// One look at what is watched.
struct Seen {
  std::string text;  // at a terminal
  // Elsewhere, in order: the name of an object and its line, which ends with a newline.
  std::vector<std::pair<std::string, std::string>> lines;
  bool over = false;  // nothing will change any more
};

// Text that is redrawn in place. Lines that are too wide are folded, because they may be commands
// to copy; lines beyond the height of the terminal are counted. Pure.
class WatchedText {
 public:
  // The bytes that show the text instead of the last one.
  std::string show(std::string_view text, Size size);
  // Puts the cursor below the text; call once at the end.
  std::string end() const { return shown_ ? "\r\n" : ""; }

 private:
  Canvas canvas_;
  Size size_;
  bool shown_ = false;
};

// The lines that were not printed before, or differ from the last one of their object.
class WatchedLines {
 public:
  std::string changed(const std::vector<std::pair<std::string, std::string>>& lines);

 private:
  std::map<std::string, std::string> printed_;
};

// Looks again and again until it is over or a signal arrives.
Result<int> watch(Context& context, Signals& signals, const std::function<Result<Seen>()>& look);

}  // namespace agentrt::cli
