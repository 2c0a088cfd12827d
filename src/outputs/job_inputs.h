// outputs/job_inputs.h: reads and checks the input of jobs. Any thread; blocks.
//
// Opening a blob verifies its whole digest, so the inputs that were used last stay open.
#pragma once

#include <list>
#include <memory>
#include <mutex>

#include "ports/job_inputs.h"
#include "ports/loop.h"
#include "ports/outputs.h"
#include "store/blobs/blob_store.h"
#include "store/store.h"

namespace agentrt::outputs {

class StoredJobInputs final : public ports::JobInputs {
 public:
  static constexpr std::size_t kOpenMax = 16;    // inputs that stay open
  static constexpr std::size_t kLinesMax = 256;  // per call of lines()
  static constexpr std::size_t kPieceBytes = 64
                                             << 10;  // read at once by lines(), at least one line

  struct Parts {
    store::Store& store;
    store::BlobStore& blobs;
    ports::OutputKeeper& keeper;
    const ports::Loop& clock;
  };

  explicit StoredJobInputs(Parts parts) : parts_(parts) {}

  Result<ports::CheckedItems> check(const SessionId& session, const std::string& ref) override;
  Result<ports::CheckedItems> store(const std::vector<schema::JobItemInput>& items) override;
  Result<std::vector<schema::JobLine>> lines(const std::string& ref,
                                             const schema::JobCursor& after) override;
  Result<std::vector<schema::JobItemRecord>> failed(const SessionId& session, const JobId& job,
                                                    Sequence before, std::size_t limit) override;
  Result<std::string> bytes(const std::string& ref, std::uint64_t offset,
                            std::uint64_t size) override;

 private:
  struct Open {
    std::string ref;
    SessionId session;
    std::mutex mutex;  // a reader is used by one thread at a time
    std::unique_ptr<store::BlobReader> reader;
  };

  Result<std::shared_ptr<Open>> open(const std::string& ref);
  static Result<std::string> read(Open& open, std::uint64_t offset, std::size_t bytes_max);

  const Parts parts_;
  std::mutex mutex_;                       // guards open_
  std::list<std::shared_ptr<Open>> open_;  // used last first
};

}  // namespace agentrt::outputs
