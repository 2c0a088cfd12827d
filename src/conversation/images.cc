#include "conversation/images.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/image.h"

namespace agentrt::conversation {
namespace {

// Why the image is not sent; absent: it may be.
std::optional<std::string> fault_of(std::string_view bytes, const ports::StoredImage& image,
                                    const ImageLimits& limits) {
  const auto header = image_header(bytes);
  if (!header || !header->whole || header->media_type != image.media_type)
    return "its bytes are damaged";
  if (std::max(header->width, header->height) > limits.pixels_max)
    return fmt::format("it has {} x {} pixels, and {} per side is the limit", header->width,
                       header->height, limits.pixels_max);
  return std::nullopt;
}

// Reads images until a limit is reached.
class Reading {
 public:
  Reading(ImagesSent sent, const ReadImage& read, const ImageLimits& limits)
      : sent_(sent), read_(read), limits_(limits) {}

  // The image, or why it is not sent.
  std::expected<ports::Attachment, std::string> take(const ports::StoredImage& image) {
    if (sent_ != ImagesSent::all)
      return std::unexpected(
          "you cannot see images (the model's configuration lacks images = true)");
    if (image.size > limits_.image_bytes_max)
      return std::unexpected(fmt::format("the limit is {} bytes", limits_.image_bytes_max));
    if (count_ == limits_.count_max || bytes_ + image.size > limits_.bytes_max)
      return std::unexpected(fmt::format("only the newest {} images and {} bytes are sent",
                                         limits_.count_max, limits_.bytes_max));
    auto bytes = read_ ? read_(image) : fail(Code::unavailable, "it cannot be read");
    if (!bytes) return std::unexpected(bytes.error().message);
    if (auto fault = fault_of(*bytes, image, limits_)) return std::unexpected(*std::move(fault));
    ++count_;
    bytes_ += bytes->size();
    return ports::Attachment{image.ref, image.media_type, *std::move(bytes)};
  }

 private:
  const ImagesSent sent_;
  const ReadImage& read_;
  const ImageLimits& limits_;
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace

void attach_images(std::vector<ports::Message>& messages, ImagesSent sent, const ReadImage& read,
                   const ImageLimits& limits) {
  Reading reading(sent, read, limits);
  for (auto message = messages.rbegin(); message != messages.rend(); ++message) {
    std::vector<std::string> unsent;
    for (const ports::StoredImage& image : message->images) {
      auto attachment = reading.take(image);
      if (attachment)
        message->attachments.push_back(*std::move(attachment));
      else
        unsent.push_back(fmt::format("\n[The image output:{} ({}, {} bytes) is not shown: {}.]",
                                     image.ref, image.media_type, image.size, attachment.error()));
    }
    for (const std::string& words : unsent) message->text += words;
    message->images.clear();
  }
}

ReadImage image_reader(ReadOutput read, SessionId session) {
  return [read = std::move(read), session = std::move(session)](const ports::StoredImage& image) {
    return read(session, image.ref);
  };
}

}  // namespace agentrt::conversation
