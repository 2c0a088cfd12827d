// adapters/tools/process_text.h: the output of a background process so far, for read_file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/tools/lines.h"
#include "base/ids.h"

namespace agentrt::adapters::tools {

inline constexpr std::string_view kProcessPath = "output:proc_";

// The beginning of the output comes from the log. A process that still runs may have more in its
// spool files, which are open for reading.
struct ProcessText {
  struct Rest {
    Descriptor file;
    std::uint64_t offset = 0;  // of the first byte that is not in `text`
  };
  std::string text;
  std::vector<Rest> rest;
  std::string state;  // such as "It is still running"; a sentence without full stop
};

// Blocks; called on the worker, with the rights of the runtime. Errors: not_found: the session has
// no such background process.
using FindProcess =
    std::function<Result<ProcessText>(const SessionId& session, const ProcessId& process)>;

// Reads the text, then the files.
class ProcessBytes final : public ByteSource {
 public:
  explicit ProcessBytes(ProcessText output) : output_(std::move(output)) {}
  Outcome<bool> read(std::string& out) override;

 private:
  ProcessText output_;
  bool text_read_ = false;
  std::size_t at_ = 0;  // of the file that is read
};

}  // namespace agentrt::adapters::tools
