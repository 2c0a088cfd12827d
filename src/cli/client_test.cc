// cli/client_test.cc: the client against a server with scripted replies.
#include "cli/client.h"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

namespace agentrt::cli {
namespace {

// Answers one connection with the given chunks, with a pause between them, then closes it.
class OneAnswer {
 public:
  explicit OneAnswer(std::vector<std::string> pieces) : pieces_(std::move(pieces)) {
    std::string pattern = (std::filesystem::temp_directory_path() / "agentrt_sock_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path().copy(address.sun_path, sizeof(address.sun_path) - 1);
    REQUIRE(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
    REQUIRE(::listen(listener_, 1) == 0);
    thread_ = std::thread([this] { answer(); });
  }
  ~OneAnswer() {
    if (thread_.joinable()) thread_.join();
    ::close(listener_);
    std::filesystem::remove_all(folder_);
  }

  std::string path() const { return folder_ + "/s"; }
  const std::string& request() {
    if (thread_.joinable()) thread_.join();
    return request_;
  }

 private:
  // Whether the headers and the announced body have arrived.
  static bool whole(const std::string& request) {
    const std::size_t end = request.find("\r\n\r\n");
    if (end == std::string::npos) return false;
    const std::size_t length = request.find("Content-Length: ");
    const std::size_t body =
        length < end ? std::stoul(request.substr(length + sizeof("Content-Length: ") - 1)) : 0;
    return request.size() >= end + 4 + body;
  }
  void answer() {
    const int connection = ::accept(listener_, nullptr, nullptr);
    // Closing with unread request data would reset the connection.
    char bytes[4096];
    while (!whole(request_)) {
      const ssize_t size = ::read(connection, bytes, sizeof(bytes));
      if (size <= 0) break;
      request_.append(bytes, static_cast<std::size_t>(size));
    }
    for (const std::string& piece : pieces_) {
      ::send(connection, piece.data(), piece.size(), MSG_NOSIGNAL);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ::close(connection);
  }

  std::vector<std::string> pieces_;
  std::string folder_;
  std::string request_;
  int listener_ = -1;
  std::thread thread_;
};

TEST_CASE("a call sends the token and gives the reply's body") {
  OneAnswer server({"HTTP/1.1 200 OK\r\nContent-Le", "ngth: 8\r\n\r\n{\"a\"", ":1} "});
  const Client client(server.path(), "secret");
  const auto reply = client.call("list_sessions", "{}");
  REQUIRE_MESSAGE(reply.has_value(), (reply ? "" : reply.error().message));
  CHECK(*reply == "{\"a\":1} ");
  CHECK(server.request().find("POST /v1/commands/list_sessions HTTP/1.1\r\n") == 0);
  CHECK(server.request().find("Authorization: Bearer secret\r\n") != std::string::npos);
}

TEST_CASE("an error reply becomes the error that the server meant") {
  const std::string body =
      R"({"error":{"code":"conflict","message":"wrong state","details":{"state":"idle"}}})";
  OneAnswer server({"HTTP/1.1 409 Conflict\r\nContent-Length: " + std::to_string(body.size()) +
                    "\r\n\r\n" + body});
  const auto reply = Client(server.path(), "t").call("x", "{}");
  REQUIRE(!reply);
  CHECK(reply.error() == Error{Code::conflict, "wrong state", R"({"state":"idle"})"});
}

TEST_CASE("an answer that breaks off, or is not HTTP, is unavailable") {
  OneAnswer cut({"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"});
  CHECK(Client(cut.path(), "t").call("x", "{}").error().code == Code::unavailable);
  OneAnswer silent({});
  CHECK(Client(silent.path(), "t").call("x", "{}").error().code == Code::unavailable);
  OneAnswer garbage({"hello\r\n\r\n"});
  CHECK(Client(garbage.path(), "t").call("x", "{}").error().code == Code::unavailable);
}

TEST_CASE("nobody at the socket, or a path too long for one, is unavailable") {
  CHECK(Client("/nonexistent/s", "t").call("x", "{}").error().code == Code::unavailable);
  CHECK(Client("/" + std::string(200, 'x'), "t").call("x", "{}").error().code == Code::unavailable);
}

TEST_CASE("a request can be given up") {
  OneAnswer server({std::string(), std::string()});
  Client client(server.path(), "t");
  client.set_abandon([] { return true; });
  CHECK(client.call("x", "{}").error().code == Code::unavailable);
}

TEST_CASE("a stream gives events as they arrive, chunked or not, and then its end") {
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
  const std::vector<std::vector<std::string>> answers = {
      {head + "\r\n", ": ok\n\nid: 1\nevent: a\nda", "ta: x\n\n", "id: 2\ndata: y\n\n"},
      {head + "Transfer-Encoding: chunked\r\n\r\n", "5\r\n: ok\n\r\n", "19\r\n\nid: 1\nevent: a\n",
       "data: x\n\n\r\n", "F\r\nid: 2\ndata: y\n\n\r\n", "0\r\n\r\n"}};
  for (const auto& pieces : answers) {
    OneAnswer server(pieces);
    auto stream = Client(server.path(), "t").follow(SessionId{"s"}, 7);
    REQUIRE(stream);
    std::vector<StreamEvent> events;
    auto received = stream->next(2'000, -1);
    while (received && received->what == Stream::What::events) {
      for (const StreamEvent& event : received->events) events.push_back(event);
      received = stream->next(2'000, -1);
    }
    REQUIRE(received);
    CHECK(received->what == Stream::What::ended);
    const std::vector<StreamEvent> expected = {{"1", "a", "x"}, {"2", "message", "y"}};
    CHECK(events == expected);
    CHECK(server.request().find("Last-Event-ID: 7\r\n") != std::string::npos);
  }
}

TEST_CASE("a stream that is refused tells why") {
  const std::string body = R"({"error":{"code":"gone","message":"of the future"}})";
  OneAnswer server(
      {"HTTP/1.1 410 Gone\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body});
  const auto stream = Client(server.path(), "t").follow(SessionId{"s"}, 7);
  REQUIRE(!stream);
  CHECK(stream.error().code == Code::gone);
}

TEST_CASE("waiting for a stream ends after the time given, or when the other descriptor speaks") {
  OneAnswer server({"HTTP/1.1 200 OK\r\n\r\n", "", "", "", "", "", "", "", "", "", "", ""});
  auto stream = Client(server.path(), "t").follow(SessionId{"s"}, 0);
  REQUIRE(stream);
  CHECK(stream->next(1, -1)->what == Stream::What::quiet);
  int pipe_ends[2];
  REQUIRE(::pipe(pipe_ends) == 0);
  REQUIRE(::write(pipe_ends[1], "x", 1) == 1);
  CHECK(stream->next(2'000, pipe_ends[0])->what == Stream::What::woken);
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
}

TEST_CASE("text in a path is escaped") { CHECK(url_escaped("a/b c:é") == "a%2Fb%20c%3A%C3%A9"); }

}  // namespace
}  // namespace agentrt::cli
