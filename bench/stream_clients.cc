// bench/stream_clients.cc: many subscribers of one session; counts the events delivered to them.
//
// Prints "ready" when every stream is open. Ends when each subscriber has --events events, and
// prints one JSON object. The time is measured from the first event received to the last.
//
// --over sse (default), websocket, or channel: a WebSocket with a channel, of which only events of
// type session.updated count, because every connected channel is an event, too. --ack N
// acknowledges every N events of a channel. --tls yes encrypts, without checking the certificate.
//
// --record FILE stores the bytes of the first subscriber and their times, for bare_fanout: a line
// "MICROSECONDS COUNT" since the first event, then COUNT bytes and a newline.
//
// stream_clients --port P --token T --session S --after N --connections C --events E [options]
#include <fmt/format.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <utility>

#include "wire.h"

using namespace agentrt::bench;

namespace {

constexpr int kTimeoutMs = 30'000;

struct Plan {
  Target target;
  std::string session;
  std::uint64_t after = 0;
  std::uint64_t ack_every = 0;
  bool websocket = false;
  bool channel = false;
  std::string_view mark;  // occurs once per counted event
};

class Subscriber {
 public:
  void open(const Plan& plan, SSL_CTX* tls, std::size_t number) {
    socket_ = connect_to(plan.target, Blocking::yes);
    if (tls != nullptr) {
      tls_ = SSL_new(tls);
      SSL_set_fd(tls_, socket_);
      if (SSL_connect(tls_) != 1) die("the TLS handshake failed");
    }
    const std::string path =
        fmt::format("/v1/sessions/{}/events?after={}", plan.session, plan.after);
    write(plan.websocket ? upgrade_text(plan.target, "/v1/ws") : stream_text(plan.target, path));
    std::string got = read_until("\r\n\r\n");
    if (!got.starts_with(plan.websocket ? "HTTP/1.1 101" : "HTTP/1.1 200"))
      die(fmt::format("refused: {}", got));
    if (!plan.websocket) return;
    channel_ = fmt::format("bench_{}_{}", getpid(), number);
    const std::string params =
        plan.channel ? fmt::format(R"("sessionId":"{}","channelId":"{}")", plan.session, channel_)
                     : fmt::format(R"("sessionId":"{}","after":{})", plan.session, plan.after);
    call(plan.channel ? "connect_channel" : "subscribe", params);
    got = read_until(R"("result":)");
  }

  int socket() const { return socket_; }
  // Whether bytes were decrypted that no poll will report.
  bool pending() const { return tls_ != nullptr && SSL_pending(tls_) > 0; }

  std::string_view read() {
    static std::array<char, 262144> bytes{};
    const ssize_t got = tls_ != nullptr ? SSL_read(tls_, bytes.data(), bytes.size())
                                        : recv(socket_, bytes.data(), bytes.size(), 0);
    if (got <= 0) die("the daemon closed a stream");
    return {bytes.data(), static_cast<std::size_t>(got)};
  }

  // Counts the events that `bytes` complete.
  std::uint64_t take(const Plan& plan, std::string_view bytes) {
    tail_.append(bytes);
    std::uint64_t count = 0;
    std::size_t from = 0;
    for (;;) {
      const std::size_t at = tail_.find(plan.mark, from);
      if (at == std::string::npos) break;
      ++count;
      from = at + plan.mark.size();
    }
    if (plan.ack_every > 0) acknowledge(plan, count);
    const std::size_t keep = std::min(tail_.size() - from, plan.mark.size() - 1);
    tail_.erase(0, tail_.size() - keep);
    events_ += count;
    return count;
  }

  std::uint64_t events() const { return events_; }

 private:
  void acknowledge(const Plan& plan, std::uint64_t more) {
    constexpr std::string_view kSequence = R"("sequence":)";
    if (const auto at = tail_.rfind(kSequence); at != std::string::npos) {
      std::uint64_t found = 0;
      const char* digits = tail_.data() + at + kSequence.size();
      const auto end = std::from_chars(digits, tail_.data() + tail_.size(), found).ptr;
      if (end != tail_.data() + tail_.size()) sequence_ = std::max(sequence_, found);
    }
    if ((events_ + more) / plan.ack_every == events_ / plan.ack_every) return;
    call("ack_events", fmt::format(R"("channelId":"{}","sequence":{})", channel_, sequence_));
  }

  void call(std::string_view method, std::string_view params) {
    write(text_frame(fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{{{}}}}})",
                                 ++calls_, method, params)));
  }

  void write(std::string_view bytes) {
    if (tls_ == nullptr) return send_all(socket_, bytes);
    if (SSL_write(tls_, bytes.data(), static_cast<int>(bytes.size())) <= 0) die("SSL_write failed");
  }

  // What follows the mark is kept for take().
  std::string read_until(std::string_view mark) {
    std::string got = std::exchange(tail_, {});
    while (got.find(mark) == std::string::npos) got.append(read());
    tail_ = got.substr(got.find(mark) + mark.size());
    return got;
  }

  int socket_ = -1;
  SSL* tls_ = nullptr;
  std::string channel_;
  std::string tail_;  // the last bytes, which may contain the start of a mark
  std::uint64_t events_ = 0;
  std::uint64_t sequence_ = 0;  // the last one seen
  std::uint64_t calls_ = 0;
};

Plan plan_of(const Options& options) {
  const std::string over = options.text_or("over", "sse");
  Plan plan{
      .target = {static_cast<unsigned short>(options.number("port", 0)), options.text("token")},
      .session = options.text("session"),
      .after = options.number("after", 0),
      .ack_every = options.number("ack", 0),
      .websocket = over != "sse",
      .channel = over == "channel",
      .mark = "\ndata:"};
  if (plan.websocket) plan.mark = R"("method":"event")";
  if (plan.channel) plan.mark = R"("type":"session.updated")";
  return plan;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options(argc, argv);
  const Plan plan = plan_of(options);
  const rlimit files{65536, 65536};
  setrlimit(RLIMIT_NOFILE, &files);
  SSL_CTX* tls = options.text_or("tls", "no") == "yes" ? SSL_CTX_new(TLS_client_method()) : nullptr;
  std::vector<Subscriber> subscribers(options.number("connections", 1000));
  const int poll = epoll_create1(EPOLL_CLOEXEC);
  for (std::size_t number = 0; number < subscribers.size(); ++number) {
    Subscriber& subscriber = subscribers[number];
    subscriber.open(plan, tls, number);
    epoll_event event{.events = EPOLLIN, .data = {.ptr = &subscriber}};
    epoll_ctl(poll, EPOLL_CTL_ADD, subscriber.socket(), &event);
  }
  fmt::print("ready\n");
  std::fflush(stdout);

  const std::uint64_t events = options.number("events", 100);
  const std::uint64_t wanted = subscribers.size() * events;
  std::uint64_t received_bytes = 0;
  std::uint64_t delivered = 0;
  Clock::time_point first;
  std::array<epoll_event, 256> ready{};
  const std::string record_path = options.text_or("record", "");
  const bool recording = !record_path.empty();
  std::ofstream record;
  if (recording) record.open(record_path, std::ios::binary);
  while (delivered < wanted) {
    const int count = epoll_wait(poll, ready.data(), ready.size(), kTimeoutMs);
    if (count <= 0) die(fmt::format("only {} of {} deliveries came", delivered, wanted));
    for (int i = 0; i < count; ++i) {
      auto& subscriber = *static_cast<Subscriber*>(ready[static_cast<std::size_t>(i)].data.ptr);
      do {
        const std::string_view got = subscriber.read();
        if (delivered == 0) first = Clock::now();
        received_bytes += got.size();
        if (recording && &subscriber == subscribers.data())
          record << fmt::format("{:.0f} {}\n", micros_since(first), got.size()) << got << '\n';
        delivered += subscriber.take(plan, got);
      } while (subscriber.pending());
    }
  }
  const double seconds = micros_since(first) / 1e6;
  // Check each: a correct total could hide one with too many events and one with too few.
  for (const Subscriber& subscriber : subscribers)
    if (subscriber.events() != events) die(fmt::format("one got {} events", subscriber.events()));
  fmt::print(R"({{"deliveries":{},"bytes":{},"seconds":{:.3f},"per_second":{:.0f}}})"
             "\n",
             delivered, received_bytes, seconds, static_cast<double>(delivered) / seconds);
  return 0;
}
