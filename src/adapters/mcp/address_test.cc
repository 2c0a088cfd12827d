#include "adapters/mcp/address.h"

#include <doctest/doctest.h>

using namespace agentrt;
using adapters::address_beside;

TEST_CASE("an address is taken as seen from the one that names it") {
  const auto seen = [](std::string_view named) {
    return address_beside("https://host:8443/mcp/sse?key=1", named).value_or("refused");
  };
  CHECK(seen("/messages?sessionId=7") == "https://host:8443/messages?sessionId=7");
  CHECK(seen("messages?sessionId=7") == "https://host:8443/mcp/messages?sessionId=7");
  CHECK(seen("messages?to=http://x/") == "https://host:8443/mcp/messages?to=http://x/");
  CHECK(seen("https://host:8443/m") == "https://host:8443/m");
  CHECK(seen("//HOST:8443/m") == "https://HOST:8443/m");
  CHECK(address_beside("http://host", "m").value() == "http://host/m");
  CHECK(address_beside("http://host:80/sse", "http://host/m").value() == "http://host/m");
}

TEST_CASE("no address elsewhere is taken, and nothing that is no address") {
  for (const char* named : {"https://other:8443/m", "http://host:8443/m", "https://host/m",
                            "//other/m", "https://host:8443@other/m", "https:/m",
                            "file:///etc/passwd", "", "/a b", "/a\r\nX: y", "\\\\other\\m"}) {
    CAPTURE(named);
    CHECK_FALSE(address_beside("https://host:8443/mcp/sse", named));
  }
  CHECK_FALSE(address_beside("https://host/", std::string(8'193, 'a')));
}
