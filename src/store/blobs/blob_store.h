// store/blobs/blob_store.h: bytes of any size, found by their SHA-256.
//
// A blob is written in pieces and exists from the moment seal() returns: then it is whole and on
// disk, and a fact may name it. Equal bytes are one blob. What is read back is held against size
// and digest first; bytes that are damaged are an error, never an answer.
//
// A blob lives as long as something names it. The store does not know what does; whoever collects
// asks it to remove(), and these rules keep that safe: a sealed blob cannot be removed while its
// `hold` lives, nor, between begin_sweep() and end_sweep(), when it was held at any time since
// begin_sweep(). So a collector that reads after begin_sweep() what is named cannot miss a name.
//
// Any thread may call; a writer or reader belongs to one at a time. All of it blocks on the disk.
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

// Destroyed before seal(), it leaves nothing behind.
class BlobWriter {
 public:
  virtual ~BlobWriter() = default;
  // storage_full, unavailable; after an error only destruction is left.
  virtual Result<void> write(std::string_view bytes) = 0;
  virtual Result<StoredBlob> seal() = 0;
};

// Goes on reading when the blob is removed meanwhile.
class BlobReader {
 public:
  virtual ~BlobReader() = default;
  virtual std::uint64_t size() const = 0;
  // At most `bytes_max`, fewer only at the end. REQUIRES: offset <= size().
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
  // `internal` when it is not there, has another size, or its bytes have another digest.
  virtual Result<std::unique_ptr<BlobReader>> open(const Digest& digest, std::uint64_t size) = 0;

  // Every blob there is, in no order.
  virtual Result<void> list(const std::function<void(const BlobEntry&)>& visit) = 0;
  virtual void begin_sweep() = 0;
  virtual void end_sweep() = 0;
  // False when it is held, or not there.
  virtual Result<bool> remove(const Digest& digest) = 0;
};

}  // namespace agentrt::store
