#include "channels/http_server.h"

#include <fcntl.h>

#include "channels/routes.h"
#include "channels/testing/client_fixture.h"

// Tests the server over real sockets: access control, rejected requests, and every request limit.
// Streams are tested in stream_test.cc.
namespace agentrt::channels {
namespace {

std::string authorization(const std::string& token) {
  return fmt::format("Authorization: Bearer {}\r\n", token);
}

// A target that matches the pattern.
std::string target_of(const Route& route) {
  std::string out(route.pattern);
  for (const auto& [name, value] : {std::pair{"{command}", "submit_turn"},
                                    {"{id}", "x"},
                                    {"{id}", "y"},
                                    {"{name}", "events.json"}})
    if (const std::size_t at = out.find(name); at != out.npos)
      out.replace(at, std::string_view(name).size(), value);
  return out;
}

std::string_view name_of_method(Method method) {
  return method == Method::get ? "GET" : method == Method::post ? "POST" : "DELETE";
}

// A token that lacks every scope that the route accepts.
std::string too_narrow(TestServer& s, Access access) {
  if (access == Access::by_command || access == Access::submit || access == Access::admin)
    return s.token({TokenScope::read, TokenScope::approve});
  return s.token({TokenScope::submit, TokenScope::approve});
}

}  // namespace

TEST_CASE("every route refuses a request without, with a wrong and with a too narrow token") {
  TestServer s;
  for (const Route& route : routes()) {
    CAPTURE(route.pattern);
    const std::string target = target_of(route);
    if (target == "/v1/login") continue;  // it checks a code instead; see login_test.cc
    const std::string_view method = name_of_method(route.method);
    const auto status = [&](std::string_view fields) {
      return s.ask(method, target, fields, "{}").status;
    };
    const int open = route.access == Access::open ? 200 : 401;
    TestClient client(s.server->port());
    client.send(fmt::format("{} {} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n",
                            method, target));
    const TestReply none = client.reply();
    CHECK(none.status == open);
    if (open == 401) CHECK(none.field("WWW-Authenticate") == "Bearer");
    CHECK(status(authorization(std::string(64, '0'))) == open);
    CHECK(status("Authorization: Basic abc\r\n") == open);
    const bool any = route.access == Access::by_call || route.access == Access::any_token;
    if (route.access == Access::open || any) continue;
    const TestReply narrow =
        s.ask(method, target, authorization(too_narrow(s, route.access)), "{}");
    CHECK(narrow.status == 403);
    CHECK(narrow.code() == "forbidden");
  }
}

TEST_CASE("local routes are served on the Unix socket and do not exist over TCP") {
  TestServer s;
  for (const Route& route : routes()) {
    if (!route.local) continue;
    CAPTURE(route.pattern);
    const std::string request = s.text(name_of_method(route.method), target_of(route), "", "{}");
    TestClient tcp(s.server->port());
    tcp.send(request);
    CHECK(tcp.reply().status == 404);
    TestClient local(s.folder.path + "/agentrt.sock");
    local.send(request);
    CHECK(local.reply().status != 404);
  }
}

TEST_CASE("a call within JSON-RPC needs the scope of its own command") {
  TestServer s;
  const std::string reader = authorization(s.token({TokenScope::read}));
  const TestReply reply =
      s.ask("POST", "/v1/rpc", reader,
            R"([{"jsonrpc":"2.0","id":1,"method":"submit_turn","params":{"input":[]}},)"
            R"({"jsonrpc":"2.0","id":2,"method":"list_sessions"}])");
  CHECK(reply.status == 200);
  CHECK(reply.body.starts_with(R"([{"jsonrpc":"2.0","id":1,"error":{"code":-32000)"));
  CHECK(reply.body.contains(R"("data":{"code":"forbidden"})"));
  CHECK(reply.body.contains(R"("id":2,"result":{"command":"list_sessions")"));
  // Also where its params are wrong.
  CHECK(s.ask("POST", "/v1/rpc", reader,
              R"({"jsonrpc":"2.0","id":1,"method":"submit_turn","params":{"nonsense":1}})")
            .body.contains(R"("data":{"code":"forbidden"})"));
}

TEST_CASE("a command's params go in and its reply comes out, with who asked") {
  TestServer s;
  const TestReply reply = s.ask("POST", "/v1/commands/create_session",
                                "X-Request-Id: req_7\r\ntraceparent: 00-4bf92f3577b34da6a3ce929d0e"
                                "0e4736-00f067aa0ba902b7-01\r\n",
                                R"({"sessionId":"sess_a","title":"t"})");
  CHECK(reply.status == 200);
  CHECK(reply.field("Content-Type") == "application/json");
  CHECK(reply.field("X-Request-Id") == "req_7");
  CHECK(reply.body == fmt::format(R"({{"command":"create_session","principal":"{}",)"
                                  R"("request":"req_7","trace":"4bf92f3577b34da6a3ce929d0e0e4736",)"
                                  R"("params":{{"sessionId":"sess_a","title":"t"}}}})",
                                  s.last_token_id));
}

TEST_CASE("the first token's principal is local") {
  TestServer s;
  std::string token;
  {
    const int file = ::open((s.folder.path + "/token").c_str(), O_RDONLY);
    token.resize(64);
    REQUIRE(::read(file, token.data(), 64) == 64);
    ::close(file);
  }
  CHECK(s.ask("POST", "/v1/commands/list_sessions", authorization(token), "{}")
            .body.contains(R"("principal":"local")"));
}

TEST_CASE("a refusal has its code's status, and load asks to come again") {
  TestServer s;
  s.sink.fail_next({Code::conflict, "it is done", R"({"state":"done"})"});
  const TestReply conflict = s.ask("POST", "/v1/commands/list_sessions", "", "{}");
  CHECK(conflict.status == 409);
  CHECK(conflict.body ==
        R"({"error":{"code":"conflict","message":"it is done","details":{"state":"done"}}})");
  s.sink.fail_next({Code::overloaded, "busy", {}});
  const TestReply overloaded = s.ask("POST", "/v1/commands/list_sessions", "", "{}");
  CHECK(overloaded.status == 503);
  CHECK(overloaded.field("Retry-After") == "1");
}

TEST_CASE("params that are wrong are refused with their path") {
  TestServer s;
  const auto code = [&](std::string_view body) {
    const TestReply reply = s.ask("POST", "/v1/commands/get_session", "", body);
    CHECK(reply.status == 400);
    return reply.code();
  };
  CHECK(code("") == "invalid_params");
  CHECK(code("{") == "invalid_params");
  CHECK(code("[]") == "invalid_params");
  CHECK(code("{}") == "invalid_params");
  CHECK(code(R"({"sessionId":7})") == "invalid_params");
  CHECK(code(R"({"sessionId":"s","nonsense":1})") == "invalid_params");
  CHECK(code(std::string(200, '[') + std::string(200, ']')) == "invalid_params");
  CHECK(s.ask("POST", "/v1/commands/no_such", "", "{}").code() == "not_found");
}

TEST_CASE("the read routes are their commands") {
  TestServer s;
  const auto body = [&](std::string_view target) {
    const std::string text = s.ask("GET", target).body;
    return text.substr(std::min(text.size(), text.find("\"params\"")));
  };
  CHECK(body("/v1/sessions?limit=5&cursor=abc&includeSystem=true") ==
        R"("params":{"limit":5,"cursor":"abc","includeSystem":true}})");
  CHECK(body("/v1/sessions/sess_a?limit=2") == R"("params":{"sessionId":"sess_a","limit":2}})");
  CHECK(body("/v1/sessions/sess_a/threads/th") ==
        R"("params":{"sessionId":"sess_a","threadId":"th"}})");
  CHECK(s.ask("GET", "/v1/sessions?limit=x").code() == "invalid_params");
  CHECK(s.ask("GET", "/v1/sessions/a%20b").code() == "invalid_params");
}

TEST_CASE("a token bound to a session touches nothing else") {
  TestServer s;
  s.feed.append("sess_a", 1);
  s.feed.append("sess_b", 1);
  const std::string bound =
      authorization(s.token({TokenScope::read, TokenScope::submit}, SessionId{"sess_a"}));
  const auto get = [&](std::string_view target) { return s.ask("GET", target, bound).status; };
  const auto post = [&](std::string_view command, std::string_view params) {
    return s.ask("POST", fmt::format("/v1/commands/{}", command), bound, params).status;
  };
  CHECK(get("/v1/sessions/sess_a") == 200);
  CHECK(get("/v1/sessions/sess_a/events") == 200);
  CHECK(get("/v1/sessions/sess_b") == 403);
  CHECK(get("/v1/sessions/sess_b/threads/t") == 403);
  CHECK(get("/v1/sessions/sess_b/events") == 403);
  CHECK(get("/v1/sessions") == 403);
  CHECK(get("/v1/events") == 403);
  CHECK(post("submit_turn", R"({"sessionId":"sess_a","input":[]})") == 200);
  CHECK(post("submit_turn", R"({"sessionId":"sess_b","input":[]})") == 403);
  CHECK(post("submit_turn", R"({"input":[]})") == 403);
  CHECK(post("create_session", "{}") == 403);
  CHECK(s.ask("POST", "/v1/rpc", bound,
              R"({"jsonrpc":"2.0","id":1,"method":"get_session","params":{"sessionId":"sess_b"}})")
            .body.contains("forbidden"));
}

TEST_CASE("Host and Origin are judged before the token") {
  TestServer s;
  const auto status = [&](std::string_view fields) {
    return s.raw(fmt::format("GET /healthz HTTP/1.1\r\n{}\r\n", fields)).status;
  };
  CHECK(status("Host: evil.com\r\n") == 421);
  CHECK(status("Host: 127.0.0.1.evil.com\r\n") == 421);
  CHECK(status("") == 421);
  CHECK(status("Host: localhost\r\nHost: localhost\r\n") == 400);
  CHECK(status("Host: localhost:7717\r\nOrigin: http://localhost:7717\r\n") == 200);
  CHECK(status("Host: agent.example\r\nOrigin: https://agent.example\r\n") == 200);
  CHECK(status("Host: localhost:7717\r\nOrigin: http://evil.com\r\n") == 403);
  CHECK(status("Host: localhost:7717\r\nOrigin: null\r\n") == 403);
  CHECK(s.ask("GET", "/v1/sessions", "Host: evil.com\r\n").code() == "misdirected");
}

TEST_CASE("a body must be declared as JSON") {
  TestServer s;
  const auto status = [&](std::string_view type) {
    return s.ask("POST", "/v1/commands/list_sessions", type, "{}").status;
  };
  CHECK(status("Content-Type: text/plain\r\n") == 415);
  CHECK(status("Content-Type: \r\n") == 415);
  CHECK(status("Content-Type: application/json; charset=utf-8\r\n") == 200);
}

TEST_CASE("unknown paths and wrong methods say so, to those with a token") {
  TestServer s;
  CHECK(s.ask("GET", "/nothing").code() == "not_found");
  CHECK(s.ask("GET", "/v1/sessions/").status == 200);
  CHECK(s.ask("GET", "/nothing", authorization("x")).status == 401);
  const TestReply reply = s.ask("DELETE", "/v1/tokens");
  CHECK(reply.status == 405);
  CHECK(reply.code() == "method_not_allowed");
  CHECK(reply.field("Allow") == "POST, GET, HEAD");
  CHECK(s.ask("OPTIONS", "/v1/rpc").field("Allow") == "POST");
}

TEST_CASE("HEAD answers as GET does, without the body") {
  TestServer s;
  const TestReply get = s.ask("GET", "/openapi.json");
  const TestReply head = s.ask("HEAD", "/openapi.json");
  CHECK(get.body == R"({"openapi":"3.1.0"})");
  CHECK(head.status == 200);
  CHECK(head.head == get.head);
  CHECK(s.ask("HEAD", "/v1/commands/list_sessions").status == 405);
}

TEST_CASE("documents and metrics are served") {
  TestServer s;
  CHECK(s.ask("GET", "/schemas/events.json").body == R"({"type":"object"})");
  CHECK(s.ask("GET", "/schemas/none.json").code() == "not_found");
  CHECK(s.ask("GET", "/healthz", "Authorization: none\r\n").status == 200);
  CHECK(s.ask("GET", "/readyz", "Authorization: none\r\n").status == 200);
  const TestReply metrics = s.ask("GET", "/metrics");
  CHECK(metrics.field("Content-Type").starts_with("text/plain; version=0.0.4"));
  CHECK(metrics.body.contains("# TYPE agentrt_http_connections gauge\nagentrt_http_connections "));
}

TEST_CASE("tokens are made, listed and revoked over HTTP, and revocation holds at once") {
  TestServer s;
  const TestReply made =
      s.ask("POST", "/v1/tokens", "", R"({"scopes":["read"],"name":"phone","sessionId":"s"})");
  REQUIRE(made.status == 200);
  const std::string token = made.body.substr(made.body.find("\"token\":\"") + 9, 64);
  const std::size_t at = made.body.find("\"tokenId\":\"") + 11;
  const std::string id = made.body.substr(at, made.body.find('"', at) - at);
  CHECK(s.ask("GET", "/v1/sessions/s", authorization(token)).status == 200);
  const TestReply list = s.ask("GET", "/v1/tokens");
  CHECK(list.body.starts_with(R"({"data":[{"tokenId":"local","scopes":["admin"]},)"));
  CHECK(list.body.contains(R"("name":"phone")"));
  CHECK(!list.body.contains(token));
  const TestReply revoked = s.ask("DELETE", "/v1/tokens/" + id);
  CHECK(revoked.status == 200);
  CHECK(revoked.body.contains("revokedAt"));
  CHECK(s.ask("GET", "/v1/sessions/s", authorization(token)).status == 401);
  CHECK(s.ask("DELETE", "/v1/tokens/none").status == 404);
  CHECK(s.ask("POST", "/v1/tokens", "", R"({"scopes":["root"]})").status == 400);
  CHECK(s.ask("POST", "/v1/tokens", "", R"({"scopes":[]})").status == 400);
}

TEST_CASE("requests may be sent ahead; the answers keep their order") {
  TestServer s;
  TestClient client(s.server->port());
  std::string all;
  for (int i = 0; i < 50; ++i) {
    all += s.text("GET", fmt::format("/v1/sessions/s{}", i));
    all +=
        s.text("POST", "/v1/commands/get_session", "", fmt::format(R"({{"sessionId":"p{}"}})", i));
  }
  client.send(all);
  for (int i = 0; i < 50; ++i) {
    CHECK(client.reply().body.contains(fmt::format(R"("s{}")", i)));
    CHECK(client.reply().body.contains(fmt::format(R"("p{}")", i)));
  }
  CHECK(s.server->connections() == 1);
}

TEST_CASE("a batch is answered in its order, notifications not at all") {
  TestServer s;
  const auto call = [](std::string_view id, std::string_view method) {
    return fmt::format(R"({{"jsonrpc":"2.0",{}"method":"{}","params":{{"sessionId":"s"}}}})", id,
                       method);
  };
  const TestReply reply = s.ask(
      "POST", "/v1/rpc", "",
      fmt::format("[{},{},{},{}]", call(R"("id":"a",)", "get_session"), call("", "get_session"),
                  call(R"("id":2,)", "no_such"), call(R"("id":3,)", "list_sessions")));
  CHECK(reply.body.starts_with(R"([{"jsonrpc":"2.0","id":"a","result":{"command":"get_session")"));
  CHECK(reply.body.contains(R"(}},{"jsonrpc":"2.0","id":2,"error":{"code":-32601)"));
  CHECK(reply.body.contains(R"(}}},{"jsonrpc":"2.0","id":3,"error":{"code":-32602)"));
  const TestReply notification = s.ask("POST", "/v1/rpc", "", call("", "get_session"));
  CHECK(notification.status == 204);
  CHECK(notification.field("Content-Length").empty());
  CHECK(s.ask("POST", "/v1/rpc", "", "{").body.contains("-32700"));
}

TEST_CASE("the Unix socket is its owner's and serves the same") {
  TestServer s;
  const std::string path = s.folder.path + "/agentrt.sock";
  struct stat info{};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  TestClient client(path);
  client.send(s.text("GET", "/v1/sessions/s"));
  CHECK(client.reply().status == 200);
  client.send(s.text("GET", "/v1/sessions/s", "Authorization: none\r\n"));
  CHECK(client.reply().status == 401);
  s.server->stop();
  CHECK(::stat(path.c_str(), &info) != 0);
}

TEST_CASE("a socket left behind is replaced, anything else in its place is not") {
  TestFolder folder;
  const auto tokens = open_tokens(folder.path);
  FakeSink sink;
  FakeFeed feed;
  FakeOutputs outputs;
  ports::Metrics metrics;
  const auto start = [&](const std::string& path, std::optional<HttpAddress> tcp = {}) {
    HttpServer server({.tcp = std::move(tcp), .socket_path = path, .host_names = {}, .limits = {}},
                      sink, feed, outputs, metrics, *tokens, {});
    return server.start();
  };
  const std::string path = folder.path + "/s";
  const int stale = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  REQUIRE(::bind(stale, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  ::close(stale);
  CHECK(start(path));
  CHECK(start(folder.path + "/token").error().code == Code::unavailable);
  CHECK(start(folder.path + "/" + std::string(200, 'x')).error().code == Code::invalid_params);
  CHECK(start("", HttpAddress{"not an address", 0}).error().code == Code::invalid_params);
  TestServer other;
  CHECK(start("", HttpAddress{"127.0.0.1", other.server->port()}).error().code ==
        Code::unavailable);
}

}  // namespace agentrt::channels
