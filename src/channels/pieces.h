// channels/pieces.h: bytes that wait to be written to a connection, and how they are written.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace agentrt::channels {

// Bytes to be written: [offset, end) of a shared text.
struct Piece {
  std::shared_ptr<const std::string> text;
  std::size_t offset = 0;
  std::size_t end = 0;
  std::size_t frames = 0;  // events that are complete once the piece is written
  bool begins = true;      // a message starts here, so another sender's message may precede it

  std::size_t size() const { return end - offset; }
};
using Pieces = std::deque<Piece>;

Piece piece_of(std::string text);

// The connection that a subscriber writes to.
class StreamPipe {
 public:
  // Writes without blocking and returns how many bytes were accepted, fewer than offered if the
  // peer must read first. nullopt: the connection is broken.
  virtual std::optional<std::size_t> write_now(std::span<const iovec> bytes) = 0;
  // Requests one on_writable() call once the peer has read.
  virtual void wait_writable() = 0;
  // Closes the connection. The subscriber is detached and inactive afterwards.
  virtual void close_stream() = 0;

 protected:
  ~StreamPipe() = default;
};

// Offered to a pipe at once.
inline constexpr std::size_t kPiecesPerWrite = 192;

enum class Written { all, some, broken };

// Writes the queue until it is empty or the pipe accepts less than it is offered. Removes what was
// accepted: `taken` gets the bytes of each write before, `done` each piece that is complete.
template <class Taken, class Done>
Written write_pieces(StreamPipe& pipe, Pieces& queue, Taken&& taken, Done&& done) {
  while (!queue.empty()) {
    std::array<iovec, kPiecesPerWrite> offered;
    std::size_t count = 0;
    std::size_t bytes = 0;
    for (const Piece& piece : queue) {
      if (count == offered.size()) break;
      // The pipe does not modify the bytes.
      offered[count++] = {const_cast<char*>(piece.text->data() + piece.offset), piece.size()};
      bytes += piece.size();
    }
    const auto accepted = pipe.write_now({offered.data(), count});
    if (!accepted) return Written::broken;
    taken(*accepted);
    for (std::size_t left = *accepted; !queue.empty();) {
      Piece& piece = queue.front();
      if (left < piece.size()) {
        piece.offset += left;
        if (left > 0) piece.begins = false;
        break;
      }
      left -= piece.size();
      done(piece);
      queue.pop_front();
    }
    if (*accepted < bytes) return Written::some;
  }
  return Written::all;
}

}  // namespace agentrt::channels
