#include "base/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/check.h"

namespace agentrt {
namespace {

// The algorithm is fetched once: looking it up costs more than hashing a typical fact.
const EVP_MD* algorithm() {
  static const EVP_MD* const kFetched = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  return kFetched;
}

class Hasher {
 public:
  Hasher() : context_(EVP_MD_CTX_new()) { check(context_ != nullptr, "OpenSSL gives a context"); }
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;
  ~Hasher() { EVP_MD_CTX_free(context_); }

  void begin() { check(EVP_DigestInit_ex2(context_, algorithm(), nullptr) == 1, "SHA-256 begins"); }
  void add(std::string_view bytes) { EVP_DigestUpdate(context_, bytes.data(), bytes.size()); }
  Digest end() {
    Digest digest;
    EVP_DigestFinal_ex(context_, digest.data(), nullptr);
    return digest;
  }

 private:
  EVP_MD_CTX* context_;
};

Hasher& hasher() {
  thread_local Hasher kHasher;
  kHasher.begin();
  return kHasher;
}

}  // namespace

Digest sha256(std::string_view bytes) {
  Hasher& h = hasher();
  h.add(bytes);
  return h.end();
}

Digest sha256(std::string_view first, std::string_view second, std::string_view third) {
  Hasher& h = hasher();
  h.add(first);
  h.add(second);
  h.add(third);
  return h.end();
}

Digest hmac_sha256(std::string_view key, std::string_view bytes) {
  Digest digest;
  HMAC(algorithm(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data(), nullptr);
  return digest;
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

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace agentrt
