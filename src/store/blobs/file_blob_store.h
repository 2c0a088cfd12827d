// store/blobs/file_blob_store.h: blobs as files FOLDER/ab/cdef…, named by their hexadecimal
// SHA-256.
//
// A blob is written to FOLDER/new/N, synced, renamed to its final name, and the folder is synced. A
// crash at any point leaves either a complete blob or a file in new/, which the next open_folder()
// removes. Writing bytes that already exist replaces the old file, which also repairs a damaged
// one. A file is read completely once to verify its digest; it is not verified again while its
// inode, size and change time stay the same.
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

inline constexpr std::size_t kCheckedBlobsMax = 4'096;  // remembered as verified

class FileBlobStore final : public BlobStore {
 public:
  // Creates the folder if it is missing. The caller must own it exclusively.
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
  // Moves the synced file `from` into place as the blob `digest`.
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
