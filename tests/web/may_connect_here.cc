// tests/web/may_connect_here.cc: replaces the check of addresses in the program agentrt_local_web,
// so that web_fetch reaches the servers of tests on this machine. Never part of the product.
//
// AGENTRT_WEB_HERE=ADDRESS,…   these addresses are accepted besides public ones
#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstdlib>
#include <string>

#include "adapters/web/may_connect.h"
#include "adapters/http/public_address.h"

namespace agentrt::adapters {
namespace {

std::string text_of(const sockaddr& address) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address.sa_family == AF_INET)
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, text,
                sizeof text);
  if (address.sa_family == AF_INET6)
    ::inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr, text,
                sizeof text);
  return text;
}

}  // namespace

bool may_connect(const sockaddr& address) {
  const char* const here = std::getenv("AGENTRT_WEB_HERE");
  const std::string all = "," + std::string(here == nullptr ? "" : here) + ",";
  return all.contains("," + text_of(address) + ",") || is_public(address);
}

}  // namespace agentrt::adapters
