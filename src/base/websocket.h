// base/websocket.h: the frames of the WebSocket protocol (RFC 6455), without a socket.
//
// The runtime writes frames itself instead of using Beast's stream. So one system call carries many
// messages, and all subscribers of a stream share the bytes of an event. Compression is never
// negotiated.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace agentrt::websocket {

enum class Opcode : std::uint8_t {
  more = 0,  // continues a fragmented message
  text = 1,
  binary = 2,
  close = 8,
  ping = 9,
  pong = 10,
};

// Close codes that the runtime sends.
enum class CloseCode : std::uint16_t {
  normal = 1000,
  going_away = 1001,
  protocol_error = 1002,
  unsupported = 1003,
  not_utf8 = 1007,
  policy = 1008,
  too_large = 1009,
  replaced = 4000,
};

struct Message {
  Opcode opcode = Opcode::text;  // never `more` or `binary`
  std::string payload;

  bool operator==(const Message&) const = default;
};

enum class Side { server, client };

// Reads the frames that the other side sends. Joins fragments. Text is valid UTF-8.
class Reader {
 public:
  // `side`: whose reader it is. A server requires masked frames, a client unmasked ones. A text of
  // more than `bytes_max` bytes is refused when its length is known.
  Reader(Side side, std::size_t bytes_max) : side_(side), bytes_max_(bytes_max) {}

  // Adds the complete messages in `bytes` to `out`. Returns the close code for a violation, and
  // accepts nothing after one; `out` then has the messages before it.
  std::expected<void, CloseCode> put(std::string_view bytes, std::vector<Message>& out);

 private:
  struct Header {
    bool final = false;
    Opcode opcode = Opcode::text;
    std::uint64_t size = 0;
    std::size_t header_size = 0;
    std::uint32_t mask = 0;
  };

  // False: the header is not complete.
  std::expected<bool, CloseCode> read_header(std::string_view bytes, Header& out) const;
  std::expected<void, CloseCode> check(const Header& header) const;
  std::expected<void, CloseCode> finish(const Header& header, std::string payload,
                                        std::vector<Message>& out);

  const Side side_;
  const std::size_t bytes_max_;
  std::string pending_;      // a frame that is not complete
  std::string fragments_;    // of the message in progress
  bool in_message_ = false;  // a fragmented text is in progress
  bool failed_ = false;
};

// Appends the header of an unmasked frame, which a server sends, for a payload of `size` bytes.
void add_header(std::string& out, Opcode opcode, std::uint64_t size);
// A complete frame of a server.
std::string frame(Opcode opcode, std::string_view payload);
// A complete frame of a client. `mask`: random.
std::string masked_frame(Opcode opcode, std::string_view payload, std::uint32_t mask);
// The payload of a close frame. The reason is cut to what a control frame can hold.
std::string close_payload(CloseCode code, std::string_view reason);
// The code of a received close frame; 1005 if it has none.
std::uint16_t close_code_of(std::string_view payload);

// The value of Sec-WebSocket-Accept for a Sec-WebSocket-Key.
std::string accept_of(std::string_view key);
// Whether the text is a Sec-WebSocket-Key: 16 bytes in base64.
bool is_key(std::string_view text);
// Whether the text is valid UTF-8.
bool is_utf8(std::string_view text);

}  // namespace agentrt::websocket
