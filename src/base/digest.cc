// Uses OpenSSL's one-shot SHA-256 interface rather than EVP. A fact is hashed twice on its way to
// disk, and fetching an EVP provider costs more time and memory than all of that hashing.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/digest.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

namespace agentrt {
namespace {

constexpr std::size_t kBlockBytes = 64;

class Hasher {
 public:
  Hasher() { SHA256_Init(&context_); }
  Hasher& add(std::string_view bytes) {
    SHA256_Update(&context_, bytes.data(), bytes.size());
    return *this;
  }
  Digest end() {
    Digest digest;
    SHA256_Final(digest.data(), &context_);
    return digest;
  }

 private:
  SHA256_CTX context_;
};

}  // namespace

Sha256::Sha256() {
  static_assert(sizeof(SHA256_CTX) <= sizeof state_ && alignof(SHA256_CTX) <= 8);
  SHA256_Init(reinterpret_cast<SHA256_CTX*>(state_.data()));
}

void Sha256::add(std::string_view bytes) {
  SHA256_Update(reinterpret_cast<SHA256_CTX*>(state_.data()), bytes.data(), bytes.size());
}

Digest Sha256::end() {
  Digest digest;
  SHA256_Final(digest.data(), reinterpret_cast<SHA256_CTX*>(state_.data()));
  return digest;
}

Digest sha256(std::string_view bytes) { return Hasher{}.add(bytes).end(); }

Digest sha256(std::string_view first, std::string_view second, std::string_view third) {
  return Hasher{}.add(first).add(second).add(third).end();
}

std::array<unsigned char, 20> sha1(std::string_view bytes) {
  // Not SHA1(): that function would link all of OpenSSL's providers, 4 MB.
  std::array<unsigned char, 20> digest{};
  SHA_CTX context;
  SHA1_Init(&context);
  SHA1_Update(&context, bytes.data(), bytes.size());
  SHA1_Final(digest.data(), &context);
  return digest;
}

// RFC 2104: H(key ^ opad, H(key ^ ipad, bytes)). A key longer than one block is hashed first.
Digest hmac_sha256(std::string_view key, std::string_view bytes) {
  std::string block(key.size() > kBlockBytes ? bytes_of(sha256(key)) : key);
  block.resize(kBlockBytes, '\0');
  for (char& c : block) c = static_cast<char>(c ^ 0x36);
  const Digest inner = Hasher{}.add(block).add(bytes).end();
  for (char& c : block) c = static_cast<char>(c ^ 0x36 ^ 0x5c);
  return Hasher{}.add(block).add(bytes_of(inner)).end();
}

std::string hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    out.push_back(kDigits[static_cast<unsigned char>(c) >> 4]);
    out.push_back(kDigits[static_cast<unsigned char>(c) & 15]);
  }
  return out;
}

std::optional<Digest> digest_of_hex(std::string_view text) {
  Digest digest{};
  if (text.size() != 2 * digest.size()) return std::nullopt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (!digit && (text[i] < 'a' || text[i] > 'f')) return std::nullopt;
    const int value = digit ? text[i] - '0' : text[i] - 'a' + 10;
    digest[i / 2] = static_cast<unsigned char>(digest[i / 2] << 4 | value);
  }
  return digest;
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace agentrt
