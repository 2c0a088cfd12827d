// base/digest.h: SHA-256, HMAC-SHA-256, git's SHA-1, and hexadecimal encoding.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace agentrt {

using Digest = std::array<unsigned char, 32>;

Digest sha256(std::string_view bytes);
// Digest of the concatenation of the three parts.
Digest sha256(std::string_view first, std::string_view second, std::string_view third);
// Only to compare with what git stores: it protects nothing.
std::array<unsigned char, 20> sha1(std::string_view bytes);
Digest hmac_sha256(std::string_view key, std::string_view bytes);

inline std::string_view bytes_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}
// Incremental SHA-256.
class Sha256 {
 public:
  Sha256();
  void add(std::string_view bytes);
  Digest end();  // call once

 private:
  alignas(8) std::array<unsigned char, 112> state_;
};

std::string hex(std::string_view bytes);
// Decodes exactly 64 lower-case hexadecimal digits; nullopt for any other text.
std::optional<Digest> digest_of_hex(std::string_view text);

// Constant-time comparison: its duration does not reveal where the texts differ.
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace agentrt
