// store/blobs/blob_store.h: a content-addressed store for blobs of any size, keyed by SHA-256.
//
// A blob is written in chunks and exists once seal() returns: it is then complete and durable, and
// a fact may name it. Equal bytes share one blob. Every read is verified against size and digest
// first; damaged bytes cause an error and are never returned.
//
// The store does not know which facts name a blob; a garbage collector calls remove() for
// unreferenced ones. Two rules make that safe. A sealed blob cannot be removed while its `hold`
// exists. Between begin_sweep() and end_sweep(), a blob cannot be removed if it was held at any
// time since begin_sweep(). A collector that reads the referenced refs after begin_sweep()
// therefore cannot miss a reference.
//
// Callable from any thread; a writer or reader is used by one thread at a time. All calls block on
// the disk.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/digest.h"
#include "base/result.h"
#include "base/time.h"

namespace agentrt::store {

struct StoredBlob {
  Digest digest{};
  std::uint64_t size = 0;
  std::shared_ptr<const void> hold;
};

// Destroying a writer before seal() discards its bytes.
class BlobWriter {
 public:
  virtual ~BlobWriter() = default;
  // Fails with storage_full or unavailable. After an error, only destruction is allowed.
  virtual Result<void> write(std::string_view bytes) = 0;
  virtual Result<StoredBlob> seal() = 0;
};

// Stays readable if the blob is removed meanwhile.
class BlobReader {
 public:
  virtual ~BlobReader() = default;
  virtual std::uint64_t size() const = 0;
  // Returns at most `bytes_max` bytes, and fewer only at the end. REQUIRES: offset <= size().
  virtual Result<std::string> read(std::uint64_t offset, std::size_t bytes_max) = 0;
};

struct BlobEntry {
  Digest digest{};
  std::uint64_t size = 0;
  Timestamp written;
};

class BlobStore {
 public:
  virtual ~BlobStore() = default;

  virtual Result<std::unique_ptr<BlobWriter>> create() = 0;
  // Fails with `internal` if the blob is missing or its size or digest does not match.
  virtual Result<std::unique_ptr<BlobReader>> open(const Digest& digest, std::uint64_t size) = 0;

  // Visits every blob, in no particular order.
  virtual Result<void> list(const std::function<void(const BlobEntry&)>& visit) = 0;
  virtual void begin_sweep() = 0;
  virtual void end_sweep() = 0;
  // Returns false if the blob is held or does not exist.
  virtual Result<bool> remove(const Digest& digest) = 0;
};

}  // namespace agentrt::store
