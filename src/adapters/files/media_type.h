// adapters/files/media_type.h: what images and documents are, by how they begin. Pure.
#pragma once

#include <string_view>

namespace agentrt::adapters {

// Of PNG, JPEG, GIF, WebP and PDF; empty for anything else.
std::string_view media_type_of(std::string_view bytes);

}  // namespace agentrt::adapters
