// outputs/output_writer.h: writes one output: redacts, detects text, and stores the bytes.
//
// Memory is bounded by one piece, the preview and what redaction holds back. One thread at a time;
// blocks on the disk.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "policy/redaction.h"
#include "ports/outputs.h"
#include "store/blobs/blob_store.h"

namespace agentrt::outputs {

// Checks whether bytes that arrive in pieces are UTF-8 without a zero byte.
class TextCheck {
 public:
  void add(std::string_view bytes);
  bool is_text() const { return good_ && missing_ == 0; }

 private:
  void add_byte(unsigned char byte);

  bool good_ = true;
  unsigned missing_ = 0;  // missing bytes of an incomplete character
  unsigned char low_ = 0x80, high_ = 0xBF;
};

class OutputWriter {
 public:
  static Result<std::unique_ptr<OutputWriter>> begin(store::BlobStore& blobs,
                                                     const policy::Redactor& redactor);

  Result<void> write(std::string_view bytes);
  // Returns everything except the ref. Call once.
  Result<schema::KeptOutput> finish(const ports::OutputMeta& meta);

 private:
  OutputWriter(std::unique_ptr<store::BlobWriter> blob, const policy::Redactor& redactor)
      : blob_(std::move(blob)), redaction_(&redactor) {}
  Result<void> store(std::string_view bytes);

  std::unique_ptr<store::BlobWriter> blob_;
  policy::RedactingStream redaction_;
  TextCheck text_;
  std::string beginning_;
  std::string piece_;
};

}  // namespace agentrt::outputs
