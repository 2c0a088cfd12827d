// channels/request_reader.h: an incremental parser for HTTP/1.1 requests.
//
// The reader stops after each head, so that a request can be rejected before its body is read. Call
// put() until the stage is `headed`, check head(), then call accept_body() and continue to `done`.
// put() returns how many bytes it consumed; pass the rest to the next put(), or to the next request
// after reset(). Does no I/O. Use from one thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "channels/limits.h"
#include "channels/request.h"

namespace agentrt::channels {

class RequestReader {
 public:
  enum class Stage { head, headed, body, done };

  explicit RequestReader(const HttpLimits& limits);
  ~RequestReader();

  // Returns the number of bytes consumed. Fails with header_too_large, too_large, or invalid_params
  // for malformed HTTP. After an error the reader accepts no more input.
  Result<std::size_t> put(std::string_view bytes);
  Stage stage() const { return stage_; }

  // REQUIRES: a stage after `head`.
  Head& head() { return head_; }
  // REQUIRES: stage `headed`. Fails with too_large if the declared length is too large.
  Result<void> accept_body();
  // Like accept_body(), for a body of any length that is read in parts.
  void accept_parts();
  // The bytes of such a body that arrived since the last call.
  std::string take_part();
  // REQUIRES: stage `done`.
  std::string take_body();
  // Prepares for the next request.
  void reset();

 private:
  struct Parser;

  Result<std::size_t> put_head(std::string_view bytes);
  Result<std::size_t> put_body(std::string_view bytes);
  bool is_folded(std::string_view bytes);

  const HttpLimits& limits_;
  std::unique_ptr<Parser> parser_;
  Stage stage_ = Stage::head;
  Head head_;
  std::size_t head_bytes_ = 0;
  bool line_begins_ = false;  // the next byte of the head starts a line
};

}  // namespace agentrt::channels
