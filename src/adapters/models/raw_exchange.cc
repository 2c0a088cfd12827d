#include "adapters/models/raw_exchange.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace agentrt::adapters {
namespace {

constexpr std::size_t kHalf = kRawBytesMax / 2;

bool holds_key(std::string_view header) {
  constexpr std::array<std::string_view, 5> kNames = {"authorization", "x-api-key", "api-key",
                                                      "proxy-authorization", "cookie"};
  std::string name(header.substr(0, header.find(':')));
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return std::ranges::find(kNames, name) != kNames.end();
}

}  // namespace

void HeadAndTail::put(std::string_view bytes) {
  const std::size_t room = std::min(bytes.size(), kHalf - head_.size());
  head_ += bytes.substr(0, room);
  bytes.remove_prefix(room);
  tail_ += bytes;
  if (tail_.size() <= kRawBytesMax) return;  // trim rarely, not with every piece
  left_out_ += tail_.size() - kHalf;
  tail_.erase(0, tail_.size() - kHalf);
}

std::string HeadAndTail::text() const {
  const std::size_t cut = tail_.size() > kHalf ? tail_.size() - kHalf : 0;
  if (left_out_ + cut == 0) return head_ + tail_;
  return fmt::format("{}\n[{} bytes omitted]\n{}", head_, left_out_ + cut,
                     std::string_view(tail_).substr(cut));
}

std::string raw_request(const HttpRequest& request) {
  HeadAndTail text;
  text.put(fmt::format("POST {}\n", request.url));
  for (const std::string& header : request.headers)
    text.put((holds_key(header) ? header.substr(0, header.find(':')) + ": [omitted]" : header) +
             "\n");
  text.put("\n");
  text.put(request.body);
  return text.text();
}

std::string raw_head(const HttpHead& head) {
  return fmt::format("HTTP {}\ncontent-type: {}\n\n", head.status, head.content_type);
}

}  // namespace agentrt::adapters
