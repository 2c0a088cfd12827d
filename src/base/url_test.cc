#include "base/url.h"

#include <doctest/doctest.h>

using namespace agentrt;

TEST_CASE("a URL is split into its parts") {
  const auto url = parse_url("HTTPS://Tickets.Example.com:8443/mcp/a?x=1&y#z");
  REQUIRE(url);
  CHECK(url->scheme == "https");
  CHECK(url->host == "tickets.example.com");
  CHECK(url->port == 8443);
  CHECK(url->path == "/mcp/a");
  CHECK(url->query == "x=1&y");
  CHECK(url->has_fragment);
  CHECK(url->origin() == "https://tickets.example.com:8443");
}

TEST_CASE("the usual port is not part of the origin") {
  CHECK(parse_url("https://a.example:443/x")->origin() == "https://a.example");
  CHECK(parse_url("http://a.example:80")->origin() == "http://a.example");
  CHECK(parse_url("http://a.example:443")->origin() == "http://a.example:443");
  CHECK(parse_url("http://[::1]:80/")->origin() == "http://[::1]");
  CHECK(parse_url("http://[::1]")->bare_host() == "::1");
  CHECK(parse_url("http://a.example?q")->path.empty());
}

TEST_CASE("what is not a plain http or https URL is refused") {
  for (const char* text :
       {"", "tickets.example.com", "ftp://a.example", "javascript:alert(1)", "https://",
        "https://user@a.example/", "https://user:pw@a.example/", "https://a.example:0/",
        "https://a.example:65536/", "https://a.example:x/", "https://a b.example/",
        "https://a.example/\n", "https://a.example\\@b.example/", "https://[::1/", "https://[]/",
        "https://\xc3\xa4.example/", "https://a.example/<x>"})
    CHECK_MESSAGE(!parse_url(text), text);
  CHECK(!parse_url("https://a.example/" + std::string(kUrlBytesMax, 'a')));
}

TEST_CASE("loopback is recognized as written") {
  for (const char* text :
       {"http://localhost:1/", "http://127.0.0.1", "http://127.9.9.9/x", "http://[::1]:99/"})
    CHECK_MESSAGE(names_loopback(*parse_url(text)), text);
  for (const char* text : {"http://localhost.example/", "http://127.evil.example/",
                           "http://10.0.0.1", "http://[::2]/"})
    CHECK_MESSAGE(!names_loopback(*parse_url(text)), text);
}

TEST_CASE("forms are encoded and decoded") {
  const FormFields fields = {{"a b", "1&2"}, {"c", "ü"}, {"d", ""}};
  CHECK(form_encoded(fields) == "a%20b=1%262&c=%C3%BC&d=");
  CHECK(form_decoded(form_encoded(fields)) == fields);
  CHECK(*form_decoded("x=a+b&&y") == FormFields{{"x", "a b"}, {"y", ""}});
  CHECK(*find_field(*form_decoded("x=1&x=2"), "x") == "1");
  CHECK(find_field({}, "x") == nullptr);
  CHECK(!form_decoded("x=%4"));
  CHECK(!percent_decoded("%zz"));
  CHECK(percent_decoded("a+b%20c") == "a+b c");
}
