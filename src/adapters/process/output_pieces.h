// adapters/process/output_pieces.h: what a command wrote, cut into pieces for facts.
//
// Remembers how far each stream was passed on, so that whoever hears of the command next continues
// there. One thread at a time; blocks on the disk for small reads.
#pragma once

#include <functional>

#include "adapters/process/run_folder.h"
#include "ports/processes.h"

namespace agentrt::adapters {

class OutputPieces {
 public:
  // `bytes_max`: of both streams together; facts carry no more.
  OutputPieces(RunFolder folder, const ports::HeardSoFar& heard, std::size_t bytes_max)
      : folder_(std::move(folder)), heard_(heard), bytes_max_(bytes_max) {}

  using To = std::function<void(schema::ProcessOutput)>;
  // Gives what the spool holds up to these sizes and was not given yet, in pieces that do not split
  // a character.
  void give(std::uint64_t out, std::uint64_t err, const To& to);

  const RunFolder& folder() const { return folder_; }

 private:
  void give(schema::OutputStream stream, const char* name, std::uint64_t& at, std::uint64_t size,
            const To& to);

  RunFolder folder_;
  ports::HeardSoFar heard_;
  std::size_t bytes_max_;
};

}  // namespace agentrt::adapters
