// adapters/mcp/lines.h: whole lines from bytes as they arrive, split and glued in any way.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace agentrt::adapters {

class LineReader {
 public:
  explicit LineReader(std::size_t line_bytes_max) : line_bytes_max_(line_bytes_max) {}

  // Calls `take` with each line that `bytes` completes, without its end; empty ones are skipped.
  // False: a line passed the limit, and nothing more is to be read.
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
  std::string line_;  // the one that has begun
};

}  // namespace agentrt::adapters
