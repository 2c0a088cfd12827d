#include "base/image.h"

#include <algorithm>
#include <array>

namespace agentrt {
namespace {

constexpr auto kNone = std::string_view::npos;
constexpr std::array<std::string_view, 4> kTypes = {"image/png", "image/jpeg", "image/gif",
                                                    "image/webp"};

enum class Order { big, little };

// `size` bytes at `at` as a number; 0 beyond the end.
std::uint32_t number(std::string_view bytes, std::size_t at, std::size_t size, Order order) {
  if (at + size > bytes.size()) return 0;
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t from = order == Order::big ? at + i : at + size - 1 - i;
    out = out << 8 | static_cast<unsigned char>(bytes[from]);
  }
  return out;
}

ImageHeader png(std::string_view bytes) {
  if (bytes.substr(12, 4) != "IHDR") return {};
  return {kTypes[0], number(bytes, 16, 4, Order::big), number(bytes, 20, 4, Order::big),
          bytes.rfind("IEND") != kNone};
}

// The frame header is one of the segments before the pixels.
ImageHeader jpeg(std::string_view bytes) {
  for (std::size_t at = 2; at + 4 <= bytes.size();) {
    if (bytes[at] != '\xFF') return {};
    const auto kind = static_cast<unsigned char>(bytes[at + 1]);
    if (kind == 0xFF) {  // padding
      ++at;
      continue;
    }
    const bool frame = kind >= 0xC0 && kind <= 0xCF && kind != 0xC4 && kind != 0xC8 && kind != 0xCC;
    if (frame)
      return {kTypes[1], number(bytes, at + 7, 2, Order::big), number(bytes, at + 5, 2, Order::big),
              bytes.rfind("\xFF\xD9") != kNone};
    if (kind == 0xDA || kind == 0xD9) return {};
    const std::uint32_t length = number(bytes, at + 2, 2, Order::big);
    if (length < 2) return {};
    at += 2 + length;
  }
  return {};
}

ImageHeader gif(std::string_view bytes) {
  return {kTypes[2], number(bytes, 6, 2, Order::little), number(bytes, 8, 2, Order::little),
          bytes.ends_with(';')};
}

ImageHeader webp(std::string_view bytes) {
  ImageHeader out{kTypes[3], 0, 0,
                  std::uint64_t{number(bytes, 4, 4, Order::little)} + 8 <= bytes.size()};
  const std::string_view kind = bytes.substr(12, 4);
  if (kind == "VP8 ") {
    out.width = number(bytes, 26, 2, Order::little) & 0x3FFF;
    out.height = number(bytes, 28, 2, Order::little) & 0x3FFF;
  } else if (kind == "VP8L") {
    const std::uint32_t bits = number(bytes, 21, 4, Order::little);
    out.width = (bits & 0x3FFF) + 1;
    out.height = (bits >> 14 & 0x3FFF) + 1;
  } else if (kind == "VP8X") {
    out.width = number(bytes, 24, 3, Order::little) + 1;
    out.height = number(bytes, 27, 3, Order::little) + 1;
  }
  return out;
}

ImageHeader read(std::string_view bytes) {
  if (bytes.size() < 16) return {};
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return png(bytes);
  if (bytes.starts_with("\xff\xd8\xff")) return jpeg(bytes);
  if (bytes.starts_with("GIF87a") || bytes.starts_with("GIF89a")) return gif(bytes);
  if (bytes.starts_with("RIFF") && bytes.substr(8, 4) == "WEBP") return webp(bytes);
  return {};
}

}  // namespace

std::optional<ImageHeader> image_header(std::string_view bytes) {
  const ImageHeader header = read(bytes);
  if (header.width == 0 || header.height == 0) return std::nullopt;
  return header;
}

bool is_image_type(std::string_view media_type) {
  return std::ranges::find(kTypes, media_type) != kTypes.end();
}

}  // namespace agentrt
