#include "base/websocket.h"

#include <random>

#include <doctest/doctest.h>

namespace agentrt::websocket {
namespace {

constexpr std::uint32_t kMask = 0x01020304;

struct Outcome {
  std::vector<Message> messages;
  std::optional<CloseCode> violation;
};

Outcome read(std::string_view bytes, std::size_t step, std::size_t bytes_max = 1 << 16) {
  Reader reader(Side::server, bytes_max);
  Outcome out;
  while (!bytes.empty() && !out.violation) {
    const std::string_view part = bytes.substr(0, step);
    bytes.remove_prefix(part.size());
    if (const auto put = reader.put(part, out.messages); !put) out.violation = put.error();
  }
  return out;
}

// A masked frame whose first byte is replaced.
std::string with_first(unsigned char first, std::string_view payload) {
  std::string out = masked_frame(Opcode::text, payload, kMask);
  out[0] = static_cast<char>(first);
  return out;
}

}  // namespace

TEST_CASE("the accept value of the RFC's example") {
  CHECK(accept_of("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  CHECK(is_key("dGhlIHNhbXBsZSBub25jZQ=="));
  CHECK(!is_key("dGhlIHNhbXBsZSBub25jZQ="));
  CHECK(!is_key("dGhlIHNhbXBsZSBub25j Q=="));
}

TEST_CASE("messages of every length arrive whole, however the bytes are cut") {
  std::string bytes;
  std::vector<Message> expected;
  for (const std::size_t size : {0, 1, 125, 126, 1000, 65'535, 65'536}) {
    bytes += masked_frame(Opcode::text, std::string(size, 'x'), kMask);
    expected.push_back({Opcode::text, std::string(size, 'x')});
  }
  bytes += masked_frame(Opcode::ping, "p", kMask);
  expected.push_back({Opcode::ping, "p"});
  for (const std::size_t step : {1, 2, 7, 4096, 1 << 20}) {
    const Outcome out = read(bytes, step);
    CHECK(!out.violation);
    CHECK(out.messages == expected);
  }
}

TEST_CASE("fragments are joined, and a ping may come between them") {
  const std::string bytes = with_first(0x01, "ab") + masked_frame(Opcode::ping, "", kMask) +
                            with_first(0x00, "c\xc3") + with_first(0x80, "\xa4");
  const Outcome out = read(bytes, 3);
  CHECK(!out.violation);
  CHECK(out.messages == std::vector<Message>{{Opcode::ping, ""}, {Opcode::text, "abc\xc3\xa4"}});
}

TEST_CASE("each violation has its close code, and messages before it count") {
  const std::string good = masked_frame(Opcode::text, "good", kMask);
  const auto code = [&](const std::string& bad) {
    const Outcome out = read(good + bad, 5, 1000);
    CHECK(out.messages.size() == 1);
    return out.violation;
  };
  CHECK(code(frame(Opcode::text, "unmasked")) == CloseCode::protocol_error);
  CHECK(code(with_first(0xc1, "reserved bit")) == CloseCode::protocol_error);
  CHECK(code(with_first(0x83, "unknown opcode")) == CloseCode::protocol_error);
  CHECK(code(with_first(0x09, "fragmented ping")) == CloseCode::protocol_error);
  CHECK(code(masked_frame(Opcode::ping, std::string(126, 'x'), kMask)) ==
        CloseCode::protocol_error);
  CHECK(code(with_first(0x80, "continues nothing")) == CloseCode::protocol_error);
  CHECK(code(with_first(0x01, "a") + with_first(0x81, "b")) == CloseCode::protocol_error);
  CHECK(code(masked_frame(Opcode::close, "x", kMask)) == CloseCode::protocol_error);
  CHECK(code(masked_frame(Opcode::close, std::string("\x03\xed", 2), kMask)) ==
        CloseCode::protocol_error);
  CHECK(code(masked_frame(Opcode::binary, "x", kMask)) == CloseCode::unsupported);
  CHECK(code(masked_frame(Opcode::text, "\xff", kMask)) == CloseCode::not_utf8);
  CHECK(code(masked_frame(Opcode::text, "\xed\xa0\x80", kMask)) == CloseCode::not_utf8);
  CHECK(code(masked_frame(Opcode::text, std::string(1001, 'x'), kMask)) == CloseCode::too_large);
  CHECK(code(with_first(0x01, std::string(600, 'x')) + with_first(0x80, std::string(600, 'x'))) ==
        CloseCode::too_large);
}

TEST_CASE("a length beyond the limit is refused before its payload arrives") {
  std::string header;
  add_header(header, Opcode::text, std::uint64_t{1} << 62);
  header[1] = static_cast<char>(header[1] | 0x80);
  CHECK(read(header, 1).violation == CloseCode::too_large);
}

TEST_CASE("a client reads unmasked frames, and a close frame keeps its code") {
  Reader reader(Side::client, 1000);
  std::vector<Message> out;
  CHECK(reader.put(frame(Opcode::close, close_payload(CloseCode::replaced, "why")), out));
  CHECK(close_code_of(out.at(0).payload) == 4000);
  CHECK(close_code_of("") == 1005);
  CHECK(close_payload(CloseCode::policy, std::string(122, 'x') + "\xc3\xa4").size() == 124);
  CHECK(!reader.put(masked_frame(Opcode::text, "x", kMask), out));
}

TEST_CASE("random bytes and damaged frames never yield a text that is not UTF-8") {
  std::mt19937 random(7);
  for (int round = 0; round < 2'000; ++round) {
    std::string bytes;
    for (int i = 0; i < 4; ++i)
      bytes += masked_frame(Opcode::text, std::string(random() % 200, 'x'),
                            static_cast<std::uint32_t>(random()));
    for (int i = 0; i < 3; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    const Outcome whole = read(bytes, bytes.size(), 500);
    const Outcome cut = read(bytes, 1 + random() % 9, 500);
    CHECK(whole.messages == cut.messages);
    CHECK(whole.violation == cut.violation);
    for (const Message& message : whole.messages)
      if (message.opcode == Opcode::text) CHECK(is_utf8(message.payload));
  }
}

}  // namespace agentrt::websocket
