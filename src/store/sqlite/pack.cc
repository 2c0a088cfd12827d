#include "store/sqlite/pack.h"

#define ZLIB_CONST  // const input pointers
#include <zlib.h>

#include <algorithm>

#include "base/check.h"

namespace agentrt::store {
namespace {

constexpr std::string_view kFragments[] = {"model.delta", "reasoning.delta", "process.output",
                                           "tool.args", "item.updated"};
constexpr std::string_view kOfItem = R"("jobItemId":")";
// A row larger than the limit of a blob gets its own blob, up to this size.
constexpr std::size_t kUnpackedBytesMax = 16 << 20;
constexpr std::size_t kStepBytes = 64 << 10;

std::optional<std::string> inflated(std::string_view bytes) {
  z_stream stream{};
  if (::inflateInit(&stream) != Z_OK) return std::nullopt;
  stream.next_in = reinterpret_cast<const Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string out;
  int code = Z_OK;
  while (code == Z_OK && out.size() < kUnpackedBytesMax) {
    const std::size_t before = out.size();
    out.resize(before + kStepBytes);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + before);
    stream.avail_out = static_cast<uInt>(kStepBytes);
    code = ::inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
  }
  ::inflateEnd(&stream);
  return code == Z_STREAM_END ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace

bool is_fragment(std::string_view type, std::string_view scope) {
  return std::ranges::find(kFragments, type) != std::end(kFragments) || scope.contains(kOfItem);
}

std::string pack(const std::vector<PackedRow>& rows) {
  std::string text;
  for (const PackedRow& row : rows) {
    text.append(row.scope).push_back('\0');
    text.append(row.payload).push_back('\0');
  }
  uLongf size = ::compressBound(static_cast<uLong>(text.size()));
  std::string out(size, '\0');
  const int code = ::compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                               reinterpret_cast<const Bytef*>(text.data()),
                               static_cast<uLong>(text.size()), Z_DEFAULT_COMPRESSION);
  check(code == Z_OK, "there is room for what zlib said it needs");
  out.resize(size);
  return out;
}

std::optional<std::vector<PackedRow>> unpack(std::string_view bytes) {
  const std::optional<std::string> text = inflated(bytes);
  if (!text) return std::nullopt;
  std::vector<PackedRow> rows;
  std::string_view rest = *text;
  const auto take = [&rest]() -> std::optional<std::string> {
    const std::size_t end = rest.find('\0');
    if (end == rest.npos) return std::nullopt;
    std::string part(rest.substr(0, end));
    rest.remove_prefix(end + 1);
    return part;
  };
  while (!rest.empty()) {
    auto scope = take(), payload = take();
    if (!scope || !payload) return std::nullopt;
    rows.push_back({*std::move(scope), *std::move(payload)});
  }
  return rows;
}

}  // namespace agentrt::store
