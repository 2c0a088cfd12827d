// adapters/models/raw_exchange_test.cc: tests what a raw exchange keeps and what it must not
// contain.
#include "adapters/models/raw_exchange.h"

#include <doctest/doctest.h>

namespace agentrt::adapters {

TEST_CASE("a raw request is stored without its keys") {
  HttpRequest request;
  request.url = "http://h/v1/messages";
  request.headers = {"Authorization: Bearer secret", "X-Api-Key: secret", "accept: text/plain"};
  request.body = R"({"model":"m"})";
  CHECK(raw_request(request) ==
        "POST http://h/v1/messages\nAuthorization: [omitted]\nX-Api-Key: [omitted]\naccept: "
        "text/plain\n\n{\"model\":\"m\"}");
}

TEST_CASE("of much text the beginning and the end are kept, and what is missing is said") {
  HeadAndTail text;
  text.put("begin ");
  const std::string piece(10'000, 'x');
  for (int i = 0; i < 500; ++i) text.put(piece);
  text.put(" end");
  const std::string told = text.text();
  CHECK(told.size() < kRawBytesMax + 100);
  CHECK(told.starts_with("begin x"));
  CHECK(told.ends_with("x end"));
  CHECK(told.contains(std::to_string(5'000'010 - kRawBytesMax) + " bytes omitted"));
  HeadAndTail little;
  little.put("all");
  little.put(" of it");
  CHECK(little.text() == "all of it");
}

}  // namespace agentrt::adapters
