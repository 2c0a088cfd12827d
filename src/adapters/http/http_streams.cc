#include "adapters/http/http_streams.h"

#include <pthread.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include "adapters/http/curl_library.h"

namespace agentrt::adapters {
namespace {

using Clock = std::chrono::steady_clock;
using Millis = std::chrono::milliseconds;

constexpr std::int64_t kPollMaxMs = 60'000;
constexpr std::int64_t kRetryAfterMaxMs = 3'600'000;

std::int64_t unix_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// One exchange in flight.
struct Transfer {
  std::shared_ptr<HttpExchange> exchange;
  HttpRequest request;
  const CurlLibrary* curl = nullptr;
  const HttpLimits* limits = nullptr;
  CURL* easy = nullptr;
  curl_slist* headers = nullptr;
  HttpHead head;
  bool head_told = false;
  bool body_began = false;
  bool unwanted = false;  // the rest is read only to reuse the connection
  std::size_t unwanted_bytes = 0;
  bool address_refused = false;
  Clock::time_point due;        // deadline of the current timeout
  Clock::time_point whole_due;  // deadline of the complete response
  char error[CURL_ERROR_SIZE] = {};
};

void next_due(Transfer& transfer, std::int64_t ms) { transfer.due = Clock::now() + Millis(ms); }

// Reports the head, once.
void tell_head(Transfer& transfer) {
  if (std::exchange(transfer.head_told, true)) return;
  const char* peer = nullptr;
  if (transfer.curl->easy_getinfo(transfer.easy, CURLINFO_PRIMARY_IP, &peer) == CURLE_OK && peer)
    transfer.head.peer = peer;
  transfer.exchange->on_head(transfer.head);
}

std::size_t on_body(char* bytes, std::size_t, std::size_t size, void* user) {
  Transfer& transfer = *static_cast<Transfer*>(user);
  if (transfer.unwanted) {
    transfer.unwanted_bytes += size;
    return transfer.unwanted_bytes > transfer.limits->linger_bytes_max ? 0 : size;
  }
  tell_head(transfer);
  transfer.body_began = true;
  next_due(transfer, transfer.request.timeouts.idle_ms);
  if (transfer.exchange->on_body({bytes, size}) == HttpWants::nothing) {
    transfer.unwanted = true;
    next_due(transfer, transfer.limits->linger_ms);
  }
  return size;
}

// Parses Retry-After: seconds (milliseconds for retry-after-ms) or an HTTP date.
std::optional<std::int64_t> wait_of(std::string_view name, const std::string& value,
                                    const CurlLibrary& curl) {
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error == std::errc{} && end == value.data() + value.size())
    number *= name == "retry-after-ms" ? 1 : 1'000;
  else if (const auto date = curl.getdate(value.c_str(), nullptr); date >= 0)
    number = static_cast<double>(date - unix_now()) * 1'000;
  else
    return std::nullopt;
  if (std::isnan(number)) return std::nullopt;
  return static_cast<std::int64_t>(std::clamp<double>(number, 0, kRetryAfterMaxMs));
}

// Close-on-exec: child processes must not inherit connections to providers.
curl_socket_t open_socket(void* user, curlsocktype, curl_sockaddr* to) {
  Transfer& transfer = *static_cast<Transfer*>(user);
  if (transfer.request.admits && !transfer.request.admits(to->addr)) {
    transfer.address_refused = true;
    return CURL_SOCKET_BAD;
  }
  return ::socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

void add_field(std::string& out, std::string_view value) {
  if (!out.empty()) out += ", ";
  out += value.substr(0, kFieldBytesMax - std::min(out.size(), kFieldBytesMax));
}

// One header line. After an interim response (1xx) another status line follows and replaces it.
std::size_t on_header(char* bytes, std::size_t, std::size_t size, void* user) {
  Transfer& transfer = *static_cast<Transfer*>(user);
  const std::string_view line(bytes, size);
  if (line.starts_with("HTTP/")) {
    transfer.head = {};
    const std::string_view rest = trimmed(line.substr(std::min(line.find(' '), line.size())));
    std::from_chars(rest.data(), rest.data() + rest.size(), transfer.head.status);
    return size;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) {
    // The end of the header. Report it now, because a stream may be silent for long after it.
    const bool last = trimmed(line).empty() && transfer.head.status >= 200;
    if (last) tell_head(transfer);
    return size;
  }
  std::string name(line.substr(0, colon));
  std::ranges::transform(name, name.begin(), [](unsigned char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
  });
  const std::string value(trimmed(line.substr(colon + 1)));
  if (name == "content-type") transfer.head.content_type = value;
  if (name == "mcp-session-id") transfer.head.mcp_session = value;
  if (name == "location") transfer.head.location = value;
  if (name == "etag") transfer.head.etag = value;
  if (name == "cache-control") transfer.head.cache_control = value;
  if (name == "www-authenticate") add_field(transfer.head.www_authenticate, value);
  if (name == "retry-after" || name == "retry-after-ms")
    if (const auto wait = wait_of(name, value, *transfer.curl)) transfer.head.retry_after_ms = wait;
  return size;
}

HttpEnding ending_of(CURLcode code) {
  switch (code) {
    case CURLE_OK:
      return HttpEnding::complete;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_PROXY:
      return HttpEnding::unreachable;
    case CURLE_OPERATION_TIMEDOUT:  // the only timeout that libcurl enforces
      return HttpEnding::connect_timeout;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
      return HttpEnding::refused_peer;
    default:
      return HttpEnding::broken;
  }
}

}  // namespace

class HttpStreams::Pump {
 public:
  Pump(CurlLibrary curl, const HttpLimits& limits)
      : curl_(curl), limits_(limits), multi_(curl_.multi_init()) {}
  ~Pump() {
    while (!running_.empty()) drop(running_.begin());
    curl_.multi_cleanup(multi_);
  }
  Pump(const Pump&) = delete;
  Pump& operator=(const Pump&) = delete;

  void wake() { curl_.multi_wakeup(multi_); }

  void take(Order order) {
    if (!order.exchange) {
      std::erase_if(waiting_, [&](const Order& each) { return each.ticket == order.ticket; });
      if (const auto found = running_.find(order.ticket); found != running_.end()) drop(found);
    } else if (waiting_.size() >= limits_.waiting_max) {
      order.exchange->on_end({HttpEnding::overloaded, {}});
    } else {
      waiting_.push_back(std::move(order));
    }
    admit();
  }

  // Performs pending work, then waits for the network, a timeout or wake().
  void turn() {
    int left = 0;
    curl_.multi_perform(multi_, &left);
    settle();
    expire();
    admit();  // the poll returns at once for a new transfer
    curl_.multi_poll(multi_, nullptr, 0, static_cast<int>(until_next_due()), nullptr);
  }

 private:
  using Running = std::map<Ticket, std::unique_ptr<Transfer>>;

  void admit() {
    while (!waiting_.empty() && running_.size() < limits_.exchanges_max) {
      Order order = std::move(waiting_.front());
      waiting_.pop_front();
      open(order.ticket, std::move(order.exchange));
    }
  }

  template <class Value>
  void set(CURL* easy, CURLoption option, Value value) {
    curl_.easy_setopt(easy, option, value);
  }

  void set_method(CURL* easy, const HttpRequest& request) {
    if (request.method == HttpMethod::delete_) set(easy, CURLOPT_CUSTOMREQUEST, "DELETE");
    if (request.method != HttpMethod::post) return;
    set(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    set(easy, CURLOPT_POSTFIELDS, request.body.c_str());
  }

  // Every connection of the request is direct and new, so its address is checked for this request.
  void restrict(CURL* easy) {
    set(easy, CURLOPT_PROXY, "");
    set(easy, CURLOPT_FRESH_CONNECT, 1L);
    set(easy, CURLOPT_FORBID_REUSE, 1L);
  }

  void open(Ticket ticket, std::shared_ptr<HttpExchange> exchange) {
    auto transfer = std::make_unique<Transfer>();
    transfer->exchange = std::move(exchange);
    transfer->request = transfer->exchange->request();
    transfer->curl = &curl_;
    transfer->limits = &limits_;
    CURL* const easy = transfer->easy = curl_.easy_init();
    for (const std::string& header : transfer->request.headers)
      transfer->headers = curl_.slist_append(transfer->headers, header.c_str());
    // Do not wait for "100 Continue".
    transfer->headers = curl_.slist_append(transfer->headers, "Expect:");
    set(easy, CURLOPT_URL, transfer->request.url.c_str());
    set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    // With HTTP/1.1, closing the connection cancels the request.
    set(easy, CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1});
    set(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);  // hide a proxy's CONNECT response
    set(easy, CURLOPT_HTTPHEADER, transfer->headers);
    set_method(easy, transfer->request);
    set(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(transfer->request.timeouts.connect_ms));
    set(easy, CURLOPT_NOSIGNAL, 1L);
    set(easy, CURLOPT_QUICK_EXIT, 1L);  // cancel without waiting for a slow name server
    set(easy, CURLOPT_TCP_NODELAY, 1L);
    set(easy, CURLOPT_OPENSOCKETFUNCTION, &open_socket);
    set(easy, CURLOPT_OPENSOCKETDATA, transfer.get());
    if (transfer->request.admits) restrict(easy);
    if (transfer->request.compressed) set(easy, CURLOPT_ACCEPT_ENCODING, "gzip, deflate");
    set(easy, CURLOPT_ERRORBUFFER, transfer->error);
    set(easy, CURLOPT_PRIVATE, transfer.get());
    set(easy, CURLOPT_WRITEFUNCTION, &adapters::on_body);
    set(easy, CURLOPT_WRITEDATA, transfer.get());
    set(easy, CURLOPT_HEADERFUNCTION, &adapters::on_header);
    set(easy, CURLOPT_HEADERDATA, transfer.get());
    if (const char* const file = std::getenv("SSL_CERT_FILE")) set(easy, CURLOPT_CAINFO, file);
    if (const char* const folder = std::getenv("SSL_CERT_DIR")) set(easy, CURLOPT_CAPATH, folder);
    const HttpTimeouts& limits = transfer->request.timeouts;
    next_due(*transfer, limits.first_byte_ms);
    transfer->whole_due = Clock::now() + Millis(limits.whole_ms);
    curl_.multi_add_handle(multi_, easy);
    running_.emplace(ticket, std::move(transfer));
  }

  void drop(Running::iterator at) {
    curl_.multi_remove_handle(multi_, at->second->easy);
    curl_.easy_cleanup(at->second->easy);
    curl_.slist_free_all(at->second->headers);
    running_.erase(at);
  }

  // Handles transfers that libcurl reports as finished.
  void settle() {
    int left = 0;
    while (CURLMsg* const message = curl_.multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const CURLcode code = message->data.result;
      const auto at = std::ranges::find_if(
          running_, [&](const auto& each) { return each.second->easy == message->easy_handle; });
      if (at == running_.end()) continue;
      Transfer& transfer = *at->second;
      const std::string words =
          transfer.error[0] != '\0' ? transfer.error : curl_.easy_strerror(code);
      if (code == CURLE_OK) tell_head(transfer);
      HttpEnding ending = ending_of(code);
      if (ending == HttpEnding::unreachable && transfer.address_refused)
        ending = HttpEnding::refused_address;
      if (!transfer.unwanted) transfer.exchange->on_end({ending, words});
      drop(at);
    }
  }

  void expire() {
    const auto now = Clock::now();
    for (auto at = running_.begin(); at != running_.end();) {
      const auto next = std::next(at);
      const Transfer& transfer = *at->second;
      if (now >= std::min(transfer.due, transfer.whole_due)) {
        const HttpEnding ending = now >= transfer.whole_due ? HttpEnding::whole_timeout
                                  : transfer.body_began     ? HttpEnding::idle_timeout
                                                            : HttpEnding::first_byte_timeout;
        if (!transfer.unwanted) transfer.exchange->on_end({ending, {}});
        drop(at);
      }
      at = next;
    }
  }

  std::int64_t until_next_due() const {
    auto next = Clock::now() + Millis(kPollMaxMs);
    for (const auto& [_, transfer] : running_)
      next = std::min({next, transfer->due, transfer->whole_due});
    const auto left = std::chrono::ceil<Millis>(next - Clock::now()).count();
    return std::clamp<std::int64_t>(left, 0, kPollMaxMs);
  }

  CurlLibrary curl_;
  const HttpLimits& limits_;
  CURLM* multi_;
  std::deque<Order> waiting_;
  Running running_;
};

HttpStreams::HttpStreams(HttpLimits limits) : limits_(limits), thread_([this] { run(); }) {}
HttpStreams::~HttpStreams() { stop(); }

void HttpStreams::put(Order order) {
  const std::lock_guard lock(mutex_);
  orders_.push_back(std::move(order));
  if (pump_) pump_->wake();
  ordered_.notify_one();
}

HttpStreams::Ticket HttpStreams::start(std::shared_ptr<HttpExchange> exchange) {
  Ticket ticket = 0;
  {
    const std::lock_guard lock(mutex_);
    ticket = ++last_;
  }
  put({ticket, std::move(exchange)});
  return ticket;
}

void HttpStreams::cancel(Ticket ticket) { put({ticket, nullptr}); }

void HttpStreams::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    if (pump_) pump_->wake();
    ordered_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

// Without the library, every exchange ends as unavailable.
void HttpStreams::refuse_all(const std::string& why) {
  std::unique_lock lock(mutex_);
  while (true) {
    ordered_.wait(lock, [this] { return stopping_ || !orders_.empty(); });
    if (stopping_) return;
    const std::deque<Order> orders = std::exchange(orders_, {});
    lock.unlock();
    for (const Order& order : orders)
      if (order.exchange) order.exchange->on_end({HttpEnding::unavailable, why});
    lock.lock();
  }
}

void HttpStreams::run() {
  ::pthread_setname_np(::pthread_self(), "agentrt-curl");
  const auto library = CurlLibrary::load();
  if (!library) return refuse_all(library.error().message);
  Pump pump(*library, limits_);
  while (true) {
    std::deque<Order> orders;
    {
      const std::lock_guard lock(mutex_);
      pump_ = stopping_ ? nullptr : &pump;
      if (stopping_) return;
      orders = std::exchange(orders_, {});
    }
    for (Order& order : orders) pump.take(std::move(order));
    pump.turn();
  }
}

}  // namespace agentrt::adapters
