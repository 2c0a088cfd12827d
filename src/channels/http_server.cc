#include "channels/http_server.h"

#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <future>
#include <thread>
#include <unordered_map>

#include <fmt/format.h>
#include <boost/asio/post.hpp>

#include "base/check.h"
#include "channels/listener.h"
#include "channels/protocols/protocols.h"

namespace agentrt::channels {
namespace {

using boost::system::error_code;

constexpr Duration kSweepMin{5};
constexpr Duration kSweepMax{250};

// A quarter of the shortest time limit, so that limits are kept with that precision.
Duration sweep_interval(const HttpLimits& limits) {
  const Duration shortest = std::min({limits.head, limits.body, limits.idle, limits.stall,
                                      limits.linger, limits.stream.keepalive, limits.stream.stall});
  return std::clamp(shortest / 4, kSweepMin, kSweepMax);
}

}  // namespace

class HttpServer::Network {
 public:
  Network(HttpOptions options, ports::CommandSink& sink, ports::FactFeed& feed,
          ports::Outputs& outputs, ports::Metrics& metrics, Tokens& tokens, Documents documents)
      : options_(std::move(options)),
        documents_(std::move(documents)),
        metrics_(metrics),
        tokens_(tokens),
        inbox_(std::make_shared<Inbox>(
            [this] { boost::asio::post(io_, [this] { inbox_->drain(); }); })),
        pace_timer_(io_.get_executor()),
        hub_(feed, metrics, inbox_, options_.limits.stream,
             [this](std::chrono::microseconds pause, Inbox::Task task) {
               pace_timer_.expires_after(pause);
               pace_timer_.async_wait([task = std::move(task)](auto error) mutable {
                 if (!error) task();
               });
             }),
        desk_({.sink = sink,
               .plane = options_.channels,
               .inbox = inbox_,
               .metrics = metrics,
               .now = [&tokens] { return tokens.now(); },
               .expired = [&tokens](const Identity& identity) { return tokens.expired(identity); },
               .limits = options_.limits.channels}),
        services_{desk_,
                  OutputAccess(outputs),
                  metrics,
                  tokens,
                  LoginCodes(tokens),
                  options_.page,
                  documents_,
                  hub_,
                  inbox_,
                  std::make_shared<ReplyBudget>(options_.limits.reply_bytes_max),
                  options_.problem,
                  options_.leave,
                  options_.environments,
                  options_.mcp,
                  options_.limits.channels,
                  ticker_,
                  protocols_},
        in_process_(services_),
        context_{services_, options_.limits, options_.host_names, options_.origins,
                 [this](Connection& connection) { forget(connection); }},
        sweep_every_(sweep_interval(options_.limits)),
        sweep_timer_(io_.get_executor()),
        stop_timer_(io_.get_executor()) {}

  ~Network() { stop(); }

  Result<void> start();
  void stop();
  InProcess& in_process() { return in_process_; }
  std::uint16_t port() const { return port_; }
  std::size_t connections() const { return open_.load(std::memory_order_relaxed); }
  std::uint64_t accepted() const { return accepted_.load(std::memory_order_relaxed); }
  void set_tls(TlsContext context) {
    inbox_->post([this, context = std::move(context)] { tls_ = context; });
  }

 private:
  enum class Door { tcp, socket };

  void listen_on(const ListeningSocket& socket, Door door);
  void take(int descriptor, Door door);
  LinkPtr link_of(Descriptor socket, Door door);
  bool make_room(Door door);
  void turn_away(int descriptor);
  void forget(Connection& connection);
  void schedule_sweep();
  void sweep();
  template <class Do>
  void for_each_connection(Do&& act);
  void begin_stop();
  void stop_when_done();

  const HttpOptions options_;
  std::optional<TlsContext> tls_ = options_.tls;  // network thread
  const Documents documents_;
  ports::Metrics& metrics_;
  Tokens& tokens_;
  boost::asio::io_context io_{1};
  const std::shared_ptr<Inbox> inbox_;
  Timer pace_timer_;  // of the hub, which has at most one pending task
  SseHub hub_;
  Ticker ticker_;
  Protocols protocols_;
  ChannelDesk desk_;
  Services services_;
  InProcess in_process_;
  const ConnectionContext context_;
  const Duration sweep_every_;
  Timer sweep_timer_;
  Timer stop_timer_;
  std::vector<std::shared_ptr<Listener>> listeners_;
  std::unordered_map<Connection*, std::shared_ptr<Connection>> connections_;
  std::atomic<std::size_t> open_{0};
  std::atomic<std::uint64_t> accepted_{0};
  std::uint16_t port_ = 0;
  bool sweeping_ = false;
  bool stopping_ = false;
  bool channels_ended_ = false;  // all reports of begin_stop() are stored
  std::thread thread_;
};

// The server drops what is in progress when it stops, and with it the promise.
template <class T>
Result<T> awaited(std::future<Result<T>> answer) {
  try {
    return answer.get();
  } catch (const std::future_error&) {
    return fail(Code::unavailable, "the runtime is stopping");
  }
}

Result<void> HttpServer::Network::start() {
  check(!thread_.joinable(), "a server starts once");
  if (options_.tcp) {
    TRY_ASSIGN(const ListeningSocket socket, open_tcp(options_.tcp->host, options_.tcp->port));
    listen_on(socket, Door::tcp);
    port_ = socket.port;
  }
  if (!options_.socket_path.empty()) {
    TRY_ASSIGN(const ListeningSocket socket, open_unix(options_.socket_path));
    listen_on(socket, Door::socket);
  }
  tokens_.on_revoked([this, inbox = inbox_](const std::string& id) {
    inbox->post([this, id] {
      desk_.revoked(id);
      for_each_connection([&](Connection& connection) { connection.end_stream_of(id); });
    });
  });
  hub_.start();
  desk_.listen();
  thread_ = std::thread([this] {
    ::pthread_setname_np(::pthread_self(), "agentrt-http");
    const auto work = boost::asio::make_work_guard(io_);
    io_.run();
  });
  return {};
}

void HttpServer::Network::listen_on(const ListeningSocket& socket, Door door) {
  listeners_.push_back(std::make_shared<Listener>(io_, socket.descriptor,
                                                  options_.limits.accept_backoff,
                                                  [this, door](int taken) { take(taken, door); }));
  listeners_.back()->start();
}

// Whether another connection may be accepted on this listener. If the limit is reached, closes the
// longest idle connection that never presented a token.
bool HttpServer::Network::make_room(Door door) {
  const HttpLimits& limits = options_.limits;
  const std::size_t kept = door == Door::tcp ? limits.socket_connections_kept : 0;
  if (connections_.size() + std::min(kept, limits.connections_max / 2) < limits.connections_max)
    return true;
  std::shared_ptr<Connection> oldest;
  for (const auto& [_, connection] : connections_)
    if (connection->idle_stranger() && (!oldest || connection->since() < oldest->since()))
      oldest = connection;
  if (!oldest) return false;
  metrics_.http_connections_reclaimed.fetch_add(1, std::memory_order_relaxed);
  oldest->close();
  return true;
}

LinkPtr HttpServer::Network::link_of(Descriptor socket, Door door) {
  return tls_ && door == Door::tcp ? tls_link(std::move(socket), *tls_)
                                   : plain_link(std::move(socket));
}

void HttpServer::Network::take(int descriptor, Door door) {
  if (!make_room(door)) return turn_away(descriptor);
  const auto connection = std::make_shared<Connection>(
      link_of(Descriptor(io_.get_executor(), descriptor), door), context_);
  connection->local = door == Door::socket;
  accepted_.fetch_add(1, std::memory_order_relaxed);
  connections_.emplace(connection.get(), connection);
  open_.store(connections_.size(), std::memory_order_relaxed);
  metrics_.http_connections.fetch_add(1, std::memory_order_relaxed);
  connection->start();
  schedule_sweep();
}

// Sends an error to a connection beyond the limit, if the socket accepts it at once.
void HttpServer::Network::turn_away(int descriptor) {
  metrics_.http_connections_refused.fetch_add(1, std::memory_order_relaxed);
  const Response response =
      error_response({Code::overloaded, "there are too many connections; try again", {}});
  const std::string text = response_head(response, Head{}, Keep::close) + response.body;
  (void)::send(descriptor, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  ::shutdown(descriptor, SHUT_WR);
  ::close(descriptor);
}

void HttpServer::Network::forget(Connection& connection) {
  connections_.erase(&connection);
  open_.store(connections_.size(), std::memory_order_relaxed);
  metrics_.http_connections.fetch_sub(1, std::memory_order_relaxed);
  stop_when_done();
}

// `act` may close only the connection that it gets.
template <class Do>
void HttpServer::Network::for_each_connection(Do&& act) {
  for (auto next = connections_.begin(); next != connections_.end();) {
    const std::shared_ptr<Connection> connection = (next++)->second;
    act(*connection);
  }
}

// One timer serves all time limits; it runs only while there are connections.
void HttpServer::Network::schedule_sweep() {
  if (std::exchange(sweeping_, true)) return;
  sweep_timer_.expires_after(sweep_every_);
  sweep_timer_.async_wait([this](const error_code& error) {
    sweeping_ = false;
    if (!error) sweep();
  });
}

void HttpServer::Network::sweep() {
  const Instant now = Clock::now();
  for_each_connection([&](Connection& connection) { connection.tick(now); });
  ticker_.tick(now);
  const bool silent_peers = desk_.tick(now);
  if (!connections_.empty() || !ticker_.empty() || silent_peers) schedule_sweep();
}

void HttpServer::Network::begin_stop() {
  stopping_ = true;
  for (const auto& listener : listeners_) listener->close();
  desk_.stop([this] {
    channels_ended_ = true;
    stop_when_done();
  });
  for_each_connection([](Connection& connection) { connection.stop(); });
  stop_when_done();
  stop_timer_.expires_after(options_.limits.stop);
  stop_timer_.async_wait([this](const error_code& error) {
    if (error) return;
    for_each_connection([](Connection& connection) { connection.close(); });
    channels_ended_ = true;  // what is not stored is found when the session is loaded again
    stop_when_done();
  });
}

void HttpServer::Network::stop_when_done() {
  if (stopping_ && channels_ended_ && connections_.empty()) io_.stop();
}

void HttpServer::Network::stop() {
  if (thread_.joinable()) {
    hub_.stop();
    tokens_.on_revoked({});
    inbox_->post([this] { begin_stop(); });
    thread_.join();
    if (!options_.socket_path.empty()) ::unlink(options_.socket_path.c_str());
  }
  inbox_->close();
}

HttpServer::HttpServer(HttpOptions options, ports::CommandSink& sink, ports::FactFeed& feed,
                       ports::Outputs& outputs, ports::Metrics& metrics, Tokens& tokens,
                       Documents documents)
    : network_(std::make_unique<Network>(std::move(options), sink, feed, outputs, metrics, tokens,
                                         std::move(documents))) {}

HttpServer::~HttpServer() = default;

Result<void> HttpServer::start() {
  try {
    return network_->start();
  } catch (const std::exception& e) {
    return fail(Code::unavailable, fmt::format("cannot start the server: {}", e.what()));
  }
}

void HttpServer::stop() { network_->stop(); }
Result<std::string> HttpServer::call(std::string command, std::string params) {
  auto answer = std::make_shared<std::promise<ports::Reply>>();
  auto reply = answer->get_future();
  network_->in_process().call(
      std::move(command), std::move(params),
      [answer = std::move(answer)](ports::Reply got) { answer->set_value(std::move(got)); });
  return awaited(std::move(reply));
}

Result<std::unique_ptr<EventFeed>> HttpServer::subscribe(SessionId session, Sequence after,
                                                         OnEvent on_event) {
  using Opened = Result<std::unique_ptr<EventFeed>>;
  auto answer = std::make_shared<std::promise<Opened>>();
  auto feed = answer->get_future();
  network_->in_process().subscribe(
      std::move(session), after, std::move(on_event),
      [answer = std::move(answer)](Opened got) { answer->set_value(std::move(got)); });
  return awaited(std::move(feed));
}

void HttpServer::set_tls(TlsContext context) { network_->set_tls(std::move(context)); }
std::uint16_t HttpServer::port() const { return network_->port(); }
std::size_t HttpServer::connections() const { return network_->connections(); }
std::uint64_t HttpServer::accepted() const { return network_->accepted(); }

}  // namespace agentrt::channels
