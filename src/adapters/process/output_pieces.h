// adapters/process/output_pieces.h: splits the output of a command into pieces for facts.
//
// It remembers the position in each stream, so that a later object can continue there. One thread
// at a time; blocks for small reads from disk.
#pragma once

#include <functional>

#include "adapters/process/run_folder.h"
#include "ports/processes.h"

namespace agentrt::adapters {

class OutputPieces {
 public:
  // `bytes_max`: limit for both streams together. Later output gets no facts.
  OutputPieces(RunFolder folder, const ports::ReceivedSoFar& heard, std::size_t bytes_max)
      : folder_(std::move(folder)), heard_(heard), bytes_max_(bytes_max) {}

  using To = std::function<void(schema::ProcessOutput)>;
  // Reads the output up to these sizes that was not passed on yet, and calls `to` with pieces that
  // do not split a character.
  void give(std::uint64_t out, std::uint64_t err, const To& to);

  const RunFolder& folder() const { return folder_; }

 private:
  void give(schema::OutputStream stream, const char* name, std::uint64_t& at, std::uint64_t size,
            const To& to);

  RunFolder folder_;
  ports::ReceivedSoFar heard_;
  std::size_t bytes_max_;
};

}  // namespace agentrt::adapters
