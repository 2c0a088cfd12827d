// adapters/http/public_address.h: tells addresses of the public internet from all others: loopback,
// private and link-local networks, carrier-grade NAT, multicast, reserved ranges, and IPv6
// addresses that contain an IPv4 address. Pure.
#pragma once

#include <sys/socket.h>

#include <optional>
#include <string>

namespace agentrt::adapters {

// False for every family except IPv4 and IPv6. For an IPv6 address, `address` must be the beginning
// of a complete sockaddr_in6.
bool is_public(const sockaddr& address);
// Whether the address is one of this machine: 127.0.0.0/8 or ::1. The same requirement.
bool is_loopback(const sockaddr& address);

// Parses an IPv4 or IPv6 address in text form. Absent: it is neither.
std::optional<sockaddr_storage> address_of(const std::string& text);

}  // namespace agentrt::adapters
