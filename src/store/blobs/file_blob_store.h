// store/blobs/file_blob_store.h: blobs as files: FOLDER/ab/cdef… by the hexadecimal SHA-256.
//
// A blob is written to FOLDER/new/N, synced, renamed to its name, and the folder synced; a crash at
// any point leaves a file in new/, which the next open() removes, or a whole blob. Writing bytes
// that are there already puts the new file in the place of the old one, which also mends a damaged
// one. Whole files are read once to check their digest; while a file's change time stays the same,
// it is not checked again.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "store/blobs/blob_store.h"
#include "store/blobs/holds.h"

namespace agentrt::store {

inline constexpr std::size_t kCheckedBlobsMax = 4'096;  // remembered as whole

class FileBlobStore final : public BlobStore {
 public:
  // Makes the folder where it is missing. The caller owns it alone.
  static Result<std::unique_ptr<FileBlobStore>> open_folder(std::string folder);

  Result<std::unique_ptr<BlobWriter>> create() override;
  Result<std::unique_ptr<BlobReader>> open(const Digest& digest, std::uint64_t size) override;
  Result<void> list(const std::function<void(const BlobEntry&)>& visit) override;
  void begin_sweep() override { holds_->begin_sweep(); }
  void end_sweep() override { holds_->end_sweep(); }
  Result<bool> remove(const Digest& digest) override;

 private:
  class Writer;

  explicit FileBlobStore(std::string folder) : folder_(std::move(folder)) {}
  std::string shard_of(const Digest& digest) const;
  std::string path_of(const Digest& digest) const;
  // Makes the file at `from`, which is synced, the blob called `digest`.
  Result<void> install(const std::string& from, const Digest& digest);
  bool checked(const std::string& name, const std::string& stamp);
  void remember(const std::string& name, std::string stamp);

  const std::string folder_;
  const std::shared_ptr<Holds> holds_ = std::make_shared<Holds>();
  std::atomic<std::uint64_t> last_new_{0};
  std::mutex checked_mutex_;
  std::list<std::string> checked_order_;                  // oldest first
  std::unordered_map<std::string, std::string> checked_;  // name -> inode, size and change time
};

}  // namespace agentrt::store
