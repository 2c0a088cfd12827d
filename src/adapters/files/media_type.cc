#include "adapters/files/media_type.h"

namespace agentrt::adapters {

std::string_view media_type_of(std::string_view bytes) {
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return "image/png";
  if (bytes.starts_with("\xff\xd8\xff")) return "image/jpeg";
  if (bytes.starts_with("GIF8")) return "image/gif";
  if (bytes.starts_with("RIFF") && bytes.substr(0, 12).ends_with("WEBP")) return "image/webp";
  if (bytes.starts_with("%PDF-")) return "application/pdf";
  return {};
}

}  // namespace agentrt::adapters
