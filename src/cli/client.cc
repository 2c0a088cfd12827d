#include "cli/client.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <random>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "base/base64.h"
#include "base/url.h"
#include "base/websocket.h"
#include "schema/codec.h"
#include "schema/commands/subagents.h"

namespace agentrt::cli {
namespace {

namespace http = boost::beast::http;
using Clock = std::chrono::steady_clock;

constexpr int kPollSliceMs = 100;
constexpr std::size_t kReadBytes = 64 * 1024;

std::string reason(int error) { return std::generic_category().message(error); }

int remaining_ms(Clock::time_point deadline) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return left > 0 ? static_cast<int>(left) : 0;
}

// Waits until `fd` is ready for `events`. Fails with timeout, or with unavailable if abandoned.
Result<void> wait_for(int fd, short events, Clock::time_point deadline,
                      const std::function<bool()>& abandon) {
  while (true) {
    const int left = remaining_ms(deadline);
    pollfd waiting{fd, events, 0};
    const int ready = ::poll(&waiting, 1, std::min(left, kPollSliceMs));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR)
      return fail(Code::unavailable,
                  fmt::format("Waiting for the runtime failed: {}.", reason(errno)));
    if (abandon && abandon()) return fail(Code::unavailable, "The request was abandoned.");
    if (left == 0)
      return fail(
          Code::timeout,
          "The runtime did not answer in time; check that it is running and not overloaded.");
  }
}

Result<void> send_all(Wire& wire, std::string_view bytes, Clock::time_point deadline,
                      const std::function<bool()>& abandon) {
  while (!bytes.empty()) {
    const Wire::Progress progress = wire.send(bytes);
    bytes.remove_prefix(progress.bytes);
    if (progress.wait_for != 0) {
      TRY(wait_for(wire.descriptor(), progress.wait_for, deadline, abandon));
    } else if (progress.ended) {
      if (wire.problem().empty()) return {};  // it may have replied before it closed
      return fail(Code::unavailable,
                  fmt::format("The connection to the runtime was lost: {}.", wire.problem()));
    }
  }
  return {};
}

using Parser = http::parser<false, http::string_body>;

// Parses one HTTP response incrementally.
class ResponseReader {
 public:
  ResponseReader() {
    parser_.eager(true);
    parser_.body_limit(Client::kReplyBytesMax);
  }

  // Parses the bytes of one read; empty: the server closed the connection.
  Result<void> feed(std::string_view bytes) {
    boost::system::error_code error;
    if (bytes.empty()) {
      const bool answered = parser_.got_some();
      if (answered && !parser_.is_done()) parser_.put_eof(error);
      if (error || !answered)
        return fail(Code::unavailable, "The runtime closed the connection before it answered.");
      return {};
    }
    pending_ += bytes;
    while (!pending_.empty() && !parser_.is_done()) {
      const std::size_t used = parser_.put(boost::asio::buffer(pending_), error);
      pending_.erase(0, used);
      if (error == http::error::need_more || (!error && used == 0)) return {};
      if (error)
        return fail(
            Code::unavailable,
            fmt::format("The reply of the runtime is not valid HTTP: {}.", error.message()));
    }
    return {};
  }

  void without_limit() { parser_.body_limit(boost::none); }
  bool header_done() const { return parser_.is_header_done(); }
  bool done() const { return parser_.is_done(); }
  int status() const { return static_cast<int>(parser_.get().result_int()); }
  std::string field(std::string_view name) const { return std::string(parser_.get()[name]); }
  std::string take_body() { return std::exchange(parser_.get().body(), {}); }

 private:
  Parser parser_;
  std::string pending_;
};

// Reads once into `reader`. Returns what the socket must be ready for before the next read.
Result<short> read_some(Wire& wire, ResponseReader& reader, bool& closed) {
  std::array<char, kReadBytes> bytes;
  const Wire::Progress progress = wire.receive(bytes);
  if (progress.wait_for != 0) return progress.wait_for;
  if (progress.ended && !wire.problem().empty())
    return fail(Code::unavailable,
                fmt::format("The connection to the runtime was lost: {}.", wire.problem()));
  closed = progress.ended;
  TRY(reader.feed({bytes.data(), progress.bytes}));
  return POLLIN;
}

std::string head_of(std::string_view method, std::string_view target, const Endpoint& endpoint,
                    std::string_view token, std::string_view more) {
  std::string host = endpoint.path.empty() ? endpoint.host + ":" + endpoint.port : "localhost";
  if (endpoint.host.find(':') != std::string::npos)
    host = "[" + endpoint.host + "]:" + endpoint.port;
  const std::string access =
      token.empty() ? "" : fmt::format("Authorization: Bearer {}\r\n", token);
  return fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n{}{}\r\n", method, target, host, access, more);
}

struct ErrorBody {
  std::string code;
  std::string message;
  std::optional<schema::Json> details;
};
BOOST_DESCRIBE_STRUCT(ErrorBody, (), (code, message, details))
struct ErrorReply {
  std::optional<ErrorBody> error;
};
BOOST_DESCRIBE_STRUCT(ErrorReply, (), (error))

struct Waits {
  std::optional<std::int64_t> wait_ms, timeout_ms;
};
BOOST_DESCRIBE_STRUCT(Waits, (), (wait_ms, timeout_ms))

// How long the command tells the runtime to wait before it replies.
int wait_in(std::string_view command, std::string_view params) {
  constexpr std::int64_t kLongestMs = 3'600'000;
  Waits waits;
  if (!schema::check_json(params) || !schema::from_json(params, waits, schema::Unknown::ignore))
    return 0;
  const bool waits_anyway = command == schema::WaitSubagents::kTraits.name;
  const std::int64_t asked =
      std::max(waits.wait_ms.value_or(0),
               waits.timeout_ms.value_or(waits_anyway ? schema::kWaitDefaultMs : 0));
  return static_cast<int>(std::clamp<std::int64_t>(asked, 0, kLongestMs));
}

}  // namespace

struct Stream::State {
  explicit State(Wire connected) : wire(std::move(connected)) {}

  Wire wire;
  short wait_for = POLLIN;
  ResponseReader reader;
  EventStreamParser parser;
  bool closed = false;
};

Stream::Stream(std::unique_ptr<State> state) : state_(std::move(state)) {}
Stream::~Stream() = default;
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;

Result<Stream::Received> Stream::next(int timeout_ms, int wake) {
  const auto deadline = Clock::now() + std::chrono::milliseconds(timeout_ms);
  while (true) {
    if (const std::string body = state_->reader.take_body(); !body.empty()) {
      TRY_ASSIGN(auto events, state_->parser.feed(body));
      if (!events.empty()) return Received{What::events, std::move(events)};
    }
    if (state_->closed || state_->reader.done()) return Received{What::ended, {}};
    std::array<pollfd, 2> waiting = {pollfd{state_->wire.descriptor(), state_->wait_for, 0},
                                     pollfd{wake, POLLIN, 0}};
    const int left = timeout_ms < 0 ? -1 : remaining_ms(deadline);
    const int ready = ::poll(waiting.data(), waiting.size(), left);
    if (ready < 0 && errno != EINTR)
      return fail(Code::unavailable,
                  fmt::format("Waiting for the runtime failed: {}.", reason(errno)));
    if (ready == 0) return Received{What::quiet, {}};
    if (ready < 0) continue;
    if (waiting[1].revents != 0) return Received{What::woken, {}};
    // A broken stream counts as ended; the caller reconnects.
    const auto read = read_some(state_->wire, state_->reader, state_->closed);
    state_->wait_for = read.value_or(POLLIN);
    if (!read) state_->closed = true;
  }
}

Result<HttpReply> Client::request(std::string_view method, std::string_view target,
                                  std::string_view body, int more_ms) const {
  const auto deadline = Clock::now() + std::chrono::milliseconds(kReplyTimeoutMs + more_ms);
  TRY_ASSIGN(Wire wire, connect_to(endpoint_));
  std::string more = "Connection: close\r\nAccept: application/json\r\n";
  if (!folder_.empty()) more += fmt::format("Agentrt-Cwd: {}\r\n", folder_);
  if (method == "POST" || !body.empty())
    more += fmt::format("Content-Type: application/json\r\nContent-Length: {}\r\n", body.size());
  TRY(send_all(wire, head_of(method, target, endpoint_, token_, more), deadline, abandon_));
  TRY(send_all(wire, body, deadline, abandon_));
  ResponseReader reader;
  bool closed = false;
  short ready_for = POLLIN;
  while (!reader.done() && !closed) {
    TRY(wait_for(wire.descriptor(), ready_for, deadline, abandon_));
    TRY_ASSIGN(ready_for, read_some(wire, reader, closed));
  }
  return HttpReply{reader.status(), reader.take_body()};
}

Result<std::string> Client::ask(std::string_view method, std::string_view target,
                                std::string_view body, int more_ms) const {
  TRY_ASSIGN(HttpReply reply, request(method, target, body, more_ms));
  if (reply.status >= 200 && reply.status < 300) return std::move(reply.body);
  return std::unexpected(error_of(reply));
}

Result<std::string> Client::call(std::string_view command, std::string_view params) const {
  return ask("POST", fmt::format("/v1/commands/{}", url_escaped(command)), params,
             wait_in(command, params));
}

Result<Stream> Client::follow(const SessionId& session, Sequence after) const {
  const auto deadline = Clock::now() + std::chrono::milliseconds(kReplyTimeoutMs);
  TRY_ASSIGN(Wire wire, connect_to(endpoint_));
  const std::string target = fmt::format("/v1/sessions/{}/events", url_escaped(session.text()));
  const std::string more = fmt::format("Accept: text/event-stream\r\nLast-Event-ID: {}\r\n", after);
  TRY(send_all(wire, head_of("GET", target, endpoint_, token_, more), deadline, abandon_));
  auto state = std::make_unique<Stream::State>(std::move(wire));
  state->reader.without_limit();
  const auto answered = [&] {
    return state->reader.header_done() && (state->reader.status() == 200 || state->reader.done());
  };
  while (!answered() && !state->closed) {
    TRY(wait_for(state->wire.descriptor(), state->wait_for, deadline, abandon_));
    TRY_ASSIGN(state->wait_for, read_some(state->wire, state->reader, state->closed));
  }
  if (state->reader.status() != 200)
    return std::unexpected(error_of({state->reader.status(), state->reader.take_body()}));
  return Stream(std::move(state));
}

Result<LiveReply> Client::converse(std::string_view target, std::string_view body,
                                   std::string_view fields, int timeout_ms) const {
  const auto deadline = Clock::now() + std::chrono::milliseconds(timeout_ms);
  TRY_ASSIGN(Wire wire, connect_to(endpoint_));
  std::string more = fmt::format(
      "Connection: close\r\nAccept: application/json, text/event-stream\r\n"
      "Content-Type: application/json\r\nContent-Length: {}\r\n{}",
      body.size(), fields);
  if (!folder_.empty()) more += fmt::format("Agentrt-Cwd: {}\r\n", folder_);
  TRY(send_all(wire, head_of("POST", target, endpoint_, token_, more), deadline, abandon_));
  TRY(send_all(wire, body, deadline, abandon_));
  auto state = std::make_unique<Stream::State>(std::move(wire));
  state->reader.without_limit();
  const auto streams = [&] {
    return state->reader.header_done() &&
           state->reader.field("Content-Type").starts_with("text/event-stream");
  };
  while (!streams() && !state->reader.done() && !state->closed) {
    TRY(wait_for(state->wire.descriptor(), state->wait_for, deadline, abandon_));
    TRY_ASSIGN(state->wait_for, read_some(state->wire, state->reader, state->closed));
  }
  LiveReply out;
  out.status = state->reader.status();
  out.session = state->reader.field("Mcp-Session-Id");
  if (streams())
    out.stream = Stream(std::move(state));
  else
    out.body = state->reader.take_body();
  return out;
}

Result<Upgraded> Client::upgrade(std::string_view target, std::string_view transport) const {
  const auto deadline = Clock::now() + std::chrono::milliseconds(kReplyTimeoutMs);
  TRY_ASSIGN(Wire wire, connect_to(endpoint_));
  std::string key(16, '\0');
  std::random_device random;
  for (char& c : key) c = static_cast<char>(random());
  key = base64(key);
  std::string more = fmt::format(
      "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
      "Sec-WebSocket-Key: {}\r\n",
      key);
  if (!endpoint_.path.empty()) more += fmt::format("Agentrt-Transport: {}\r\n", transport);
  if (!folder_.empty()) more += fmt::format("Agentrt-Cwd: {}\r\n", folder_);
  TRY(send_all(wire, head_of("GET", target, endpoint_, token_, more), deadline, abandon_));
  std::string received;
  std::size_t end = std::string::npos;
  while (end == std::string::npos) {
    std::array<char, kReadBytes> bytes;
    const Wire::Progress progress = wire.receive(bytes);
    received.append(bytes.data(), progress.bytes);
    if (progress.ended)
      return fail(Code::unavailable, "The runtime closed the connection before it answered.");
    if (progress.wait_for != 0)
      TRY(wait_for(wire.descriptor(), progress.wait_for, deadline, abandon_));
    end = received.find("\r\n\r\n");
    // An error has a body, whose end the connection's tells.
    if (end != std::string::npos && !received.starts_with("HTTP/1.1 101 ")) break;
  }
  if (received.starts_with("HTTP/1.1 101 "))
    return Upgraded{std::move(wire), received.substr(end + 4)};
  ResponseReader reader;
  bool closed = false;
  TRY(reader.feed(received));
  short ready_for = POLLIN;
  while (!reader.done() && !closed) {
    TRY(wait_for(wire.descriptor(), ready_for, deadline, abandon_));
    TRY_ASSIGN(ready_for, read_some(wire, reader, closed));
  }
  return std::unexpected(error_of({reader.status(), reader.take_body()}));
}

Error error_of(const HttpReply& reply) {
  ErrorReply parsed;
  if (schema::check_json(reply.body) &&
      schema::from_json(reply.body, parsed, schema::Unknown::ignore) && parsed.error) {
    Error error;
    error.code = code_of(parsed.error->code).value_or(Code::internal);
    error.message = parsed.error->message;
    if (parsed.error->details) error.details = parsed.error->details->text;
    return error;
  }
  return Error{
      Code::internal,
      fmt::format("The runtime replied with HTTP status {} and no error message.", reply.status),
      {}};
}

std::string url_escaped(std::string_view text) { return percent_encoded(text); }

}  // namespace agentrt::cli
