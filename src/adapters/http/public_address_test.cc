#include "adapters/http/public_address.h"

#include <doctest/doctest.h>

namespace agentrt::adapters {
namespace {

bool is_public(const std::string& text) {
  const auto address = address_of(text);
  REQUIRE(address);
  return adapters::is_public(reinterpret_cast<const sockaddr&>(*address));
}

}  // namespace

TEST_CASE("addresses of the internet are public") {
  for (const char* address : {"1.1.1.1",
                              "8.8.8.8",
                              "9.255.255.255",
                              "11.0.0.0",
                              "100.63.255.255",
                              "100.128.0.0",
                              "126.255.255.255",
                              "128.0.0.1",
                              "169.253.255.255",
                              "172.15.255.255",
                              "172.32.0.0",
                              "192.167.255.255",
                              "192.169.0.0",
                              "198.17.255.255",
                              "198.20.0.0",
                              "223.255.255.255",
                              "2606:4700:4700::1111",
                              "2001:200::1",
                              "2a00:1450:4001::1",
                              "2003::1",
                              "3ffe::1"}) {
    CAPTURE(address);
    CHECK(is_public(address));
  }
}

TEST_CASE("addresses of machines and networks behind the internet are not public") {
  for (const char* address : {"0.0.0.0",
                              "0.1.2.3",
                              "10.0.0.1",
                              "10.255.255.255",
                              "100.64.0.1",
                              "100.127.255.255",
                              "127.0.0.1",
                              "127.255.255.254",
                              "169.254.169.254",
                              "172.16.0.1",
                              "172.31.255.255",
                              "192.0.0.8",
                              "192.0.2.1",
                              "192.88.99.1",
                              "192.168.0.1",
                              "198.18.0.1",
                              "198.19.255.255",
                              "198.51.100.1",
                              "203.0.113.1",
                              "224.0.0.1",
                              "239.1.2.3",
                              "240.0.0.1",
                              "255.255.255.255",
                              "::",
                              "::1",
                              "::127.0.0.1",
                              "::ffff:127.0.0.1",
                              "::ffff:8.8.8.8",
                              "::ffff:0:8.8.8.8",
                              "64:ff9b::808:808",
                              "64:ff9b:1::1",
                              "100::1",
                              "2001::1",
                              "2001:0:4136:e378::",
                              "2001:20::1",
                              "2001:db8::1",
                              "2002:7f00:1::",
                              "2002:808:808::",
                              "3fff::1",
                              "5f00::1",
                              "fc00::1",
                              "fd12:3456::1",
                              "fe80::1",
                              "fec0::1",
                              "ff02::1"}) {
    CAPTURE(address);
    CHECK_FALSE(is_public(address));
  }
  sockaddr local{};
  local.sa_family = AF_UNIX;
  CHECK_FALSE(adapters::is_public(local));
  CHECK_FALSE(address_of("example.org"));
  CHECK_FALSE(address_of("127.1"));
}

}  // namespace agentrt::adapters
