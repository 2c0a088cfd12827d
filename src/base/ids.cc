#include "base/ids.h"

#include <algorithm>

#include "base/digest.h"

namespace agentrt {
namespace {

constexpr std::string_view kBase32 = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr std::string_view kHex = "0123456789abcdef";
constexpr int kIdDigits = 26;

void put_hex(std::string& out, std::uint64_t value) {
  for (int shift = 60; shift >= 0; shift -= 4) out.push_back(kHex[(value >> shift) & 15]);
}

}  // namespace

bool well_formed_id(std::string_view text) {
  if (text.empty() || text.size() > kIdSizeMax) return false;
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == ':' || c == '-';
  });
}

// splitmix64: every seed gives a full-period stream of well-mixed 64-bit values.
std::uint64_t FreshIds::draw() {
  seed_ += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = seed_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

std::string FreshIds::next_text(std::string_view prefix) {
  const std::uint64_t high = (static_cast<std::uint64_t>(now_.ms) << 16) | count_++;
  const std::uint64_t low = draw();
  unsigned __int128 bits = (static_cast<unsigned __int128>(high) << 64) | low;
  std::string out;
  out.reserve(prefix.size() + 1 + kIdDigits);
  out.append(prefix).push_back('_');
  out.resize(out.size() + kIdDigits);
  for (int i = 0; i < kIdDigits; ++i, bits >>= 5)
    out[out.size() - 1 - static_cast<std::size_t>(i)] = kBase32[static_cast<unsigned>(bits & 31)];
  return out;
}

TraceId FreshIds::next_trace() {
  std::string out;
  put_hex(out, draw() | 1);  // W3C forbids the all-zero id
  put_hex(out, draw());
  return TraceId{std::move(out)};
}

SpanId span_of(const SessionId& session, std::string_view kind, std::string_view id) {
  std::string name = session.text();
  for (const std::string_view part : {kind, id}) {
    name += ' ';  // which no id contains
    name += part;
  }
  Digest digest = sha256(name);
  digest[7] |= 1;  // W3C forbids the all-zero id
  return SpanId{hex(bytes_of(digest).substr(0, 8))};
}

}  // namespace agentrt
