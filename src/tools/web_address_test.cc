#include "tools/web_address.h"

#include <doctest/doctest.h>

namespace agentrt::tools {
namespace {

// The canonical text, or the error.
std::string read(std::string_view url) {
  const auto address = read_web_address(url);
  return address ? address->text() : address.error().message;
}

bool refused(std::string_view url) { return !read_web_address(url).has_value(); }

std::string from(std::string_view base, std::string_view reference) {
  const auto address = resolve(read_web_address(base).value(), reference);
  return address ? address->text() : "refused";
}

}  // namespace

TEST_CASE("a URL has one canonical text") {
  CHECK(read("https://example.org") == "https://example.org/");
  CHECK(read("HTTPS://Example.ORG:443/a/../b/./c?q=1#part") == "https://example.org/b/c?q=1");
  CHECK(read("https://example.org.:8443/?a=/../b") == "https://example.org:8443/?a=/../b");
  CHECK(read("https://example.org?x") == "https://example.org/?x");
  CHECK(read("https://de.wikipedia.org/wiki/K\xC3\xB6ln am Rhein") ==
        "https://de.wikipedia.org/wiki/K%C3%B6ln%20am%20Rhein");
  CHECK(read("https://[2001:0DB8::1]/") == "https://[2001:db8::1]/");
  CHECK(read("https://192.0.2.1/..") == "https://192.0.2.1/");
  CHECK(read("https://example.org/a/..") == "https://example.org/");
}

TEST_CASE("URLs that programs read differently are refused") {
  for (const char* url : {"http://example.org/",
                          "ftp://example.org/",
                          "example.org",
                          "https:/example.org",
                          "https://",
                          "https:///a",
                          "https://a@b.org/",
                          "https://a:b@c.org/",
                          "https://good.org\\@evil.org/",
                          "https://a.org\\b",
                          "https://a.org/\tb",
                          "https://a.org/\nb",
                          "https://a..org/",
                          "https://.org/",
                          "https://a b.org/",
                          "https://a%2eorg/",
                          "https://b\xC3\xBC"
                          "cher.example/",
                          "https://127.1/",
                          "https://0x7f000001/",
                          "https://2130706433/",
                          "https://0177.0.0.1/",
                          "https://1.2.3.4.5/",
                          "https://[::1",
                          "https://[fe80::1%25eth0]/",
                          "https://[]/",
                          "https://a.org:0/",
                          "https://a.org:99999/",
                          "https://a.org:80x/",
                          "https://a.org:-1/"}) {
    CAPTURE(url);
    CHECK(refused(url));
  }
  CHECK(refused("https://a.org/" + std::string(kWebAddressBytesMax, 'x')));
  CHECK(refused("https://" + std::string(64, 'x') + ".org/"));
}

TEST_CASE("references are resolved as in a browser") {
  constexpr std::string_view kBase = "https://a.org/x/y?q";
  CHECK(from(kBase, "z") == "https://a.org/x/z");
  CHECK(from(kBase, "../z#f") == "https://a.org/z");
  CHECK(from(kBase, "/z") == "https://a.org/z");
  CHECK(from(kBase, "?r") == "https://a.org/x/y?r");
  CHECK(from(kBase, "#f") == "https://a.org/x/y?q");
  CHECK(from(kBase, "//b.org/z") == "https://b.org/z");
  CHECK(from(kBase, "https://b.org:8443") == "https://b.org:8443/");
  CHECK(from(kBase, "http://a.org/") == "refused");
  CHECK(from(kBase, "mailto:x@a.org") == "refused");
  CHECK(from(kBase, "javascript:alert(1)") == "refused");
  CHECK(from(kBase, std::string(kWebAddressBytesMax, 'x')) == "refused");
}

TEST_CASE("a host that is a number is recognised") {
  CHECK(ip_literal(read_web_address("https://10.0.0.1/").value()) == "10.0.0.1");
  CHECK(ip_literal(read_web_address("https://[::1]/").value()) == "::1");
  CHECK_FALSE(ip_literal(read_web_address("https://10.example.org/").value()));
}

}  // namespace agentrt::tools
