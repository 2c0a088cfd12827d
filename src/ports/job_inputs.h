// ports/job_inputs.h: the input of jobs: items as JSON Lines in a stored output.
//
// All functions block and are called on a worker. They may be called from several threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "schema/commands/jobs.h"
#include "schema/outputs.h"

namespace agentrt::ports {

struct CheckedItems {
  std::string ref;
  std::uint64_t items = 0;
  std::optional<schema::KeptOutput>
      stored;  // of inline items: the new output; no fact names it yet
};

class JobInputs {
 public:
  virtual ~JobInputs() = default;
  // Checks every line of the output. Errors: not_found, expired (upload it again), invalid_params
  // (with line and reason), limit_exceeded.
  virtual Result<CheckedItems> check(const SessionId& session, const std::string& ref) = 0;
  // Checks the items and stores them as one output.
  virtual Result<CheckedItems> store(const std::vector<schema::JobItemInput>& items) = 0;
  // The next items after the cursor, in a bounded number; none: the input ends there.
  virtual Result<std::vector<schema::JobLine>> lines(const std::string& ref,
                                                     const schema::JobCursor& after) = 0;
  // Failed items of the job: the newest whose first start is before this sequence (0: all).
  virtual Result<std::vector<schema::JobItemRecord>> failed(const SessionId& session,
                                                            const JobId& job, Sequence before,
                                                            std::size_t limit) = 0;
  virtual Result<std::string> bytes(const std::string& ref, std::uint64_t offset,
                                    std::uint64_t size) = 0;
};

}  // namespace agentrt::ports
