#include "base/websocket.h"

#include <array>

#include "base/base64.h"
#include "base/digest.h"

namespace agentrt::websocket {
namespace {

constexpr std::size_t kControlBytesMax = 125;
constexpr std::string_view kAcceptSalt = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
constexpr unsigned char kFinal = 0x80;
constexpr unsigned char kReserved = 0x70;
constexpr unsigned char kMasked = 0x80;

unsigned char byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

std::uint64_t big_endian(std::string_view bytes) {
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) out = out << 8 | byte_at(bytes, i);
  return out;
}

void add_big_endian(std::string& out, std::uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
    out += static_cast<char>(value >> shift & 0xff);
}

bool is_control(Opcode opcode) { return static_cast<std::uint8_t>(opcode) >= 8; }

void apply_mask(std::string& payload, std::uint32_t mask) {
  const std::array<char, 4> key = {static_cast<char>(mask >> 24), static_cast<char>(mask >> 16),
                                   static_cast<char>(mask >> 8), static_cast<char>(mask)};
  for (std::size_t i = 0; i < payload.size(); ++i)
    payload[i] = static_cast<char>(payload[i] ^ key[i % 4]);
}

void add_header(std::string& out, Opcode opcode, std::uint64_t size, unsigned char mask_bit) {
  out += static_cast<char>(kFinal | static_cast<unsigned char>(opcode));
  if (size <= kControlBytesMax) {
    out += static_cast<char>(mask_bit | size);
  } else if (size <= 0xffff) {
    out += static_cast<char>(mask_bit | 126);
    add_big_endian(out, size, 2);
  } else {
    out += static_cast<char>(mask_bit | 127);
    add_big_endian(out, size, 8);
  }
}

// A close frame has no payload, or a code that an endpoint may send and a text.
bool valid_close(std::string_view payload) {
  if (payload.empty()) return true;
  if (payload.size() == 1) return false;
  const std::uint64_t code = big_endian(payload.substr(0, 2));
  const bool known = (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1011) ||
                     (code >= 3000 && code <= 4999);
  return known && is_utf8(payload.substr(2));
}

// The size of the UTF-8 character at the start of `text`; 0: there is none.
std::size_t character_size(std::string_view text) {
  const unsigned char first = byte_at(text, 0);
  if (first < 0x80) return 1;
  const auto tail = [&](std::size_t at, unsigned char low, unsigned char high) {
    return at < text.size() && byte_at(text, at) >= low && byte_at(text, at) <= high;
  };
  if (first >= 0xc2 && first <= 0xdf) return tail(1, 0x80, 0xbf) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const unsigned char low = first == 0xe0 ? 0xa0 : 0x80;
    const unsigned char high = first == 0xed ? 0x9f : 0xbf;  // no surrogates
    return tail(1, low, high) && tail(2, 0x80, 0xbf) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const unsigned char low = first == 0xf0 ? 0x90 : 0x80;
    const unsigned char high = first == 0xf4 ? 0x8f : 0xbf;
    return tail(1, low, high) && tail(2, 0x80, 0xbf) && tail(3, 0x80, 0xbf) ? 4 : 0;
  }
  return 0;
}

constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = character_size(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

bool is_key(std::string_view text) {
  if (text.size() != 24 || !text.ends_with("==")) return false;
  return text.substr(0, 22).find_first_not_of(kBase64) == std::string_view::npos;
}

std::string accept_of(std::string_view key) {
  const auto digest = sha1(std::string(key).append(kAcceptSalt));
  return base64({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

void add_header(std::string& out, Opcode opcode, std::uint64_t size) {
  add_header(out, opcode, size, 0);
}

std::string frame(Opcode opcode, std::string_view payload) {
  std::string out;
  out.reserve(payload.size() + 10);
  add_header(out, opcode, payload.size());
  out += payload;
  return out;
}

std::string masked_frame(Opcode opcode, std::string_view payload, std::uint32_t mask) {
  std::string out;
  add_header(out, opcode, payload.size(), kMasked);
  add_big_endian(out, mask, 4);
  std::string masked(payload);
  apply_mask(masked, mask);
  return out + masked;
}

std::string close_payload(CloseCode code, std::string_view reason) {
  std::string out;
  add_big_endian(out, static_cast<std::uint16_t>(code), 2);
  for (reason = reason.substr(0, kControlBytesMax - 2); !is_utf8(reason);) reason.remove_suffix(1);
  return out.append(reason);
}

std::uint16_t close_code_of(std::string_view payload) {
  return payload.size() < 2 ? 1005 : static_cast<std::uint16_t>(big_endian(payload.substr(0, 2)));
}

std::expected<bool, CloseCode> Reader::read_header(std::string_view bytes, Header& out) const {
  if (bytes.size() < 2) return false;
  const unsigned char first = byte_at(bytes, 0);
  const unsigned char second = byte_at(bytes, 1);
  if (first & kReserved) return std::unexpected(CloseCode::protocol_error);
  out.final = first & kFinal;
  const auto opcode = static_cast<std::uint8_t>(first & 0x0f);
  if (opcode > 10 || (opcode > 2 && opcode < 8)) return std::unexpected(CloseCode::protocol_error);
  out.opcode = static_cast<Opcode>(opcode);
  const bool masked = second & kMasked;
  if (masked != (side_ == Side::server)) return std::unexpected(CloseCode::protocol_error);
  const std::uint64_t length = second & 0x7f;
  const std::size_t more = length == 127 ? 8 : length == 126 ? 2 : 0;
  out.header_size = 2 + more + (masked ? 4 : 0);
  if (bytes.size() < 2 + more) return false;
  out.size = more == 0 ? length : big_endian(bytes.substr(2, more));
  if (auto good = check(out); !good) return std::unexpected(good.error());
  if (bytes.size() < out.header_size) return false;
  if (masked) out.mask = static_cast<std::uint32_t>(big_endian(bytes.substr(2 + more, 4)));
  return true;
}

std::expected<void, CloseCode> Reader::check(const Header& header) const {
  if (is_control(header.opcode)) {
    if (!header.final || header.size > kControlBytesMax)
      return std::unexpected(CloseCode::protocol_error);
    return {};
  }
  if (header.opcode == Opcode::binary) return std::unexpected(CloseCode::unsupported);
  if ((header.opcode == Opcode::more) != in_message_)
    return std::unexpected(CloseCode::protocol_error);
  if (header.size > bytes_max_ - fragments_.size()) return std::unexpected(CloseCode::too_large);
  return {};
}

std::expected<void, CloseCode> Reader::finish(const Header& header, std::string payload,
                                              std::vector<Message>& out) {
  if (is_control(header.opcode)) {
    if (header.opcode == Opcode::close && !valid_close(payload))
      return std::unexpected(CloseCode::protocol_error);
    out.push_back({header.opcode, std::move(payload)});
    return {};
  }
  if (fragments_.empty())
    fragments_ = std::move(payload);
  else
    fragments_ += payload;
  in_message_ = !header.final;
  if (in_message_) return {};
  if (!is_utf8(fragments_)) return std::unexpected(CloseCode::not_utf8);
  out.push_back({Opcode::text, std::exchange(fragments_, {})});
  return {};
}

std::expected<void, CloseCode> Reader::put(std::string_view bytes, std::vector<Message>& out) {
  if (failed_) return {};
  pending_ += bytes;
  std::size_t at = 0;
  while (at < pending_.size()) {
    const std::string_view rest = std::string_view(pending_).substr(at);
    Header header;
    const auto complete = read_header(rest, header);
    std::expected<void, CloseCode> outcome;
    if (!complete) {
      outcome = std::unexpected(complete.error());
    } else if (!*complete || rest.size() - header.header_size < header.size) {
      break;
    } else {
      std::string payload(rest.substr(header.header_size, header.size));
      if (side_ == Side::server) apply_mask(payload, header.mask);
      at += header.header_size + header.size;
      outcome = finish(header, std::move(payload), out);
    }
    if (!outcome) {
      failed_ = true;
      pending_ = {};
      return outcome;
    }
  }
  pending_.erase(0, at);
  if (pending_.empty()) pending_.shrink_to_fit();
  return {};
}

}  // namespace agentrt::websocket
