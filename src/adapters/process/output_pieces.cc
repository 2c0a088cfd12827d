#include "adapters/process/output_pieces.h"

#include <algorithm>

#include "schema/codec.h"
#include "schema/tools.h"

namespace agentrt::adapters {

void OutputPieces::give(std::uint64_t out, std::uint64_t err, const To& to) {
  const auto first = heard_.tty ? schema::OutputStream::pty : schema::OutputStream::stdout_;
  give(first, "stdout", heard_.out, out, to);
  give(schema::OutputStream::stderr_, "stderr", heard_.err, err, to);
}

void OutputPieces::give(schema::OutputStream stream, const char* name, std::uint64_t& at,
                        std::uint64_t size, const To& to) {
  while (at < size && heard_.out + heard_.err < bytes_max_) {
    const std::size_t room = std::min<std::uint64_t>(
        {schema::kProcessPieceBytes, size - at, bytes_max_ - heard_.out - heard_.err});
    std::string bytes = folder_.read(name, at, std::min<std::uint64_t>(room + 1, size - at));
    if (bytes.empty()) return;
    const std::size_t whole = schema::utf8_prefix(bytes, room).size();
    bytes.resize(whole > 0 ? whole : std::min(room, bytes.size()));  // or it is not valid UTF-8
    schema::ProcessOutput piece;
    piece.stream = stream;
    piece.offset = at;
    at += bytes.size();
    piece.text = std::move(bytes);
    to(std::move(piece));
  }
}

}  // namespace agentrt::adapters
