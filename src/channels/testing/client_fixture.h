// channels/testing/client_fixture.h: a blocking HTTP client that can send any bytes, and
// a server that runs on fakes.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "channels/http_server.h"
#include "channels/testing/fake_control_plane.h"
#include "channels/testing/fake_outputs.h"

namespace agentrt::channels {

inline std::optional<std::string> test_document(std::string_view file) {
  if (file == "openapi.json") return R"({"openapi":"3.1.0"})";
  if (file == "events.json") return R"({"type":"object"})";
  return std::nullopt;
}

// A page of two files, as the build packs them: "<!doctype html>" and "let a = 1;".
inline std::string_view test_page() {
  using namespace std::literals;
  static constexpr std::string_view kPack =
      "events.json text/javascript;charset=utf-8 30\n"
      "index.html text/html;charset=utf-8 35\n\n"
      "\x1f\x8b\x08\0\0\0\0\0\x02\xff\xcb\x49\x2d\x51\x48\x54\xb0\x55\x30\xb4\x06\0"
      "\x64\x95\x31\x96\x0a\0\0\0"
      "\x1f\x8b\x08\0\0\0\0\0\x02\xff\xb3\x51\x4c\xc9\x4f\x2e\xa9\x2c\x48\x55\xc8\x28\xc9"
      "\xcd\xb1\x03\0\x48\xec\xb9\x87\x0f\0\0\0"sv;
  return kPack;
}

struct TestReply {
  int status = 0;  // 0: the connection ended before a reply
  std::string head;
  std::string body;

  std::string field(std::string_view name) const {
    const std::string sought = fmt::format("\r\n{}: ", name);
    const std::size_t at = head.find(sought);
    if (at == head.npos) return "";
    const std::size_t from = at + sought.size();
    return head.substr(from, head.find("\r\n", from) - from);
  }
  std::string code() const {
    constexpr std::string_view kBefore = R"({"error":{"code":")";
    if (!body.starts_with(kBefore)) return "";
    return body.substr(kBefore.size(), body.find('"', kBefore.size()) - kBefore.size());
  }
};

class TestClient {
 public:
  explicit TestClient(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    connect(port);
  }
  // With a small receive buffer, a client that does not read soon blocks the server's writes.
  TestClient(std::uint16_t port, int receive_bytes) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
    connect(port);
  }
  explicit TestClient(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    REQUIRE(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    set_timeout();
  }
  ~TestClient() { ::close(socket_); }
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      // the server may close a rejected request before it was sent completely
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  void half_close() { ::shutdown(socket_, SHUT_WR); }

  // Reads a complete reply with a Content-Length; only the head for HEAD and 204.
  TestReply reply(std::string_view method = "GET") {
    TestReply out;
    const std::string head = read_until("\r\n\r\n");
    if (head.empty()) return out;
    out.head = head;
    out.status = std::stoi(head.substr(9, 3));
    const std::string length = out.field("Content-Length");
    if (method == "HEAD" || length.empty()) return out;
    while (buffer_.size() < std::stoul(length))
      if (!receive()) return {};
    out.body = buffer_.substr(0, std::stoul(length));
    buffer_.erase(0, out.body.size());
    return out;
  }
  // Reads up to and including `end`; empty if the connection ended or the read timed out.
  std::string read_until(std::string_view end) {
    while (buffer_.find(end) == std::string::npos)
      if (!receive()) return "";
    const std::size_t size = buffer_.find(end) + end.size();
    std::string out = buffer_.substr(0, size);
    buffer_.erase(0, size);
    return out;
  }
  // The bytes that have arrived, at least one; empty if the connection ended or the read timed out.
  std::string read_some() {
    if (buffer_.empty()) (void)receive();
    return std::exchange(buffer_, "");
  }
  struct End {
    std::string text;
    bool closed = false;
  };
  // Reads until the peer closes; reports whether it did.
  End read_to_end() {
    while (receive()) {
    }
    return {std::exchange(buffer_, ""), ended_};
  }
  bool closes() { return read_to_end().closed; }

 private:
  void connect(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    set_timeout();
  }
  void set_timeout() {
    const timeval time{10, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
  }
  bool receive() {
    char piece[65536];
    const ssize_t got = ::recv(socket_, piece, sizeof piece, 0);
    if (got == 0 || (got < 0 && errno == ECONNRESET)) ended_ = true;
    if (got <= 0) return false;
    buffer_.append(piece, static_cast<std::size_t>(got));
    return true;
  }

  int socket_;
  std::string buffer_;
  bool ended_ = false;
};

// A temporary folder, removed by the destructor.
struct TestFolder {
  std::string path;
  TestFolder() {
    char name[] = "/tmp/agentrt_channels_XXXXXX";
    path = ::mkdtemp(name);
  }
  ~TestFolder() { std::filesystem::remove_all(path); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
};

inline std::unique_ptr<Tokens> open_tokens(const std::string& folder) {
  auto tokens = Tokens::open(folder, [] { return Timestamp{1'000}; });
  REQUIRE_MESSAGE(tokens.has_value(), (tokens ? "" : tokens.error().message));
  return *std::move(tokens);
}

// A running server on fakes.
class TestServer {
 public:
  explicit TestServer(HttpLimits limits = {})
      : tokens(*Tokens::open(folder.path, [this] { return Timestamp{wall_ms}; })) {
    HttpOptions options;
    options.tcp = HttpAddress{};
    options.socket_path = folder.path + "/agentrt.sock";
    options.host_names = {"agent.example"};
    options.limits = limits;
    options.page = Page::read(test_page()).value();
    server.emplace(std::move(options), sink, feed, outputs, metrics, *tokens, test_document);
    const auto started = server->start();
    REQUIRE_MESSAGE(started.has_value(), (started ? "" : started.error().message));
    admin = token({TokenScope::admin});
  }

  std::string token(std::vector<TokenScope> scopes, std::optional<SessionId> session = {}) {
    auto created = tokens->create({std::move(scopes), std::move(session), {}});
    REQUIRE(created.has_value());
    last_token_id = created->view.token_id.text();
    return created->token;
  }

  // The text of a request with the admin token, unless `fields` contain another Authorization.
  std::string text(std::string_view method, std::string_view target, std::string_view fields = "",
                   std::string_view body = "") const {
    std::string out = fmt::format("{} {} HTTP/1.1\r\n{}", method, target, fields);
    if (!fields.contains("Host:")) out += "Host: localhost\r\n";
    if (!fields.contains("Authorization:"))
      out += fmt::format("Authorization: Bearer {}\r\n", admin);
    if (method == "POST" && !fields.contains("Content-Type:"))
      out += "Content-Type: application/json\r\n";
    if (method == "POST" && !fields.contains("Content-Length:"))
      out += fmt::format("Content-Length: {}\r\n", body.size());
    return out + "\r\n" + std::string(body);
  }
  TestReply ask(std::string_view method, std::string_view target, std::string_view fields = "",
                std::string_view body = "") const {
    TestClient client(server->port());
    client.send(text(method, target, fields, body));
    return client.reply(method);
  }
  TestReply raw(std::string_view bytes) const {
    TestClient client(server->port());
    client.send(bytes);
    return client.reply();
  }
  // Waits up to 10 s for `holds` to become true.
  static bool soon(const std::function<bool()>& holds) {
    for (int i = 0; i < 2'000; ++i) {
      if (holds()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }

  TestFolder folder;
  std::atomic<std::int64_t> wall_ms{1'000};  // the clock that tokens expire by
  std::unique_ptr<Tokens> tokens;
  FakeSink sink;
  FakeFeed feed;
  FakeOutputs outputs;
  ports::Metrics metrics;
  std::string admin;
  std::string last_token_id;
  std::optional<HttpServer> server;
};

}  // namespace agentrt::channels
