// adapters/models/raw_exchange.h: what goes over the wire of one request, as text for a person who
// looks for a fault: without keys, and of much of it the beginning and the end.
#pragma once

#include <string>
#include <string_view>

#include "adapters/http/http_streams.h"

namespace agentrt::adapters {

inline constexpr std::size_t kRawBytesMax = 1 << 20;  // of each direction

// Text of which at most kRawBytesMax are kept, half of them from its end.
class HeadAndTail {
 public:
  void put(std::string_view bytes);
  // What is kept, with how much was left out between.
  std::string text() const;

 private:
  std::string head_, tail_;
  std::size_t left_out_ = 0;
};

// Method, address, headers but for those that hold a key, and the body.
std::string raw_request(const HttpRequest& request);
std::string raw_head(const HttpHead& head);

}  // namespace agentrt::adapters
