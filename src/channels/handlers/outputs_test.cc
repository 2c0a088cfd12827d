#include <doctest/doctest.h>

#include "channels/handlers/ranges.h"
#include "channels/testing/client_fixture.h"

namespace agentrt::channels {
namespace {

std::string pattern(std::size_t size) {
  std::string out;
  out.reserve(size);
  for (std::size_t i = 0; i < size; ++i) out += static_cast<char>('a' + i * 7 % 26);
  return out;
}

Head asking(std::string range) {
  Head head;
  head.range = std::move(range);
  return head;
}

std::string chunked(std::string_view bytes) {
  return fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes);
}

}  // namespace

TEST_CASE("a range is read, clamped, or does not count") {
  const auto part = [](const std::string& text) {
    const auto [kind, range] = read_range(asking(text), 100, "\"e\"");
    if (kind == RangeKind::whole) return std::string("whole");
    if (kind == RangeKind::unsatisfiable) return std::string("none");
    return fmt::format("{}+{}", range.offset, range.size);
  };
  CHECK(part("bytes=0-0") == "0+1");
  CHECK(part("bytes=10-19") == "10+10");
  CHECK(part("bytes= 10 - 19 ") == "10+10");
  CHECK(part("bytes=90-") == "90+10");
  CHECK(part("bytes=90-1000") == "90+10");
  CHECK(part("bytes=-5") == "95+5");
  CHECK(part("bytes=-500") == "0+100");
  CHECK(part("bytes=100-") == "none");
  CHECK(part("bytes=-0") == "none");
  for (const char* text : {"", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=5-4", "lines=1-2",
                           "bytes=1-2,3-4", "bytes=99999999999999999999-", "bytes=+1-2"})
    CHECK(part(text) == "whole");
  CHECK(read_range(asking("bytes=0-"), 0, "").kind == RangeKind::unsatisfiable);
  Head stale = asking("bytes=0-1");
  stale.if_range = "\"other\"";
  CHECK(read_range(stale, 100, "\"e\"").kind == RangeKind::whole);
}

TEST_CASE("tags and media types are judged strictly") {
  CHECK(names_etag("\"a\", W/\"e\"", "\"e\""));
  CHECK(names_etag("*", "\"e\""));
  CHECK_FALSE(names_etag("\"a\",", "\"e\""));
  for (const char* good : {"text/plain", "image/svg+xml", "text/plain; charset=utf-8"})
    CHECK(valid_media_type(good));
  for (const char* bad : {"", "text", "/plain", "text/", "te xt/plain", "text/plain; a\r\nX: y"})
    CHECK_FALSE(valid_media_type(bad));
  CHECK_FALSE(valid_media_type("a/" + std::string(kMediaTypeSizeMax, 'a')));
  CHECK(shown_in_place("text/plain; charset=utf-8"));
  CHECK_FALSE(shown_in_place("text/html"));
}

TEST_CASE("a large output goes out in pieces, and the connection serves the next request") {
  TestServer server;
  const std::string bytes = pattern(3 * kOutputPieceBytes + 17);
  server.outputs.add("out_1", bytes, "text/plain");
  TestClient client(server.server->port());
  client.send(server.text("GET", "/v1/outputs/out_1") +
              server.text("GET", "/v1/outputs/out_1", "Range: bytes=5-9\r\n"));
  const TestReply whole = client.reply();
  CHECK(whole.status == 200);
  CHECK(whole.body == bytes);
  CHECK(whole.field("Content-Type") == "text/plain; charset=utf-8");
  CHECK(whole.field("ETag") == "\"sha256:abc\"");
  const TestReply part = client.reply();
  CHECK(part.status == 206);
  CHECK(part.body == bytes.substr(5, 5));
  CHECK(part.field("Content-Range") == fmt::format("bytes 5-9/{}", bytes.size()));
  CHECK(server.outputs.reads() == 5);
}

TEST_CASE("a client that does not read causes no read-ahead, and is disconnected") {
  HttpLimits limits;
  limits.stall = Duration{300};
  TestServer server(limits);
  server.outputs.add("out_1", pattern(64 * kOutputPieceBytes), "text/plain");
  TestClient client(server.server->port(), 4096);
  client.send(server.text("GET", "/v1/outputs/out_1"));
  CHECK(TestServer::soon([&] { return server.server->connections() == 0; }));
  CHECK(server.outputs.reads() < 40);
}

TEST_CASE("an output that breaks midway ends the connection short") {
  TestServer server;
  server.outputs.add("out_1", pattern(4 * kOutputPieceBytes), "text/plain");
  server.outputs.break_at(2 * kOutputPieceBytes);
  TestClient client(server.server->port());
  client.send(server.text("GET", "/v1/outputs/out_1"));
  const auto [text, closed] = client.read_to_end();
  CHECK(closed);
  CHECK(text.size() < 3 * kOutputPieceBytes);
}

TEST_CASE("HEAD, If-None-Match and an unsatisfiable range send no bytes") {
  TestServer server;
  server.outputs.add("out_1", "0123456789", "image/png");
  const TestReply head = server.ask("HEAD", "/v1/outputs/out_1");
  CHECK(head.status == 200);
  CHECK(head.field("Content-Length") == "10");
  CHECK(head.field("Content-Disposition") == "attachment; filename=\"out_1\"");
  CHECK(server.ask("GET", "/v1/outputs/out_1", "If-None-Match: \"sha256:abc\"\r\n").status == 304);
  const TestReply none = server.ask("GET", "/v1/outputs/out_1", "Range: bytes=10-\r\n");
  CHECK(none.status == 416);
  CHECK(none.field("Content-Range") == "bytes */10");
  CHECK(server.outputs.reads() == 0);
}

TEST_CASE("an upload arrives whole, in parts of bounded size, with either framing") {
  TestServer server;
  const std::string bytes = pattern(1'000'000);
  const TestReply sized =
      server.ask("POST", "/v1/outputs?sessionId=s&mediaType=text/csv", "", bytes);
  CHECK(sized.status == 200);
  CHECK(sized.body.contains(R"("size":1000000)"));
  CHECK(sized.body.contains(R"("mediaType":"text/csv")"));
  CHECK(server.outputs.part_bytes_max() <= 128 << 10);
  TestClient client(server.server->port());
  client.send(server.text("POST", "/v1/outputs?sessionId=s",
                          "Transfer-Encoding: chunked\r\nContent-Length:\r\n"));
  CHECK(client.reply().status == 400);  // conflicting framing
  TestClient second(server.server->port());
  std::string head = server.text("POST", "/v1/outputs?sessionId=s", "Content-Type: a/b\r\n");
  head.replace(head.find("Content-Length: 0"), 17, "Transfer-Encoding: chunked");
  second.send(head + chunked("one ") + chunked("two") + "0\r\n\r\n" +
              server.text("GET", "/healthz"));
  const TestReply pieces = second.reply();
  CHECK(pieces.body.contains(R"("size":7)"));
  CHECK(pieces.body.contains(R"("mediaType":"a/b")"));
  CHECK(second.reply().body == R"({"status":"ok"})");
}

TEST_CASE("an upload is refused before its body, or as soon as it is too large") {
  TestServer server;
  const auto refused = [&](std::string_view target, std::string_view fields = "") {
    return server.ask("POST", target, fields, "x").code();
  };
  CHECK(refused("/v1/outputs") == "invalid_params");
  CHECK(refused("/v1/outputs?sessionId=") == "invalid_params");
  CHECK(refused("/v1/outputs?sessionId=s&mediaType=none") == "invalid_params");
  CHECK(refused("/v1/outputs?sessionId=s",
                fmt::format("Content-Length: {}\r\n", FakeOutputs::kUploadMax + 1)) == "too_large");
  const std::string bound = server.token({TokenScope::submit, TokenScope::read}, SessionId{"t"});
  const std::string as_bound = fmt::format("Authorization: Bearer {}\r\n", bound);
  CHECK(refused("/v1/outputs?sessionId=s", as_bound) == "forbidden");
  server.outputs.add("out_1", "x", "text/plain");
  CHECK(server.ask("GET", "/v1/outputs/out_1", as_bound).code() == "not_found");
  TestClient client(server.server->port());
  std::string head = server.text("POST", "/v1/outputs?sessionId=s");
  head.replace(head.find("Content-Length: 0"), 17, "Transfer-Encoding: chunked");
  client.send(head);
  const std::string mib = pattern(1 << 20);
  for (int i = 0; i < 9; ++i) client.send(chunked(mib));
  CHECK(client.reply().code() == "too_large");
  CHECK(TestServer::soon([&] { return server.outputs.uploads_open() == 0; }));
}

TEST_CASE("a stalled upload is ended, a slow one is not") {
  HttpLimits limits;
  limits.body = Duration{400};
  TestServer server(limits);
  TestClient slow(server.server->port());
  slow.send(server.text("POST", "/v1/outputs?sessionId=s", "Content-Length: 5\r\n"));
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    slow.send("x");
  }
  CHECK(slow.reply().status == 200);
  TestClient still(server.server->port());
  still.send(server.text("POST", "/v1/outputs?sessionId=s", "Content-Length: 5\r\n", "x"));
  CHECK(still.reply().code() == "timeout");
  CHECK(TestServer::soon([&] { return server.outputs.uploads_open() == 0; }));
}

TEST_CASE("what a revoked token uploads or downloads ends at once") {
  TestServer server;
  server.outputs.add("out_1", pattern(64 * kOutputPieceBytes), "text/plain");
  const std::string token = server.token({TokenScope::submit, TokenScope::read});
  const std::string fields = fmt::format("Authorization: Bearer {}\r\n", token);
  TestClient reading(server.server->port(), 4096);
  reading.send(server.text("GET", "/v1/outputs/out_1", fields));
  TestClient writing(server.server->port());
  writing.send(
      server.text("POST", "/v1/outputs?sessionId=s", fields + "Content-Length: 500\r\n", "begin"));
  CHECK(TestServer::soon(
      [&] { return server.outputs.uploads_open() == 1 && server.outputs.reads() > 0; }));
  REQUIRE(server.tokens->revoke(server.last_token_id).has_value());
  CHECK(writing.closes());
  CHECK(TestServer::soon([&] { return server.server->connections() == 0; }));
}

TEST_CASE("a server that stops closes uploads and outputs that are in progress") {
  TestServer server;
  server.outputs.add("out_1", pattern(64 * kOutputPieceBytes), "text/plain");
  TestClient reading(server.server->port(), 4096);
  reading.send(server.text("GET", "/v1/outputs/out_1"));
  TestClient writing(server.server->port());
  writing.send(server.text("POST", "/v1/outputs?sessionId=s", "Content-Length: 500\r\n", "begin"));
  CHECK(TestServer::soon([&] { return server.outputs.uploads_open() == 1; }));
  server.server->stop();
  CHECK(server.outputs.uploads_open() == 0);
}

}  // namespace agentrt::channels
