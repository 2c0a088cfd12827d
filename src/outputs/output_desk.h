// outputs/output_desk.h: stores and opens outputs.
//
// Bytes are stored first, on a worker. The fact that names them goes through the kernel like any
// other. A ref is looked up in the index rows, so it can be opened as soon as its fact is stored.
// Any thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "outputs/limits.h"
#include "outputs/output_writer.h"
#include "ports/loop.h"
#include "ports/outputs.h"
#include "store/store.h"

namespace agentrt::outputs {

class OutputDesk final : public ports::Outputs, public ports::OutputKeeper {
 public:
  struct Parts {
    store::Store& store;
    store::BlobStore& blobs;
    ports::Worker& worker;
    const ports::Loop& clock;
    const policy::Redactor& redactor;
    ports::ClaimedReports& reports;
    OutputLimits limits;
    std::uint64_t seed = 0;  // for refs
  };

  explicit OutputDesk(Parts parts) : parts_(std::move(parts)) {}

  Result<schema::KeptOutput> keep_file(const std::string& path,
                                       const ports::OutputMeta& meta) override;
  Result<schema::KeptOutput> keep_bytes(std::string_view bytes,
                                        const ports::OutputMeta& meta) override;

  void open(std::string ref, std::optional<SessionId> only, OpenTo open_to) override;
  Result<std::shared_ptr<ports::OutputUpload>> upload(SessionId session, std::string media_type,
                                                      std::optional<std::uint64_t> size) override;

 private:
  class Upload;
  class Opened;

  OutputRef fresh_ref();
  std::unexpected<Error> too_large() const;
  Result<std::shared_ptr<ports::OpenOutput>> find(const std::string& ref,
                                                  const std::optional<SessionId>& only);
  Result<std::shared_ptr<ports::OpenOutput>> find_in_log(const std::string& ref,
                                                         const std::optional<SessionId>& session);

  Parts parts_;
  std::atomic<std::uint64_t> refs_{0};
  const std::shared_ptr<std::atomic<std::size_t>> uploads_ =
      std::make_shared<std::atomic<std::size_t>>(0);
};

}  // namespace agentrt::outputs
