// adapters/mcp/lines.h: assembles lines from bytes that arrive in arbitrary pieces.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace agentrt::adapters {

class LineReader {
 public:
  explicit LineReader(std::size_t line_bytes_max) : line_bytes_max_(line_bytes_max) {}

  // Calls `take` with each line that `bytes` completes, without its line end. Skips empty lines.
  // False: a line exceeded the limit; do not feed any more.
  template <class Take>
  bool feed(std::string_view bytes, Take take) {
    while (!bytes.empty()) {
      const std::size_t end = bytes.find('\n');
      line_ += bytes.substr(0, end);
      if (line_.size() > line_bytes_max_) return false;
      if (end == std::string_view::npos) return true;
      bytes.remove_prefix(end + 1);
      if (line_.ends_with('\r')) line_.pop_back();
      std::string line;
      line.swap(line_);
      if (!line.empty()) take(std::move(line));
    }
    return true;
  }

 private:
  std::size_t line_bytes_max_;
  std::string line_;  // the incomplete line
};

}  // namespace agentrt::adapters
