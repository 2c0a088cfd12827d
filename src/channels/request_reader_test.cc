#include "channels/request_reader.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace agentrt::channels {
namespace {

using Stage = RequestReader::Stage;

HttpLimits small_limits() {
  HttpLimits limits;
  limits.header_bytes_max = 256;
  limits.body_bytes_max = 32;
  return limits;
}

// Feeds `text` in chunks of `size` bytes and accepts any body. Returns the first error, or the
// unused bytes.
Result<std::string> feed(RequestReader& reader, std::string_view text, std::size_t size) {
  std::string waiting;
  while (!text.empty() && reader.stage() != Stage::done) {
    waiting += text.substr(0, size);
    text.remove_prefix(std::min(size, text.size()));
    while (true) {
      TRY_ASSIGN(const std::size_t used, reader.put(waiting));
      waiting.erase(0, used);
      if (reader.stage() == Stage::headed)
        TRY(reader.accept_body());
      else
        break;
    }
  }
  return waiting + std::string(text);
}

Code error_of(std::string_view text, std::size_t size) {
  static const HttpLimits limits = small_limits();
  RequestReader reader(limits);
  const auto done = feed(reader, text, size);
  return done ? Code::internal : done.error().code;
}

}  // namespace

TEST_CASE("a request is read the same however its bytes arrive") {
  const HttpLimits limits = small_limits();
  const std::string text =
      "\r\nPOST /v1/rpc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Content-Length: 4\r\nLast-Event-ID: 7\r\n\r\nbodyNEXT";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    RequestReader reader(limits);
    const auto rest = feed(reader, text, size);
    REQUIRE(rest);
    CHECK(*rest == "NEXT");
    CHECK(reader.head().method == Method::post);
    CHECK(reader.head().target == "/v1/rpc");
    CHECK(reader.head().host == "localhost");
    CHECK(reader.head().last_event_id == "7");
    CHECK(reader.take_body() == "body");
  }
}

TEST_CASE("a chunked body is joined") {
  const HttpLimits limits = small_limits();
  const std::string text =
      "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n3;x=y\r\ncde\r\n0\r\n\r\n";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    RequestReader reader(limits);
    REQUIRE(feed(reader, text, size));
    REQUIRE(reader.stage() == Stage::done);
    CHECK(reader.take_body() == "abcde");
  }
}

TEST_CASE("a reader that was reset reads the next request") {
  const HttpLimits limits = small_limits();
  RequestReader reader(limits);
  const auto rest = feed(reader, "GET /a HTTP/1.1\r\n\r\nGET /b HTTP/1.0\r\n\r\n", 1000);
  CHECK(reader.head().target == "/a");
  CHECK(reader.head().keep == Keep::open);
  reader.reset();
  CHECK(feed(reader, *rest, 1000) == "");
  CHECK(reader.head().target == "/b");
  CHECK(reader.head().keep == Keep::close);
}

TEST_CASE("a header over its limit is refused, whole or in pieces") {
  const std::string one = fmt::format("GET / HTTP/1.1\r\nA: {}\r\n\r\n", std::string(300, 'a'));
  std::string many = "GET / HTTP/1.1\r\n";
  for (int i = 0; i < 60; ++i) many += "A: b\r\n";
  many += "\r\n";
  const std::string target = fmt::format("GET /{} HTTP/1.1\r\n\r\n", std::string(300, 'a'));
  for (const std::size_t size : {1, 7, 100, 1000})
    for (const std::string& text : {one, many, target})
      CHECK(error_of(text, size) == Code::header_too_large);
}

TEST_CASE("a body over its limit is refused, declared or in chunks") {
  const std::string declared =
      "POST / HTTP/1.1\r\nContent-Length: 33\r\n\r\n" + std::string(33, 'x');
  const std::string chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n11\r\n" +
                              std::string(17, 'x') + "\r\n11\r\n" + std::string(17, 'x') + "\r\n";
  for (const std::size_t size : {1, 16, 1000}) {
    CHECK(error_of(declared, size) == Code::too_large);
    CHECK(error_of(chunked, size) == Code::too_large);
  }
}

TEST_CASE("a chunk header without end is refused") {
  CHECK(error_of("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;" + std::string(600, 'e'),
                 100) == Code::invalid_params);
}

TEST_CASE("a head that a proxy could read in another way is refused, whole or in pieces") {
  for (const char* text :
       {"GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n", "GET / HTTP/1.1\r\nA: b\r\n\tc\r\nD: e\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n Host: b\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked;q=1\r\n\r\n",
        "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"})
    for (std::size_t size = 1; size <= std::string_view(text).size(); ++size)
      CHECK_MESSAGE(error_of(text, size) == Code::invalid_params, text);
}

TEST_CASE("a field that decides something is named when it comes twice") {
  const HttpLimits limits = small_limits();
  for (const char* field : {"Host", "Origin", "Authorization", "Content-Type"}) {
    RequestReader reader(limits);
    REQUIRE(feed(reader, fmt::format("GET / HTTP/1.1\r\n{0}: a\r\nA: b\r\n{0}: a\r\n\r\n", field),
                 1000));
    CHECK(reader.head().repeated == field);
  }
  RequestReader reader(limits);
  REQUIRE(feed(reader, "GET / HTTP/1.1\r\nHost: a\r\nOrigin: b\r\nA: c\r\nA: d\r\n\r\n", 1000));
  CHECK(reader.head().repeated.empty());
}

TEST_CASE("what is not HTTP is refused") {
  for (const char* text :
       {"hello\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET / HTTP/1.1\r\nA\r\n\r\n",
        "GET / HTTP/1.1\r\n: b\r\n\r\n", "GET / HTTP/1.1\r\nA : b\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked, gzip\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "\x16\x03\x01\x02\x01\r\n\r\n"})
    for (const std::size_t size : {1, 1000})
      CHECK_MESSAGE(error_of(text, size) == Code::invalid_params, text);
}

}  // namespace agentrt::channels
