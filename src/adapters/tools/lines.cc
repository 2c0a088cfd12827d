#include "adapters/tools/lines.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <future>

#include <fmt/format.h>

namespace agentrt::adapters::tools {

using schema::Category;

namespace {

// Waits for a result from another thread; empty on timeout.
template <class T>
class Answer {
 public:
  std::move_only_function<void(Result<T>)> taker() {
    return [promise = promise_](Result<T> value) { promise->set_value(std::move(value)); };
  }
  Outcome<T> wait() {
    if (future_.wait_for(std::chrono::milliseconds(kOutputWaitMs)) != std::future_status::ready)
      return refuse(Category::timeout, "The output could not be read within the time limit.",
                    Retry::yes);
    Result<T> value = future_.get();
    if (value) return *std::move(value);
    const bool gone = value.error().code == Code::not_found || value.error().code == Code::expired;
    return refuse(gone ? Category::not_found : Category::unavailable, value.error().message);
  }

 private:
  std::shared_ptr<std::promise<Result<T>>> promise_ = std::make_shared<std::promise<Result<T>>>();
  std::future<Result<T>> future_ = promise_->get_future();
};

}  // namespace

Outcome<bool> FileBytes::read(std::string& out) {
  const std::size_t before = out.size();
  out.resize(before + kReadBytes);
  ssize_t got = 0;
  do got = ::read(file_.get(), out.data() + before, kReadBytes);
  while (got < 0 && errno == EINTR);
  const int error = errno;
  out.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  if (got < 0)
    return refuse(Category::unavailable,
                  fmt::format("The file cannot be read: {}.", std::strerror(error)));
  return got > 0;
}

Outcome<std::unique_ptr<OutputBytes>> OutputBytes::open(ports::Outputs& outputs,
                                                        const std::string& ref,
                                                        const SessionId& session) {
  Answer<std::shared_ptr<ports::OpenOutput>> answer;
  outputs.open(ref, session, answer.taker());
  TRY_ASSIGN(auto output, answer.wait());
  return std::unique_ptr<OutputBytes>(new OutputBytes(std::move(output)));
}

Outcome<bool> OutputBytes::read(std::string& out) {
  Answer<std::string> answer;
  output_->read(offset_, kReadBytes, answer.taker());
  TRY_ASSIGN(const std::string bytes, answer.wait());
  offset_ += bytes.size();
  out += bytes;
  return !bytes.empty();
}

Outcome<std::string_view> LineReader::beginning() {
  if (!piece_waits_) {
    TRY_ASSIGN(const bool more, source_.read(piece_));
    ended_ = !more;
    piece_waits_ = true;
  }
  return piece_;
}

Outcome<void> LineReader::fill() {
  if (at_ > 0) {
    pending_.erase(0, at_);
    looked_ -= at_;
    at_ = 0;
  }
  if (until_.over())
    return refuse(Category::timeout,
                  "The file could not be read completely within the time limit.");
  TRY(beginning());
  piece_waits_ = false;
  if (ended_)
    redaction_.finish(pending_);
  else
    redaction_.put(piece_, pending_);
  piece_.clear();
  return {};
}

// Keeps only the shown part of a line whose end is not read yet.
void LineReader::shorten() {
  const std::string_view rest = std::string_view(pending_).substr(at_);
  if (!in_long_line_ && rest.size() <= line_bytes_max_) return;
  const std::size_t room = in_long_line_ ? 0 : line_bytes_max_;
  if (!in_long_line_) head_ = rest.substr(0, room);
  dropped_ += rest.size() - room;
  in_long_line_ = true;
  at_ = looked_ = pending_.size();
}

bool LineReader::give(Line& line, std::string_view text) {
  if (in_long_line_) {
    line = {head_, dropped_ + text.size()};
    dropped_ = 0;
    in_long_line_ = false;
    return true;
  }
  if (text.ends_with('\r')) text.remove_suffix(1);
  const std::size_t shown = std::min(text.size(), line_bytes_max_);
  line = {text.substr(0, shown), text.size() - shown};
  return true;
}

Outcome<bool> LineReader::next(Line& line) {
  for (;;) {
    const std::size_t end = pending_.find('\n', std::max(at_, looked_));
    if (end != std::string::npos) {
      const std::string_view text = std::string_view(pending_).substr(at_, end - at_);
      at_ = looked_ = end + 1;
      return give(line, text);
    }
    looked_ = pending_.size();
    if (ended_) {
      const std::string_view text = std::string_view(pending_).substr(at_);
      at_ = pending_.size();
      if (text.empty() && !in_long_line_) return false;
      return give(line, text);
    }
    shorten();
    TRY(fill());
  }
}

}  // namespace agentrt::adapters::tools
