// cli/mcp/serve.cc: `agentrt mcp serve`: the runtime as an MCP server on standard input and output.
//
// A relay to the owner's /mcp: each message of the client is one POST, and each message of the
// answer is one line. If the owner leaves, the relay initializes at the next one with the client's
// own words and repeats what was in flight; a key that it adds to run_turn makes sure that no
// second turn starts. Requests of the server get ids of the relay, because each owner counts
// from 1.
#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "cli/mcp/messages.h"
#include "cli/verbs.h"

namespace agentrt::cli {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;
constexpr std::size_t kLineBytesMax = std::size_t{4} << 20;
constexpr std::size_t kInFlightMax = 64;
constexpr int kAttemptsMax = 8;  // of one request, over owners that leave
constexpr int kReplyMs = 3'700'000;

class Relay {
 public:
  explicit Relay(Attachment& attachment) : attachment_(attachment), client_(attachment.client()) {}

  int run(Signals& signals);

 private:
  // The connection of the client to one owner.
  struct Link {
    Client client;
    std::string session;
    std::uint64_t generation = 0;
  };

  void take_input(std::string_view bytes);
  void take_line(std::string line);
  void relay(std::string line);
  Link link();
  bool exchange(const Link& link, const McpLine& message, const std::string& line);
  bool print_stream(const Link& link, const McpLine& message, Stream stream);
  void recover(std::uint64_t generation);
  Result<void> initialize();
  void from_server(const Link& link, const std::string& message);
  void print(std::string message);
  void fail_request(const McpLine& message, const std::string& why);

  Attachment& attachment_;
  std::string input_;
  bool skipping_ = false;  // the line in progress is too long

  std::mutex print_mutex_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable idle_;
  std::size_t in_flight_ = 0;
  Client client_;
  std::string session_;
  std::string protocol_;
  std::string initialize_;  // the client's own message
  std::uint64_t generation_ = 1;
  std::set<std::string> asked_;  // ids of the server's open requests, as the client knows them
};

Relay::Link Relay::link() {
  const std::lock_guard lock(mutex_);
  return {client_, session_, generation_};
}

void Relay::print(std::string message) {
  for (char& c : message)
    if (c == '\n' || c == '\r') c = ' ';  // only between tokens of JSON
  message += '\n';
  const std::lock_guard lock(print_mutex_);
  std::string_view rest = message;
  while (!rest.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return;  // the client is gone; its end of input follows
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

void Relay::fail_request(const McpLine& message, const std::string& why) {
  if (message.id) print(mcp_error_line(*message.id, why));
}

// Passes on a message of the server, with an id that no other owner has used.
void Relay::from_server(const Link& link, const std::string& message) {
  const auto read = read_mcp_line(message);
  if (!read || !read->method) return print(message);
  if (read->id) {
    const std::string id = fmt::format("{}-{}", link.generation, *read->id);
    {
      const std::lock_guard lock(mutex_);
      asked_.insert(id);
    }
    return print(with_id(*read, id));
  }
  if (*read->method == "notifications/cancelled") {
    if (const auto number = cancelled_request(*read)) {
      const std::string id = fmt::format("{}-{}", link.generation, *number);
      {
        const std::lock_guard lock(mutex_);
        asked_.erase(id);
      }
      return print(cancelled_line(id));
    }
  }
  print(message);
}

// True: the answer has arrived, or none is due. False: the owner is gone, or does not know the
// session.
bool Relay::exchange(const Link& link, const McpLine& message, const std::string& line) {
  std::string headers = "Agentrt-Transport: stdio\r\n";
  if (!link.session.empty()) headers += fmt::format("Mcp-Session-Id: {}\r\n", link.session);
  auto reply = link.client.converse("/mcp", line, headers, kReplyMs);
  if (!reply) return false;
  if (reply->status == 404 && !link.session.empty()) return false;
  if (!reply->stream) {
    if (!reply->body.empty()) from_server(link, reply->body);
    if (reply->body.empty() && reply->status >= 300)
      fail_request(message, fmt::format("the runtime answered with status {}", reply->status));
    return true;
  }
  return print_stream(link, message, *std::move(reply->stream));
}

bool Relay::print_stream(const Link& link, const McpLine& message, Stream stream) {
  while (true) {
    auto received = stream.next(kReplyMs, -1);
    if (!received) return false;
    for (const StreamEvent& event : received->events) {
      from_server(link, event.data);
      const auto read = read_mcp_line(event.data);
      if (read && !read->method && read->id == message.id) return true;
    }
    if (received->what != Stream::What::events) return false;
  }
}

Result<void> Relay::initialize() {
  if (initialize_.empty()) return {};
  auto reply = client_.converse("/mcp", initialize_, "Agentrt-Transport: stdio\r\n", kReplyMs);
  if (!reply) return std::unexpected(reply.error());
  if (reply->status != 200 || reply->session.empty())
    return fail(Code::unavailable, "the runtime did not initialize");
  session_ = reply->session;
  (void)client_.converse("/mcp", R"({"jsonrpc":"2.0","method":"notifications/initialized"})",
                         fmt::format("Mcp-Session-Id: {}\r\n", session_), kReplyMs);
  return {};
}

// Finds or starts the next owner, once for all requests that lost the last one.
void Relay::recover(std::uint64_t generation) {
  const std::lock_guard lock(mutex_);
  if (generation_ != generation) return;
  ++generation_;
  for (const std::string& id : asked_) print(cancelled_line(id));
  asked_.clear();
  if (!initialize()) {
    if (attachment_.renew()) client_ = attachment_.client();
    (void)initialize();
  }
}

void Relay::relay(std::string line) {
  const auto message = read_mcp_line(line);
  if (!message) {
    print(mcp_error_line("null", "expected one JSON-RPC 2.0 message per line", -32700));
    return;
  }
  if (const auto keyed = with_turn_key(*message)) line = *keyed;
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    const Link now = link();
    std::string sent = line;
    if (!message->method && message->id) {  // the answer to a question of this owner
      const auto own = own_id(*message->id, now.generation);
      if (!own) return;
      {
        const std::lock_guard lock(mutex_);
        asked_.erase(unquoted(*message->id));
      }
      sent = with_raw_id(*message, *own);
    }
    if (exchange(now, *message, sent)) return;
    if (!message->method) return;
    recover(now.generation);
  }
  fail_request(*message, "no runtime could be reached; check agentrt doctor");
}

void Relay::take_line(std::string line) {
  if (line.find_first_not_of(" \t\r") == std::string::npos) return;
  const auto message = read_mcp_line(line);
  const bool begins = message && message->method == "initialize";
  if (begins) {
    // Everything else needs its session.
    {
      const std::lock_guard lock(mutex_);
      initialize_ = line;
    }
    for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
      const Link now = link();
      auto reply = now.client.converse("/mcp", line, "Agentrt-Transport: stdio\r\n", kReplyMs);
      if (reply) {
        {
          const std::lock_guard lock(mutex_);
          session_ = reply->session;
        }
        return print(reply->body);
      }
      const std::lock_guard lock(mutex_);
      if (attachment_.renew()) client_ = attachment_.client();
    }
    return fail_request(*message, "no runtime could be reached; check agentrt doctor");
  }
  std::unique_lock lock(mutex_);
  if (in_flight_ >= kInFlightMax && message) {
    lock.unlock();
    return fail_request(*message, fmt::format("{} requests are in flight", kInFlightMax));
  }
  ++in_flight_;
  lock.unlock();
  std::thread([this, line = std::move(line)]() mutable {
    relay(std::move(line));
    const std::lock_guard done(mutex_);
    --in_flight_;
    idle_.notify_all();
  }).detach();
}

void Relay::take_input(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    bytes.remove_prefix(end == bytes.npos ? bytes.size() : end + 1);
    if (!skipping_) input_ += part;
    if (input_.size() > kLineBytesMax) {
      skipping_ = true;
      input_ = {};
      print(mcp_error_line("null", fmt::format("a line is longer than {} bytes", kLineBytesMax),
                           -32700));
    }
    if (end == std::string_view::npos) return;
    if (!std::exchange(skipping_, false)) take_line(std::exchange(input_, {}));
  }
}

int Relay::run(Signals& signals) {
  while (true) {
    std::array<pollfd, 2> wait{{{STDIN_FILENO, POLLIN, 0}, {signals.descriptor(), POLLIN, 0}}};
    ::poll(wait.data(), wait.size(), -1);
    if (signals.count() > 0) return kExitInterrupted;
    if (wait[0].revents == 0) continue;
    std::array<char, kReadBytes> bytes;
    const ssize_t size = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    take_input({bytes.data(), static_cast<std::size_t>(size)});
  }
  // The client leaves. What was asked is still answered, unless a signal ends the wait.
  std::unique_lock lock(mutex_);
  while (in_flight_ > 0 && signals.count() == 0)
    idle_.wait_for(lock, std::chrono::milliseconds(100));
  return kExitDone;
}

}  // namespace

int serve_mcp(Context& context) {
  if (context.output.screen().in_terminal)
    context.output.note(
        "This speaks MCP on standard input. Configure it in a client, for example as {\"command\": "
        "\"agentrt\", \"args\": [\"mcp\", \"serve\"]}.");
  Signals signals;
  auto attachment = attach_plainly(context, signals);
  if (!attachment)
    return signals.count() > 0 ? kExitInterrupted : context.output.problem(attachment.error());
  Relay relay(*attachment);
  const int code = relay.run(signals);
  // Threads may still wait for replies that nobody reads.
  std::_Exit(code);
}

}  // namespace agentrt::cli
