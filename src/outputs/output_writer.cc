#include "outputs/output_writer.h"

#include <cstring>

#include "schema/json.h"
#include "schema/reports.h"

namespace agentrt::outputs {

void TextCheck::add_byte(unsigned char byte) {
  if (missing_ > 0) {
    good_ = good_ && byte >= low_ && byte <= high_;
    low_ = 0x80;
    high_ = 0xBF;
    --missing_;
    return;
  }
  if (byte < 0x80) {
    good_ = good_ && byte != 0;
    return;
  }
  missing_ = byte >= 0xF0 ? 3 : byte >= 0xE0 ? 2 : 1;
  good_ = good_ && byte >= 0xC2 && byte <= 0xF4;
  // Rejects overlong forms, surrogates and code points past U+10FFFF.
  if (byte == 0xE0) low_ = 0xA0;
  if (byte == 0xED) high_ = 0x9F;
  if (byte == 0xF0) low_ = 0x90;
  if (byte == 0xF4) high_ = 0x8F;
}

void TextCheck::add(std::string_view bytes) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080;
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  while (good_ && !bytes.empty()) {
    std::uint64_t eight = 0;
    if (missing_ == 0 && bytes.size() >= sizeof eight) {
      std::memcpy(&eight, bytes.data(), sizeof eight);
      const bool zero = ((eight - kOnes) & ~eight & kHighBits) != 0;
      if ((eight & kHighBits) == 0 && !zero) {
        bytes.remove_prefix(sizeof eight);
        continue;
      }
    }
    add_byte(static_cast<unsigned char>(bytes.front()));
    bytes.remove_prefix(1);
  }
}

Result<std::unique_ptr<OutputWriter>> OutputWriter::begin(store::BlobStore& blobs,
                                                          const policy::Redactor& redactor) {
  TRY_ASSIGN(auto blob, blobs.create());
  return std::unique_ptr<OutputWriter>(new OutputWriter(std::move(blob), redactor));
}

Result<void> OutputWriter::store(std::string_view bytes) {
  if (bytes.empty()) return {};
  text_.add(bytes);
  // One byte more than the preview, to see whether a character ends with the preview.
  if (beginning_.size() <= schema::kPreviewBytes)
    beginning_ += bytes.substr(0, schema::kPreviewBytes + 1 - beginning_.size());
  return blob_->write(bytes);
}

Result<void> OutputWriter::write(std::string_view bytes) {
  piece_.clear();
  redaction_.put(bytes, piece_);
  return store(piece_);
}

Result<schema::KeptOutput> OutputWriter::finish(const ports::OutputMeta& meta) {
  piece_.clear();
  redaction_.finish(piece_);
  TRY(store(piece_));
  TRY_ASSIGN(store::StoredBlob blob, blob_->seal());
  schema::KeptOutput output;
  output.size = blob.size;
  output.media_type = meta.media_type;
  output.encoding = text_.is_text() ? "utf-8" : "binary";
  output.digest = std::string(schema::kDigestPrefix) + hex(bytes_of(blob.digest));
  if (text_.is_text()) output.preview = schema::utf8_prefix(beginning_, schema::kPreviewBytes);
  output.whole_size = meta.whole_size;
  output.redacted = redaction_.names();
  output.hold = std::move(blob.hold);
  return output;
}

}  // namespace agentrt::outputs
