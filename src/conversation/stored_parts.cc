#include "conversation/stored_parts.h"

#include <chrono>
#include <future>

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

bool put_part(const ports::StoredPart& part, ImagesSent images, const ReadOutput& read,
              ports::Message& message) {
  if (is_image_type(part.media_type) && images == ImagesSent::none) {
    message.text +=
        fmt::format("\n[The image {} is not shown: the model takes no images.]", part.name);
    return true;
  }
  auto bytes = read ? read(part.session, part.ref) : fail(Code::unavailable, "it cannot be read");
  if (!bytes) {
    const std::string note =
        fmt::format("[output:{} is not available: {}]", part.ref, bytes.error().message);
    message.text.insert(part.media_type.empty() ? part.offset : message.text.size(), note);
    return false;
  }
  if (part.media_type.empty())
    message.text.insert(part.offset, *bytes);
  else
    message.attachments.insert(message.attachments.begin(),
                               {part.name, part.media_type, *std::move(bytes)});
  return true;
}

}  // namespace

std::size_t put_stored_parts(std::vector<ports::Message>& messages, ImagesSent images,
                             const ReadOutput& read) {
  std::size_t unread = 0;
  for (ports::Message& message : messages) {
    // From the last to the first, so that offsets stay valid.
    for (auto part = message.parts.rbegin(); part != message.parts.rend(); ++part)
      if (!put_part(*part, images, read, message)) ++unread;
    message.parts.clear();
  }
  return unread;
}

ReadOutput reader_of(ports::Outputs& outputs) {
  return [&outputs](const SessionId& session, const std::string& ref) -> Result<std::string> {
    Awaited<std::shared_ptr<ports::OpenOutput>> open;
    outputs.open(ref, session, open.taker());
    TRY_ASSIGN(const auto output, open.wait());
    Awaited<std::string> bytes;
    output->read(0, kStoredPartBytesMax, bytes.taker());
    return bytes.wait();
  };
}

}  // namespace agentrt::conversation
