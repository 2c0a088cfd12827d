#include "adapters/http/public_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace agentrt::adapters {
namespace {

struct Range4 {
  std::array<std::uint8_t, 4> start;
  unsigned bits;
};
// IANA's special-purpose registry, and multicast.
constexpr Range4 kNotPublic4[] = {
    {{0, 0, 0, 0}, 8},        // this network
    {{10, 0, 0, 0}, 8},       // private
    {{100, 64, 0, 0}, 10},    // carrier-grade NAT
    {{127, 0, 0, 0}, 8},      // loopback
    {{169, 254, 0, 0}, 16},   // link-local; metadata services of clouds
    {{172, 16, 0, 0}, 12},    // private
    {{192, 0, 0, 0}, 24},     // protocol assignments
    {{192, 0, 2, 0}, 24},     // documentation
    {{192, 88, 99, 0}, 24},   // 6to4 relays
    {{192, 168, 0, 0}, 16},   // private
    {{198, 18, 0, 0}, 15},    // benchmarks
    {{198, 51, 100, 0}, 24},  // documentation
    {{203, 0, 113, 0}, 24},   // documentation
    {{224, 0, 0, 0}, 3},      // multicast, reserved, broadcast
};

struct Range6 {
  std::array<std::uint8_t, 4> start;  // the rest is 0
  unsigned bits;                      // at most 32
};
// Only global unicast addresses are public. IPv4-mapped (::ffff:0:0/96) and translated addresses
// (64:ff9b::/96), unique local, link-local and multicast ones lie outside of it.
constexpr Range6 kGlobalUnicast = {{0x20, 0, 0, 0}, 3};
constexpr Range6 kNotPublic6[] = {
    {{0x20, 0x01, 0, 0}, 23},        // protocol assignments; Teredo, which contains IPv4 addresses
    {{0x20, 0x01, 0x0D, 0xB8}, 32},  // documentation
    {{0x20, 0x02, 0, 0}, 16},        // 6to4, which contains IPv4 addresses
    {{0x3F, 0xFF, 0, 0}, 20},        // documentation
};

template <class Range>
bool contains(const Range& range, const std::uint8_t* address) {
  for (unsigned bit = 0; bit < range.bits; ++bit) {
    const unsigned mask = 0x80U >> bit % 8;
    if ((address[bit / 8] & mask) != (range.start[bit / 8] & mask)) return false;
  }
  return true;
}

bool is_public4(const std::uint8_t* address) {
  return std::ranges::none_of(kNotPublic4,
                              [&](const Range4& range) { return contains(range, address); });
}

bool is_public6(const std::uint8_t* address) {
  return contains(kGlobalUnicast, address) &&
         std::ranges::none_of(kNotPublic6,
                              [&](const Range6& range) { return contains(range, address); });
}

}  // namespace

bool is_public(const sockaddr& address) {
  std::uint8_t bytes[16];
  if (address.sa_family == AF_INET) {
    std::memcpy(bytes, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, 4);
    return is_public4(bytes);
  }
  if (address.sa_family == AF_INET6) {
    std::memcpy(bytes, &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr, 16);
    return is_public6(bytes);
  }
  return false;
}

bool is_loopback(const sockaddr& address) {
  if (address.sa_family == AF_INET)
    return ::ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr) >> 24 == 127;
  if (address.sa_family != AF_INET6) return false;
  return std::memcmp(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr, &in6addr_loopback,
                     sizeof in6addr_loopback) == 0;
}

std::optional<sockaddr_storage> address_of(const std::string& text) {
  sockaddr_storage out{};
  if (::inet_pton(AF_INET, text.c_str(), &reinterpret_cast<sockaddr_in&>(out).sin_addr) == 1) {
    out.ss_family = AF_INET;
    return out;
  }
  if (::inet_pton(AF_INET6, text.c_str(), &reinterpret_cast<sockaddr_in6&>(out).sin6_addr) == 1) {
    out.ss_family = AF_INET6;
    return out;
  }
  return std::nullopt;
}

}  // namespace agentrt::adapters
