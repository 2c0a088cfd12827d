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
// SHA-256 of bytes that come in pieces.
class Sha256 {
 public:
  Sha256();
  void add(std::string_view bytes);
  Digest end();  // once

 private:
  alignas(8) std::array<unsigned char, 112> state_;
};

std::string hex(std::string_view bytes);
// The digest that 64 lower-case hexadecimal digits stand for; nothing for any other text.
std::optional<Digest> digest_of_hex(std::string_view text);

// Compares without telling by its duration where the texts differ.
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace agentrt
