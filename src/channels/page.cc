#include "channels/page.h"

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include <fmt/format.h>

namespace agentrt::channels {
namespace {

constexpr int kGzipWindow = MAX_WBITS + 16;  // zlib's way to say gzip
constexpr std::size_t kPieceBytes = 64 << 10;

std::string_view cut(std::string_view& text, char end) {
  const std::size_t at = std::min(text.find(end), text.size());
  const std::string_view out = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return out;
}

std::unexpected<Error> damaged(std::string_view line) {
  return fail(Code::internal, fmt::format("the page in this build is damaged at \"{}\"", line));
}

}  // namespace

Result<Page> Page::read(std::string_view pack) {
  Page page;
  std::vector<std::size_t> sizes;
  while (!pack.empty()) {
    const std::string_view line = cut(pack, '\n');
    if (line.empty()) break;
    std::string_view rest = line;
    const std::string_view name = cut(rest, ' ');
    const std::string_view media_type = cut(rest, ' ');
    std::size_t size = 0;
    const auto [stop, error] = std::from_chars(rest.data(), rest.data() + rest.size(), size);
    if (name.empty() || media_type.empty() || error != std::errc{} ||
        stop != rest.data() + rest.size())
      return damaged(line);
    page.files_.push_back({name, media_type, {}});
    sizes.push_back(size);
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (pack.size() < sizes[i]) return damaged(page.files_[i].name);
    page.files_[i].gzip = pack.substr(0, sizes[i]);
    pack.remove_prefix(sizes[i]);
  }
  if (!pack.empty()) return damaged("end");
  return page;
}

const PageFile* Page::find(std::string_view name) const {
  const auto found = std::ranges::find(files_, name, &PageFile::name);
  return found == files_.end() ? nullptr : &*found;
}

std::optional<std::string> unpacked(std::string_view gzip) {
  z_stream stream{};
  if (::inflateInit2(&stream, kGzipWindow) != Z_OK) return std::nullopt;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(gzip.data()));  // zlib only reads it
  stream.avail_in = static_cast<uInt>(gzip.size());
  std::string out;
  int state = Z_OK;
  while (state == Z_OK && out.size() <= kPageFileBytesMax) {
    const std::size_t used = out.size();
    out.resize(used + kPieceBytes);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + used);
    stream.avail_out = kPieceBytes;
    state = ::inflate(&stream, Z_NO_FLUSH);
    out.resize(used + kPieceBytes - stream.avail_out);
  }
  ::inflateEnd(&stream);
  if (state != Z_STREAM_END || out.size() > kPageFileBytesMax) return std::nullopt;
  return out;
}

}  // namespace agentrt::channels
