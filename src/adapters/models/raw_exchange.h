// adapters/models/raw_exchange.h: records the raw request and response of a model request for
// debugging, without keys; long texts keep only their beginning and end.
#pragma once

#include <string>
#include <string_view>

#include "adapters/http/http_streams.h"

namespace agentrt::adapters {

inline constexpr std::size_t kRawBytesMax = 1 << 20;  // per direction

// A text truncated to at most kRawBytesMax bytes: the first and the last half.
class HeadAndTail {
 public:
  void put(std::string_view bytes);
  // The kept text, with a note of how many bytes were omitted.
  std::string text() const;

 private:
  std::string head_, tail_;
  std::size_t left_out_ = 0;
};

// Method, URL, headers without secrets, and the body.
std::string raw_request(const HttpRequest& request);
std::string raw_head(const HttpHead& head);

}  // namespace agentrt::adapters
