// adapters/files/media_type.h: detects the media type of images and documents by their first bytes.
// Pure.
#pragma once

#include <string_view>

namespace agentrt::adapters {

// Recognizes PNG, JPEG, GIF, WebP and PDF; empty for anything else.
std::string_view media_type_of(std::string_view bytes);

}  // namespace agentrt::adapters
