// cli/remote/rpc.cc: `agentrt rpc`: JSON-RPC on standard input and output, one message per line.
//
// Relays lines and the messages of GET /v1/ws. Standard output gets nothing else.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <random>

#include <fmt/format.h>

#include "base/websocket.h"
#include "cli/verbs.h"
#include "schema/codec.h"

namespace agentrt::cli {
namespace {

using websocket::Opcode;

constexpr std::size_t kReadBytes = 64 * 1024;
// While the runtime has not taken this much, no further line is read.
constexpr std::size_t kUnsentBytesMax = 1 << 20;
constexpr std::size_t kMessageBytesMax = std::size_t{1} << 30;  // of the runtime, which is trusted

struct CallHead {
  std::optional<schema::Json> id;
  std::optional<schema::Json> method;
};
BOOST_DESCRIBE_STRUCT(CallHead, (), (id, method))

// Whether the runtime replies to the line. It also replies to one that is not valid.
bool gets_reply(std::string_view line) {
  CallHead head;
  if (!schema::check_json(line) || !schema::from_json(line, head, schema::Unknown::ignore))
    return true;
  return head.id && head.method;
}

bool is_reply(std::string_view text) {
  CallHead head;
  if (text.starts_with('[')) return true;
  return !schema::from_json(text, head, schema::Unknown::ignore) || !head.method;
}

class Relay {
 public:
  Relay(Upgraded connection, std::size_t line_bytes_max)
      : wire_(std::move(connection.wire)), line_bytes_max_(line_bytes_max) {
    first_ = std::move(connection.received);
  }

  Result<int> run(Signals& signals);

 private:
  Result<void> read_lines();
  Result<void> send_line(std::string_view line);
  void queue(Opcode opcode, std::string_view payload);
  Result<void> send_queued();
  Result<void> receive();
  Result<void> take(std::string_view bytes);
  static Result<void> print(std::string text);
  bool finished() const { return ended_ && pending_replies_ == 0 && unsent_.empty(); }

  Wire wire_;
  const std::size_t line_bytes_max_;
  std::string first_;  // messages that came with the handshake
  websocket::Reader reader_{websocket::Side::client, kMessageBytesMax};
  std::string input_;      // the line in progress
  bool skipping_ = false;  // the line in progress is too long
  bool ended_ = false;     // standard input has ended
  std::size_t pending_replies_ = 0;
  std::string unsent_;
  short send_waits_for_ = 0;
  short receive_waits_for_ = POLLIN;
  bool closed_ = false;
  std::uint16_t close_code_ = 0;
  std::mt19937 random_{std::random_device{}()};
};

Result<void> Relay::print(std::string text) {
  // Line breaks occur only between tokens of JSON.
  for (char& c : text)
    if (c == '\n' || c == '\r') c = ' ';
  text += '\n';
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0)
      return fail(Code::unavailable, "Standard output was closed, so no reply can be delivered.");
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

void Relay::queue(Opcode opcode, std::string_view payload) {
  unsent_ += websocket::masked_frame(opcode, payload, static_cast<std::uint32_t>(random_()));
}

Result<void> Relay::send_queued() {
  std::size_t sent = 0;
  send_waits_for_ = 0;
  while (sent < unsent_.size()) {
    const Wire::Progress progress = wire_.send(std::string_view(unsent_).substr(sent));
    sent += progress.bytes;
    send_waits_for_ = progress.wait_for;
    if (progress.ended) closed_ = true;
    if (progress.ended || progress.wait_for != 0) break;
  }
  unsent_.erase(0, sent);
  return {};
}

Result<void> Relay::send_line(std::string_view line) {
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return {};
  if (gets_reply(line)) ++pending_replies_;
  queue(Opcode::text, line);
  return {};
}

Result<void> Relay::read_lines() {
  std::array<char, kReadBytes> bytes;
  const ssize_t size = ::read(STDIN_FILENO, bytes.data(), bytes.size());
  if (size < 0) return {};  // interrupted
  ended_ = size == 0;
  std::string_view rest(bytes.data(), static_cast<std::size_t>(size));
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const bool whole = end != std::string_view::npos;
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(whole ? end + 1 : rest.size());
    if (!skipping_ && input_.size() + part.size() > line_bytes_max_) {
      skipping_ = true;
      input_ = {};
      TRY(print(fmt::format(
          R"({{"jsonrpc":"2.0","id":null,"error":{{"code":-32600,"message":)"
          R"("a line is longer than {} bytes and was skipped","data":{{"code":"too_large"}}}}}})",
          line_bytes_max_)));
    }
    if (!skipping_) input_ += part;
    if (!whole) continue;
    if (!std::exchange(skipping_, false)) TRY(send_line(input_));
    input_.clear();
  }
  if (ended_ && !input_.empty()) TRY(send_line(std::exchange(input_, {})));
  return {};
}

Result<void> Relay::take(std::string_view bytes) {
  std::vector<websocket::Message> messages;
  if (!reader_.put(bytes, messages))
    return fail(Code::unavailable, "The runtime sent a frame that is not valid.");
  for (websocket::Message& message : messages) {
    if (message.opcode == Opcode::ping) queue(Opcode::pong, message.payload);
    if (message.opcode == Opcode::close) {
      closed_ = true;
      close_code_ = websocket::close_code_of(message.payload);
    }
    if (message.opcode != Opcode::text) continue;
    if (pending_replies_ > 0 && is_reply(message.payload)) --pending_replies_;
    TRY(print(std::move(message.payload)));
  }
  return {};
}

Result<void> Relay::receive() {
  std::array<char, kReadBytes> bytes;
  const Wire::Progress progress = wire_.receive(bytes);
  receive_waits_for_ = progress.wait_for != 0 ? progress.wait_for : POLLIN;
  TRY(take({bytes.data(), progress.bytes}));
  if (progress.ended) closed_ = true;
  return {};
}

Result<int> Relay::run(Signals& signals) {
  TRY(take(std::exchange(first_, {})));
  while (!closed_ && !finished()) {
    const bool reads = !ended_ && unsent_.size() < kUnsentBytesMax;
    std::array<pollfd, 3> waiting = {
        pollfd{wire_.descriptor(), static_cast<short>(receive_waits_for_ | send_waits_for_), 0},
        pollfd{reads ? STDIN_FILENO : -1, POLLIN, 0}, pollfd{signals.descriptor(), POLLIN, 0}};
    if (::poll(waiting.data(), waiting.size(), -1) < 0 && errno != EINTR)
      return fail(Code::unavailable, "Waiting for input failed.");
    if (signals.count() > 0) return kExitInterrupted;
    if (waiting[1].revents != 0) TRY(read_lines());
    if (waiting[0].revents != 0) TRY(receive());
    TRY(send_queued());
  }
  if (finished()) return kExitDone;
  if (close_code_ == static_cast<std::uint16_t>(websocket::CloseCode::policy))
    return fail(Code::unauthenticated, "The token was revoked.");
  return fail(Code::unavailable,
              close_code_ != 0
                  ? fmt::format("The runtime closed the connection (code {}).", close_code_)
                  : "The connection to the runtime was lost.");
}

}  // namespace

int relay_rpc(Context& context) {
  const auto config = config_of(context, "");
  if (!config) return context.output.problem(config.error());
  return with_runtime(
      context,
      [&](const Client& client, Signals& signals) -> Result<int> {
        TRY_ASSIGN(Upgraded connection, client.upgrade("/v1/ws", "stdio"));
        return Relay(std::move(connection), config->channels.message_bytes).run(signals);
      },
      Repeat::never);
}

}  // namespace agentrt::cli
