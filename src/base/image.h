// base/image.h: recognizes PNG, JPEG, GIF and WebP images by their bytes. Pure. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace agentrt {

struct ImageHeader {
  std::string_view media_type;  // image/png, image/jpeg, image/gif or image/webp
  std::uint32_t width = 0;      // in pixels
  std::uint32_t height = 0;
  bool whole = false;  // the bytes have the end of an image too; false: they were cut off
};

// Absent: the bytes are no such image, or have no valid header. Pixels are not decoded, so the rest
// may still be damaged.
std::optional<ImageHeader> image_header(std::string_view bytes);

// Whether image_header() recognizes images of this type.
bool is_image_type(std::string_view media_type);

}  // namespace agentrt
