#include "cli/tasks/watching.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/chat/raw_terminal.h"

namespace agentrt::cli {
namespace {

constexpr int kWatchMs = 500;  // between two looks

}  // namespace

std::string WatchedText::show(std::string_view text, Size size) {
  const std::size_t width = std::max<std::size_t>(size.columns, 2) - 1;
  const std::size_t height = std::max<std::size_t>(size.rows, 2) - 1;
  Frame frame;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    for (std::string& row : fold(text.substr(0, end), width)) frame.rows.push_back(std::move(row));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (frame.rows.size() > height) {
    const std::size_t hidden = frame.rows.size() - height + 1;
    frame.rows.resize(height - 1);
    frame.rows.push_back(
        fit_styled(fmt::format("… {} more lines; a taller terminal shows them", hidden), width));
  }
  if (frame.rows.empty()) frame.rows.emplace_back();
  frame.cursor_row = frame.rows.size() - 1;
  const bool resized = shown_ && size != size_;
  shown_ = true;
  size_ = size;
  return resized ? canvas_.redraw({}, frame) : canvas_.draw({}, frame);
}

std::string WatchedLines::changed(const std::vector<std::pair<std::string, std::string>>& lines) {
  std::string out;
  for (const auto& [name, line] : lines) {
    const auto [known, is_new] = printed_.try_emplace(name, line);
    if (!is_new && known->second == line) continue;
    known->second = line;
    out += line;
  }
  return out;
}

Result<int> watch(Context& context, Signals& signals, const std::function<Result<Seen>()>& look) {
  Output& output = context.output;
  const bool live = output.screen().out_terminal && context.form() == Form::text;
  WatchedText drawn;
  WatchedLines printed;
  for (;;) {
    const auto seen = look();
    if (!seen) {
      output.out(drawn.end());
      return std::unexpected(seen.error());
    }
    const std::string next =
        live ? drawn.show(seen->text, RawTerminal::size({})) : printed.changed(seen->lines);
    if (!output.out(next)) return kExitDone;  // the reader is gone
    if (!seen->over) signals.wait(kWatchMs);
    if (!seen->over && signals.count() == 0) continue;
    output.out(drawn.end());
    return seen->over ? kExitDone : kExitInterrupted;
  }
}

}  // namespace agentrt::cli
