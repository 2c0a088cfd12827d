#include "channels/link.h"

#include <sys/socket.h>

#include <cerrno>
#include <chrono>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>

namespace agentrt::channels {
namespace {

using boost::system::error_code;

class PlainLink final : public Link {
 public:
  explicit PlainLink(Descriptor socket) : socket_(std::move(socket)) {}

  void read_some(std::span<char> into, ReadDone done) override {
    socket_.async_read_some(
        boost::asio::buffer(into.data(), into.size()),
        [done = std::move(done)](const error_code& error, std::size_t got) mutable {
          done(!error, got);
        });
  }
  std::optional<std::size_t> write_now(std::span<const iovec> bytes) override {
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(bytes.data());  // sendmsg() only reads from it
    message.msg_iovlen = bytes.size();
    while (true) {
      const ssize_t sent =
          ::sendmsg(socket_.native_handle(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (sent >= 0) return static_cast<std::size_t>(sent);
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == ENOBUFS) return 0;
      return std::nullopt;
    }
  }
  void when_writable(Ready ready) override {
    socket_.async_wait(
        Descriptor::wait_write,
        [ready = std::move(ready)](const error_code& error) mutable { ready(!error); });
  }
  void cancel() override {
    error_code ignored;
    socket_.cancel(ignored);
  }
  void shut_down() override { ::shutdown(socket_.native_handle(), SHUT_WR); }
  void set_send_buffer(int bytes) override {
    ::setsockopt(socket_.native_handle(), SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  }
  void close() override {
    error_code ignored;
    socket_.close(ignored);
  }

 private:
  Descriptor socket_;
};

// Copies what it accepts into one record, because OpenSSL needs the same bytes again if the socket
// is not ready. The record is sent before anything else is accepted.
class TlsLink final : public Link, public std::enable_shared_from_this<TlsLink> {
 public:
  TlsLink(Descriptor socket, const TlsContext& context)
      : socket_(std::move(socket)),
        timer_(socket_.get_executor()),
        session_(TlsSession::accept(context, socket_.native_handle())) {}

  void read_some(std::span<char> into, ReadDone done) override {
    const auto progress = session_.read(into);
    if (progress.bytes > 0 || progress.ended)
      return boost::asio::post(
          socket_.get_executor(),
          [done = std::move(done), progress]() mutable { done(!progress.ended, progress.bytes); });
    const auto kind =
        progress.want == TlsSession::Want::write ? Descriptor::wait_write : Descriptor::wait_read;
    socket_.async_wait(kind, [self = shared_from_this(), into,
                              done = std::move(done)](const error_code& error) mutable {
      if (error) return done(false, 0);
      self->read_some(into, std::move(done));
    });
  }

  std::optional<std::size_t> write_now(std::span<const iovec> bytes) override {
    if (broken_) return std::nullopt;
    if (!flush()) return broken_ ? std::nullopt : std::optional<std::size_t>(0);
    std::size_t accepted = 0;
    for (const iovec& piece : bytes) {
      std::string_view rest(static_cast<const char*>(piece.iov_base), piece.iov_len);
      while (!rest.empty()) {
        if (record_.size() == kTlsRecordBytes && !flush()) return accepted;
        const std::string_view part = rest.substr(0, kTlsRecordBytes - record_.size());
        record_ += part;
        accepted += part.size();
        rest.remove_prefix(part.size());
      }
    }
    if (!flush() && !broken_) flush_later();
    return accepted;
  }

  void when_writable(Ready ready) override {
    socket_.async_wait(
        Descriptor::wait_write,
        [self = shared_from_this(), ready = std::move(ready)](const error_code& error) mutable {
          if (!error && !self->flush() && !self->broken_)
            return self->when_writable(std::move(ready));
          ready(!error && !self->broken_);
        });
  }
  void cancel() override {
    error_code ignored;
    socket_.cancel(ignored);
  }
  void shut_down() override {
    if (flush()) session_.end();
    ::shutdown(socket_.native_handle(), SHUT_WR);
  }
  void set_send_buffer(int bytes) override {
    ::setsockopt(socket_.native_handle(), SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  }

  void close() override {
    error_code ignored;
    socket_.cancel(ignored);
    if (flush() || broken_) return close_now();
    timer_.expires_after(kCloseGrace);
    timer_.async_wait([self = shared_from_this()](const error_code&) { self->close_now(); });
    flush_before_close();
  }

 private:
  static constexpr std::chrono::milliseconds kCloseGrace{1'000};

  // Sends the record; false if the socket is not ready.
  bool flush() {
    if (record_.empty()) return true;
    const auto progress = session_.write(record_);
    if (progress.ended) broken_ = true;
    if (progress.bytes == 0) return false;
    record_.clear();
    return true;
  }
  void flush_later() {
    if (std::exchange(flushing_, true)) return;
    socket_.async_wait(Descriptor::wait_write,
                       [self = shared_from_this()](const error_code& error) {
                         self->flushing_ = false;
                         if (error || self->flush() || self->broken_) return;
                         self->flush_later();
                       });
  }
  void flush_before_close() {
    socket_.async_wait(Descriptor::wait_write,
                       [self = shared_from_this()](const error_code& error) {
                         if (error) return;
                         if (self->flush() || self->broken_) return self->close_now();
                         self->flush_before_close();
                       });
  }
  void close_now() {
    if (!socket_.is_open()) return;
    if (!broken_ && record_.empty()) session_.end();
    error_code ignored;
    socket_.close(ignored);
    timer_.cancel();
  }

  using Timer =
      boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                        boost::asio::wait_traits<std::chrono::steady_clock>,
                                        boost::asio::io_context::executor_type>;
  Descriptor socket_;
  Timer timer_;
  TlsSession session_;
  std::string record_;  // accepted, not sent yet
  bool broken_ = false;
  bool flushing_ = false;
};

}  // namespace

LinkPtr plain_link(Descriptor socket) { return std::make_shared<PlainLink>(std::move(socket)); }

LinkPtr tls_link(Descriptor socket, const TlsContext& context) {
  return std::make_shared<TlsLink>(std::move(socket), context);
}

}  // namespace agentrt::channels
