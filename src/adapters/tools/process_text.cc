#include "adapters/tools/process_text.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace agentrt::adapters::tools {

Outcome<bool> ProcessBytes::read(std::string& out) {
  if (!std::exchange(text_read_, true) && !output_.text.empty()) {
    out += output_.text;
    return true;
  }
  for (; at_ < output_.rest.size(); ++at_) {
    ProcessText::Rest& rest = output_.rest[at_];
    const std::size_t before = out.size();
    out.resize(before + kReadBytes);
    const ssize_t got =
        ::pread(rest.file.get(), out.data() + before, kReadBytes, static_cast<off_t>(rest.offset));
    out.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got <= 0) continue;
    rest.offset += static_cast<std::uint64_t>(got);
    return true;
  }
  return false;
}

}  // namespace agentrt::adapters::tools
