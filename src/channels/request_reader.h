// channels/request_reader.h: HTTP/1.1 requests out of bytes.
//
// The reader stops after each head, so that a request can be refused before its body is read: put()
// bytes until the stage is `headed`, judge head(), then accept_body() and go on to `done`. Bytes
// are only used up as far as put() says; the rest belongs to the next put(), or to the next request
// after reset(). It performs no I/O. One thread.
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

  // Returns how many bytes were used. header_too_large, too_large, or invalid_params for what is no
  // HTTP; after an error the reader reads nothing more.
  Result<std::size_t> put(std::string_view bytes);
  Stage stage() const { return stage_; }

  // REQUIRES: a stage after `head`.
  Head& head() { return head_; }
  // REQUIRES: stage `headed`. too_large when the declared length is.
  Result<void> accept_body();
  // The same for a body of any length, which is taken in parts.
  void accept_parts();
  // What has come of such a body since the last call.
  std::string take_part();
  // REQUIRES: stage `done`.
  std::string take_body();
  // Makes ready for the next request.
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
  bool line_begins_ = false;  // the next byte of the head begins a line
};

}  // namespace agentrt::channels
