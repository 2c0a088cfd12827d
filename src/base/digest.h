// base/digest.h: SHA-256, plain and keyed, and hexadecimal text.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace agentrt {

using Digest = std::array<unsigned char, 32>;

Digest sha256(std::string_view bytes);
// Over the parts one after the other, as if they were one text.
Digest sha256(std::string_view first, std::string_view second, std::string_view third);
Digest hmac_sha256(std::string_view key, std::string_view bytes);

inline std::string_view bytes_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}
std::string hex(std::string_view bytes);

// Compares without telling by its duration where the texts differ.
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace agentrt
