// adapters/tools/read_file.h: the read_file tool: numbered lines of a file, as many as fit, or an
// image. Blocks; any thread.
#pragma once

#include "adapters/tools/grounds.h"
#include "adapters/tools/process_text.h"
#include "adapters/tools/until.h"
#include "policy/redaction.h"
#include "ports/outputs.h"
#include "tools/read_file.h"

namespace agentrt::adapters::tools {

inline constexpr std::size_t kReadLineBytesMax = 2'000;  // shown per line
inline constexpr std::uint64_t kReadLinesMax = 2'000;    // default limit
inline constexpr std::string_view kOutputPath = "output:";

struct ReadFrom {
  const Grounds& grounds;
  ports::Outputs& outputs;
  const SessionId& session;
  const policy::Redactor* redactor;
  Result<ProcessText>* process;  // null: the path does not name a process
};

// What a reading tool found: a text, or an image that is still to be stored.
struct Found {
  std::string text;
  std::string image;  // bytes; empty: the text is all
  std::string media_type = {};
};
// An image up to this size is given to models that take images; larger ones are only named.
inline constexpr std::size_t kReadImageBytesMax = 3'750'000;

Outcome<Found> read_file(const ReadFrom& from, const agentrt::tools::ReadFileArgs& args,
                         const Until& until);

}  // namespace agentrt::adapters::tools
