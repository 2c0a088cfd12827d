// sim/fakes/fake_job_inputs.h: the input of jobs, in memory. It outlives the runtime, like the
// blobs of a real one.
#pragma once

#include <map>

#include "ports/job_inputs.h"
#include "store/store.h"

namespace agentrt::sim {

class FakeJobInputs final : public ports::JobInputs {
 public:
  static constexpr std::uint64_t kBytesPerLine = 1'000;  // every item begins at a multiple of it

  Result<ports::CheckedItems> check(const SessionId& session, const std::string& ref) override;
  Result<ports::CheckedItems> store(const std::vector<schema::JobItemInput>& items) override;
  Result<std::vector<schema::JobLine>> lines(const std::string& ref,
                                             const schema::JobCursor& after) override;
  Result<std::vector<schema::JobItemRecord>> failed(const SessionId& session, const JobId& job,
                                                    Sequence before, std::size_t limit) override;
  Result<std::string> bytes(const std::string& ref, std::uint64_t offset,
                            std::uint64_t size) override;

  void set_store(store::Store& store) { store_ = &store; }  // that has the rows of items

 private:
  store::Store* store_ = nullptr;
  std::map<std::string, std::vector<schema::JobItemInput>> stored_;  // by ref
};

}  // namespace agentrt::sim
