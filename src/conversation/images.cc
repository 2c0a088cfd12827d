#include "conversation/images.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <optional>

#include <fmt/format.h>

#include "base/image.h"

namespace agentrt::conversation {
namespace {

constexpr std::chrono::seconds kReadTime{30};

// Waits for the answer to an asynchronous read. The answer may come after the wait is over.
template <class T>
class Awaited {
 public:
  auto taker() {
    return [promise = promise_](Result<T> value) { promise->set_value(std::move(value)); };
  }
  Result<T> wait() {
    std::future<Result<T>> future = promise_->get_future();
    if (future.wait_for(kReadTime) != std::future_status::ready)
      return fail(Code::unavailable, "it cannot be read now");
    return future.get();
  }

 private:
  std::shared_ptr<std::promise<Result<T>>> promise_ = std::make_shared<std::promise<Result<T>>>();
};

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

ReadImage reader_of(ports::Outputs& outputs, SessionId session) {
  return [&outputs,
          session = std::move(session)](const ports::StoredImage& image) -> Result<std::string> {
    Awaited<std::shared_ptr<ports::OpenOutput>> open;
    outputs.open(image.ref, session, open.taker());
    TRY_ASSIGN(const auto output, open.wait());
    Awaited<std::string> bytes;
    output->read(0, ImageLimits{}.image_bytes_max, bytes.taker());
    return bytes.wait();
  };
}

}  // namespace agentrt::conversation
