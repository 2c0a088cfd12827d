#include "adapters/mcp/http_transport.h"

#include <algorithm>

#include <fmt/format.h>

#include "adapters/mcp/address.h"
#include "adapters/mcp/rpc.h"

namespace agentrt::adapters {
namespace {

constexpr std::string_view kPing = R"({"jsonrpc":"2.0","id":"session","method":"ping"})";
constexpr std::uint64_t kOk = 200, kAccepted = 202, kBadRequest = 400, kUnauthorized = 401,
                        kForbidden = 403, kNotFound = 404, kNotAllowed = 405;

bool is_stream(const HttpHead& head) { return head.content_type.starts_with("text/event-stream"); }
bool is_fine(const HttpHead& head) { return head.status >= kOk && head.status < 300; }

std::string words_of(const HttpEnd& end) {
  switch (end.ending) {
    case HttpEnding::unreachable:
    case HttpEnding::connect_timeout:
      return fmt::format("it cannot be reached ({})", end.detail);
    case HttpEnding::refused_peer:
      return fmt::format("its certificate is not accepted ({})", end.detail);
    case HttpEnding::overloaded:
      return "too many requests are already waiting";
    case HttpEnding::unavailable:
      return end.detail;
    default:
      return fmt::format("the connection broke ({})", end.detail);
  }
}

void authorize(HttpRequest& request, const std::string& token) {
  request.headers.push_back("Authorization: Bearer " + token);
}

}  // namespace

// One request and its response, on the thread of the streams.
class HttpTransport::Exchange final : public HttpExchange {
 public:
  Exchange(HttpTransport& owner, std::uint64_t talk, std::optional<std::uint64_t> within,
           HttpRequest request)
      : loop_(owner.loop_),
        owner_(&owner),
        here_(owner.here_),
        talk_(talk),
        within_(within),
        request_(std::move(request)),
        limits_(owner.limits_),
        untaken_(owner.untaken_),
        events_(owner.limits_.message_bytes_max) {}

  HttpRequest request() override { return std::move(request_); }
  // The session is valid as soon as it is assigned: the stream of the first answer may stay open.
  void on_head(const HttpHead& head) override {
    ending_.head = head;
    loop_.post([owner = owner_, here = here_, talk = talk_, session = head.mcp_session] {
      if (!here.expired()) owner->began(talk, session);
    });
  }

  HttpWants on_body(std::string_view bytes) override {
    if (is_fine(ending_.head) && is_stream(ending_.head)) return on_events(bytes);
    ending_.body += bytes;
    if (ending_.body.size() <= limits_.message_bytes_max) return HttpWants::more;
    return stop_reading();
  }

  void on_end(const HttpEnd& end) override {
    ending_.end = end;
    ending_.last_id = events_.last_id();
    if (const auto retry = events_.retry_ms()) ending_.retry_ms = *retry;
    loop_.post([owner = owner_, here = here_, talk = talk_, ending = std::move(ending_)] {
      if (!here.expired()) owner->ended(talk, ending);
    });
  }

 private:
  HttpWants stop_reading() {
    ending_.too_large = true;
    on_end({HttpEnding::broken, "it sends more data than can be processed"});
    return HttpWants::nothing;
  }

  HttpWants on_events(std::string_view bytes) {
    auto events = events_.feed(bytes);
    if (!events) return stop_reading();
    for (StreamEvent& event : *events) {
      ending_.heard = true;
      if (event.data.empty()) continue;
      if (untaken_->fetch_add(event.data.size()) > limits_.untaken_bytes_max) return stop_reading();
      loop_.post([owner = owner_, here = here_, untaken = untaken_, talk = talk_, within = within_,
                  event = std::move(event)]() mutable {
        untaken->fetch_sub(event.data.size());
        if (!here.expired()) owner->heard(talk, within, std::move(event));
      });
    }
    return HttpWants::more;
  }

  ports::Loop& loop_;
  HttpTransport* const owner_;  // used only on its loop, and only while `here_` lives
  const std::weak_ptr<bool> here_;
  const std::uint64_t talk_;
  const std::optional<std::uint64_t> within_;
  HttpRequest request_;
  const McpHttpLimits limits_;
  std::shared_ptr<std::atomic<std::size_t>> untaken_;
  EventStreamParser events_;
  Ending ending_;
};

HttpTransport::HttpTransport(ports::Loop& loop, HttpStreams& streams, McpHttp server,
                             TransportListener& listener,
                             std::unique_ptr<McpAuthorization> authorization, McpHttpLimits limits)
    : loop_(loop),
      streams_(streams),
      server_(std::move(server)),
      listener_(&listener),
      limits_(limits),
      authorization_(std::move(authorization)),
      untaken_(std::make_shared<std::atomic<std::size_t>>(0)) {
  if (!is_older()) send_to_ = server_.url;
}

HttpTransport::~HttpTransport() {
  while (!talks_.empty()) drop(talks_.begin()->first);
}

// With an older server, all messages wait for the URL in the stream's first event.
void HttpTransport::open() {
  if (!is_older()) return;
  listens_ = true;
  in_order_ = ++last_talk_;
  talks_[*in_order_].purpose = Purpose::listen;
  listen(*in_order_);
}

void HttpTransport::heard(std::uint64_t talk, std::optional<std::uint64_t> within,
                          StreamEvent event) {
  if (listener_ == nullptr) return;
  const auto found = talks_.find(talk);
  if (found != talks_.end() && found->second.purpose == Purpose::check) return;
  if (is_older() && event.type == "endpoint") return take_address(talk, event.data);
  if (event.type == "message") listener_->on_message(std::move(event.data), within);
}

void HttpTransport::take_address(std::uint64_t talk, std::string_view named) {
  if (!send_to_.empty()) return;
  auto address = address_beside(server_.url, named);
  if (!address) return lost(address.error().message);
  send_to_ = *std::move(address);
  release(talk);
}

HttpRequest HttpTransport::request_of(HttpMethod method) const {
  HttpRequest request;
  request.method = method;
  request.url = method == HttpMethod::post ? send_to_ : server_.url;
  request.headers = server_.headers;
  request.headers.emplace_back(method == HttpMethod::get
                                   ? "Accept: text/event-stream"
                                   : "Accept: application/json, text/event-stream");
  if (method == HttpMethod::post) request.headers.emplace_back("Content-Type: application/json");
  if (!session_.empty()) request.headers.push_back("Mcp-Session-Id: " + session_);
  if (!protocol_.empty()) request.headers.push_back("MCP-Protocol-Version: " + protocol_);
  // The client enforces the timeout of an answer.
  const bool is_connection = is_older() && method == HttpMethod::get;
  const std::int64_t whole = is_connection ? limits_.connection_max_ms : limits_.stream_max_ms;
  request.timeouts.first_byte_ms = request.timeouts.idle_ms = request.timeouts.whole_ms = whole;
  return request;
}

// A message that is not a request must be delivered before any later message is sent.
void HttpTransport::send(std::string message, std::optional<std::uint64_t> request) {
  if (listener_ == nullptr) return;
  if (!in_order_) return post(std::move(message), request);
  if (unsent_.size() >= limits_.unsent_max) return lost("it does not accept messages");
  unsent_.push_back({std::move(message), request});
}

// Opens the GET stream right after the handshake; otherwise requests that the server sends before
// its first answer would be lost.
void HttpTransport::next_message() {
  if (in_order_ || listener_ == nullptr) return;
  if (!protocol_.empty() && !std::exchange(listens_, true)) {
    const std::uint64_t talk = ++last_talk_;
    talks_[talk].purpose = Purpose::listen;
    talks_[talk].timer = loop_.after(limits_.listen_wait_ms, [this, talk] {
      talks_.at(talk).timer.reset();
      release(talk);
    });
    in_order_ = talk;
    listen(talk);
  }
  while (!in_order_ && !unsent_.empty()) {
    Unsent next = std::move(unsent_.front());
    unsent_.pop_front();
    post(std::move(next.message), next.request);
  }
}

// Messages queued behind this exchange may be sent.
void HttpTransport::release(std::uint64_t talk) {
  if (in_order_ == talk) in_order_.reset();
  next_message();
}

void HttpTransport::began(std::uint64_t id, const std::optional<std::string>& session) {
  if (is_older()) return;
  if (session) session_ = *session;
  const auto found = talks_.find(id);
  if (found == talks_.end() || found->second.purpose != Purpose::listen) return;
  if (found->second.timer) loop_.cancel(*found->second.timer);
  found->second.timer.reset();
  release(id);
}

void HttpTransport::post(std::string message, std::optional<std::uint64_t> request) {
  const std::uint64_t talk = ++last_talk_;
  talks_[talk].request = request;
  if (!request) in_order_ = talk;
  HttpRequest out = request_of(HttpMethod::post);
  out.body = std::move(message);
  begin(talk, std::move(out));
}

// Also resumes the answer to a POST, from the event after its last one.
void HttpTransport::listen(std::uint64_t talk) {
  HttpRequest request = request_of(HttpMethod::get);
  const std::string& last_id = talks_.at(talk).last_id;
  if (!last_id.empty()) request.headers.push_back("Last-Event-ID: " + last_id);
  begin(talk, std::move(request));
}

void HttpTransport::begin(std::uint64_t id, HttpRequest request) {
  if (!authorization_) return start(id, std::move(request));
  talks_.at(id).sent = std::move(request);
  talks_.at(id).repeated = false;
  authorization_->token(
      [this, id](Result<std::optional<std::string>> token) { begin_with(id, std::move(token)); });
}

// Starts the exchange that is kept in the talk; it may have been dropped meanwhile.
void HttpTransport::begin_with(std::uint64_t id, Result<std::optional<std::string>> token) {
  const auto found = talks_.find(id);
  if (found == talks_.end()) return;
  if (!token) {
    loop_.post([this, here = std::weak_ptr(here_), id, why = token.error()]() mutable {
      if (!here.expired()) unauthorized(id, std::move(why));
    });
    return;
  }
  Talk& talk = found->second;
  talk.token = token->value_or("");
  HttpRequest request = talk.sent;
  if (!talk.token.empty()) authorize(request, talk.token);
  start(id, std::move(request));
}

void HttpTransport::start(std::uint64_t id, HttpRequest request) {
  Talk& talk = talks_.at(id);
  talk.ticket =
      streams_.start(std::make_shared<Exchange>(*this, id, talk.request, std::move(request)));
}

// After 401: asks for another token. True: the exchange is repeated with it, or the talk ends.
bool HttpTransport::asks_again(std::uint64_t id, const Ending& ending) {
  Talk& talk = talks_.at(id);
  if (!authorization_ || ending.head.status != kUnauthorized) return false;
  if (std::exchange(talk.repeated, true)) {
    unauthorized(id, authorization_->rejected());
    return true;
  }
  authorization_->refused(
      talk.token, ending.head,
      [this, id](Result<std::optional<std::string>> token) { begin_with(id, std::move(token)); });
  return true;
}

// The server's own messages are not worth a connection without them.
void HttpTransport::unauthorized(std::uint64_t id, Error why) {
  const auto found = talks_.find(id);
  if (found == talks_.end()) return;
  if (found->second.purpose == Purpose::goodbye) return finish();
  std::vector<std::uint64_t> refused;
  if (found->second.request && found->second.purpose != Purpose::listen)
    refused.push_back(*found->second.request);
  if (found->second.purpose != Purpose::listen || found->second.request || is_older())
    return lost(std::move(why), std::move(refused));
  drop(id);
  next_message();
}

void HttpTransport::drop(std::uint64_t id) {
  const auto found = talks_.extract(id);
  if (!found) return;
  if (found.mapped().timer) loop_.cancel(*found.mapped().timer);
  if (found.mapped().ticket != 0) streams_.cancel(found.mapped().ticket);
  if (in_order_ == id) in_order_.reset();
}

void HttpTransport::answered(std::uint64_t request) {
  for (auto& [id, talk] : talks_) {
    if (talk.request != request) continue;
    talk.answered = true;
    if (talk.ticket != 0 && !talk.timer)
      talk.timer = loop_.after(limits_.answered_wait_ms, [this, answered = id] {
        talks_.at(answered).timer.reset();
        drop(answered);
      });
  }
}

void HttpTransport::forget(std::uint64_t request) {
  const auto at = std::ranges::find_if(
      talks_, [&](const auto& each) { return each.second.request == request; });
  if (at != talks_.end()) drop(at->first);
}

void HttpTransport::agreed(std::string_view protocol) { protocol_ = protocol; }

void HttpTransport::ended(std::uint64_t id, const Ending& ending) {
  const auto found = talks_.find(id);
  if (found == talks_.end()) return;
  found->second.ticket = 0;
  if (found->second.timer) loop_.cancel(*found->second.timer);
  found->second.timer.reset();
  if (found->second.purpose == Purpose::goodbye) return finish();
  if (asks_again(id, ending)) return;
  if (found->second.purpose == Purpose::listen)
    listen_ended(id, ending);
  else if (found->second.purpose == Purpose::check)
    check_ended(id, ending);
  else
    post_ended(id, ending);
  release(id);
}

// Failures that end the connection, whatever the request was.
std::optional<std::string> HttpTransport::failure_in(const Ending& ending) const {
  const std::uint64_t status = ending.head.status;
  if (ending.too_large)
    return fmt::format("it sent a message of more than {} bytes", limits_.message_bytes_max);
  if (authorization_ && status == kForbidden)
    return fmt::format("it refuses access (HTTP status {})", status);
  if (status == kUnauthorized || status == kForbidden)
    return fmt::format(
        "it requires authentication (HTTP status {}); set bearer_token_env to the environment "
        "variable that contains its token",
        status);
  if (status == 0) return words_of(ending.end);
  return std::nullopt;
}

void HttpTransport::post_ended(std::uint64_t id, const Ending& ending) {
  Talk& talk = talks_.at(id);
  const bool complete = ending.end.ending == HttpEnding::complete;
  const std::uint64_t status = ending.head.status;
  if (authorization_ && status == kForbidden)
    if (auto lacking = authorization_->lacking(ending.head)) {
      answer_failed(talk, *std::move(lacking));
      return drop(id);
    }
  if (auto failure = failure_in(ending)) return lost(*std::move(failure));
  if (status == kNotFound && (!session_.empty() || is_older())) return session_over(id, "");
  if (status == kBadRequest && talk.request && in_session()) return check_session(id, ending);
  if (is_fine(ending.head) && is_older()) return drop(id);  // the answer arrives in the stream
  if (!is_fine(ending.head)) {
    answer_failed(talk, refusal_in(ending));
  } else if (is_stream(ending.head)) {
    if (!talk.answered && talk.request) return take_up(id, ending);
  } else if (!complete) {
    return lost(words_of(ending.end));
  } else if (talk.request && read_rpc(ending.body)) {
    listener_->on_message(ending.body, talk.request);
  } else if (status != kAccepted) {
    answer_failed(talk, "its answer is not a protocol message");
  }
  drop(id);
}

bool HttpTransport::in_session() const {
  return !session_.empty() && !protocol_.empty() && !is_older();
}

// The request's outcome waits for the answer to a ping.
void HttpTransport::check_session(std::uint64_t id, const Ending& ending) {
  Talk& talk = talks_.at(id);
  talk.purpose = Purpose::check;
  talk.refusal = refusal_in(ending);
  HttpRequest ping = request_of(HttpMethod::post);
  ping.body = kPing;
  ping.timeouts.first_byte_ms = ping.timeouts.idle_ms = ping.timeouts.whole_ms =
      limits_.check_wait_ms;
  begin(id, std::move(ping));
}

void HttpTransport::check_ended(std::uint64_t id, const Ending& ending) {
  const Talk& talk = talks_.at(id);
  const std::uint64_t status = ending.head.status;
  const bool over = status == kBadRequest || status == kNotFound;
  // Lets requests in flight finish; the next request detects the lost session itself.
  const bool holds_up = !talk.request && std::ranges::any_of(talks_, [](const auto& each) {
    return each.second.request && each.second.purpose != Purpose::check;
  });
  if (over && !holds_up) return session_over(id, talk.refusal);
  answer_failed(talk, talk.refusal);
  drop(id);
}

// Every request that waits for a session check was refused, like `id`.
void HttpTransport::session_over(std::uint64_t id, std::string_view refusal) {
  std::vector<std::uint64_t> refused;
  for (const auto& [each, talk] : talks_)
    if (talk.request && (each == id || talk.purpose == Purpose::check))
      refused.push_back(*talk.request);
  session_.clear();
  lost(fmt::format("its session has ended{}", refusal.empty() ? "" : fmt::format(" ({})", refusal)),
       std::move(refused));
}

// The error of a failed response; the body may explain it as a JSON-RPC error.
std::string HttpTransport::refusal_in(const Ending& ending) const {
  const auto messages = read_rpc(ending.body);
  const bool says_why = messages && messages->size() == 1 && messages->front().error;
  const std::uint64_t status = ending.head.status;
  const bool maybe_older = protocol_.empty() && (status == kNotFound || status == kNotAllowed);
  if (says_why)
    return std::string(schema::utf8_prefix(messages->front().error->message, kMcpReasonBytesMax));
  return fmt::format("it answered with HTTP status {}{}", status,
                     maybe_older ? "; an older server needs type = \"sse\"" : "");
}

void HttpTransport::answer_failed(const Talk& talk, std::string why) {
  answer_failed(talk, Error{Code::internal, std::move(why), {}});
}

void HttpTransport::answer_failed(const Talk& talk, Error why) {
  if (talk.request && !talk.answered) listener_->on_refused(*talk.request, std::move(why));
}

void HttpTransport::listen_ended(std::uint64_t id, const Ending& ending) {
  if (is_older()) return connection_ended(ending);
  if (is_fine(ending.head) && is_stream(ending.head)) return take_up(id, ending);
  const Talk& talk = talks_.at(id);
  const std::uint64_t status = ending.head.status;
  if (talk.request) answer_failed(talk, "its answer broke off");
  const bool had_stream = talk.resumed && !talk.request;
  if (had_stream && status == 0) return take_up(id, ending);
  if (had_stream && (status == kBadRequest || status == kNotFound) && in_session())
    return check_session(id, ending);
  drop(id);  // the server offers no such stream
}

void HttpTransport::connection_ended(const Ending& ending) {
  if (auto failure = failure_in(ending)) return lost(*std::move(failure));
  if (!is_fine(ending.head))
    return lost(fmt::format("it answered with HTTP status {}", ending.head.status));
  lost(is_stream(ending.head) ? "its stream ended" : "its answer is not an event stream");
}

void HttpTransport::take_up(std::uint64_t id, const Ending& ending) {
  Talk& talk = talks_.at(id);
  if (!ending.last_id.empty()) talk.last_id = ending.last_id;
  talk.resumes = ending.heard ? 0 : talk.resumes + 1;
  talk.resumed = true;
  const bool is_answer = talk.request.has_value();
  if (talk.answered || talk.resumes > limits_.resumes_max || (is_answer && talk.last_id.empty())) {
    answer_failed(talk, "its answer broke off");
    return drop(id);
  }
  talk.purpose = Purpose::listen;
  const std::int64_t wait =
      std::clamp(ending.retry_ms.value_or(limits_.retry_ms),
                 is_answer ? limits_.retry_min_ms : limits_.retry_ms, limits_.retry_max_ms);
  talk.timer = loop_.after(wait, [this, id] {
    talks_.at(id).timer.reset();
    listen(id);
  });
}

void HttpTransport::lost(std::string why, std::vector<std::uint64_t> refused) {
  lost(Error{Code::unavailable, std::move(why), {}}, std::move(refused));
}

void HttpTransport::lost(Error why, std::vector<std::uint64_t> refused) {
  while (!talks_.empty()) drop(talks_.begin()->first);
  unsent_.clear();
  loop_.post([this, here = std::weak_ptr(here_), why = std::move(why),
              refused = std::move(refused)]() mutable {
    if (here.expired() || listener_ == nullptr) return;
    std::exchange(listener_, nullptr)->on_closed(std::move(why), std::move(refused));
  });
}

void HttpTransport::close(std::move_only_function<void()> closed) {
  listener_ = nullptr;
  closed_ = std::move(closed);
  while (!talks_.empty()) drop(talks_.begin()->first);
  if (session_.empty()) return finish();
  const std::uint64_t talk = ++last_talk_;
  talks_[talk].purpose = Purpose::goodbye;
  talks_[talk].timer = loop_.after(limits_.goodbye_wait_ms, [this] { finish(); });
  begin(talk, request_of(HttpMethod::delete_));
}

void HttpTransport::finish() {
  while (!talks_.empty()) drop(talks_.begin()->first);
  if (!closed_) return;
  loop_.post([here = std::weak_ptr(here_), closed = std::exchange(closed_, {})]() mutable {
    if (!here.expired()) closed();
  });
}

}  // namespace agentrt::adapters
