// tools/marked_lines.h: shows a text as added or removed lines, as in a diff.
#pragma once

#include <string>
#include <string_view>

namespace agentrt::tools {

// Every line of the text on a new line, after `mark` and a space.
inline std::string marked_lines(std::string_view text, std::string_view mark) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    out.append("\n").append(mark).append(" ").append(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return out;
}

}  // namespace agentrt::tools
