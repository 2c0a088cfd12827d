// bench/bare_fanout.cc: a minimal Beast server that delivers events to subscribers, as a baseline.
//
// It reads one request per connection with Beast and answers with the head of an event stream, or
// with that of a WebSocket. When --subscribers have connected, it plays a recording of
// stream_clients: the bytes that a single subscriber got from the real daemon, at the same times.
// Data that is due goes to every subscriber in one write if the socket accepts it; late data is
// sent together. There is no store, session, token or limit, so this is the upper bound of what a
// Beast server can do.
//
// bare_fanout --replay FILE --subscribers N [--over websocket]     (prints "listening PORT" first)
#include <fmt/format.h>
#include <sys/resource.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <cstdio>
#include <fstream>
#include <memory>

#include "wire.h"

using namespace agentrt::bench;
namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;

namespace {

constexpr int kSendBufferBytes = 256 << 10;  // same value as in the daemon
constexpr std::string_view kUpgradeHead =
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
    "{\"result\":{}}";
constexpr std::string_view kStreamHead =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n\r\n: ok\n\n";

// The recording as one text, and the time at which each part is due. All subscribers share the
// text; one that is behind gets everything it lacks in one write.
class Recording {
 public:
  // File format, repeated: a line "MICROSECONDS COUNT", then COUNT bytes and a newline.
  explicit Recording(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    Mark mark;
    for (std::size_t count = 0; in >> mark.after_us >> count;) {
      in.get();
      const std::size_t from = text_.size();
      text_.resize(from + count);
      in.read(text_.data() + from, static_cast<std::streamsize>(count));
      mark.end = text_.size();
      marks_.push_back(mark);
    }
    if (marks_.empty()) die(fmt::format("{} holds no recording", path));
  }

  void start(Clock::time_point begun) { begun_ = begun; }
  // The part that is due now.
  std::string_view due() {
    if (!done()) {
      const double now = micros_since(begun_);
      while (!done() && marks_[next_].after_us <= now) end_ = marks_[next_++].end;
    }
    return {text_.data(), end_};
  }
  bool done() const { return next_ == marks_.size(); }
  Clock::time_point next() const {
    return begun_ + std::chrono::microseconds(static_cast<int>(marks_[next_].after_us));
  }

 private:
  struct Mark {
    double after_us = 0;
    std::size_t end = 0;
  };
  std::string text_;
  std::vector<Mark> marks_;
  std::size_t next_ = 0;
  std::size_t end_ = 0;
  Clock::time_point begun_;
};

class Subscriber : public std::enable_shared_from_this<Subscriber> {
 public:
  explicit Subscriber(tcp::socket socket) : stream_(std::move(socket)) {
    stream_.socket().set_option(tcp::no_delay(true));
    stream_.socket().set_option(asio::socket_base::send_buffer_size(kSendBufferBytes));
  }

  template <class Done>
  void start(std::string_view head, Done done) {
    http::async_read(stream_, buffer_, request_,
                     [self = shared_from_this(), head, done](beast::error_code error, std::size_t) {
                       if (error) die("a subscriber's request could not be read");
                       self->stream_.socket().non_blocking(true);
                       asio::write(self->stream_.socket(), asio::buffer(head));
                       done();
                     });
  }

  // Writes the missing part of the recording until the socket accepts no more.
  void flush(Recording& recording) {
    if (blocked_) return;
    for (std::string_view due = recording.due(); sent_ < due.size();) {
      beast::error_code error;
      sent_ +=
          stream_.socket().write_some(asio::buffer(due.data() + sent_, due.size() - sent_), error);
      if (error == asio::error::would_block) return wait(recording);
      if (error) die(fmt::format("writing: {}", error.message()));
    }
  }

 private:
  void wait(Recording& recording) {
    blocked_ = true;
    stream_.socket().async_wait(tcp::socket::wait_write,
                                [self = shared_from_this(), &recording](beast::error_code error) {
                                  if (error) return;
                                  self->blocked_ = false;
                                  self->flush(recording);
                                });
  }

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  http::request<http::empty_body> request_;
  std::size_t sent_ = 0;
  bool blocked_ = false;
};

class Server {
 public:
  Server(Recording recording, std::size_t wanted, std::string_view head)
      : acceptor_(context_, tcp::endpoint(asio::ip::address_v4::loopback(), 0), true),
        timer_(context_),
        recording_(std::move(recording)),
        wanted_(wanted),
        head_(head) {
    acceptor_.listen(4096);
    fmt::print("listening {}\n", acceptor_.local_endpoint().port());
    std::fflush(stdout);
  }

  // Runs until killed: the end of a stream would be an error for the client.
  void run() {
    const auto open = asio::make_work_guard(context_);
    accept();
    context_.run();
  }

 private:
  void accept() {
    acceptor_.async_accept([this](beast::error_code error, tcp::socket socket) {
      if (error) die(fmt::format("accepting: {}", error.message()));
      subscribers_.push_back(std::make_shared<Subscriber>(std::move(socket)));
      subscribers_.back()->start(head_, [this] {
        if (++ready_ == wanted_) play();
      });
      if (subscribers_.size() < wanted_) accept();
    });
  }

  // Starts after a short delay, because the clients report readiness just after the last
  // connection.
  void play() {
    recording_.start(Clock::now() + std::chrono::milliseconds(200));
    schedule();
  }

  void schedule() {
    if (recording_.done()) return;
    timer_.expires_at(recording_.next());
    timer_.async_wait([this](beast::error_code error) {
      if (error) return;
      publish();
      schedule();
    });
  }

  // Called again for subscribers that were served before the last part was due.
  void publish() {
    std::size_t before = 0;
    std::size_t now = recording_.due().size();
    while (before < now) {
      before = now;
      for (const auto& subscriber : subscribers_) subscriber->flush(recording_);
      now = recording_.due().size();
    }
  }

  asio::io_context context_{1};
  tcp::acceptor acceptor_;
  asio::steady_timer timer_;
  Recording recording_;
  std::size_t wanted_;
  std::string_view head_;
  std::size_t ready_ = 0;
  std::vector<std::shared_ptr<Subscriber>> subscribers_;
};

}  // namespace

int main(int argc, char** argv) {
  const Options options(argc, argv);
  const rlimit files{65536, 65536};
  setrlimit(RLIMIT_NOFILE, &files);
  Server server(Recording(options.text("replay")), options.number("subscribers", 1),
                options.text_or("over", "sse") == "sse" ? kStreamHead : kUpgradeHead);
  server.run();
  return 0;
}
