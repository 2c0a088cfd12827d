// conversation/images.h: the images in tool results: read from their refs for each request, or
// replaced by words if the model does not take them.
//
// Facts and the history hold only refs. A damaged or oversized image would make a provider reject
// the whole request, and all later ones of the thread, so it is named in words too.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "conversation/material.h"
#include "conversation/stored_parts.h"
#include "ports/models.h"

namespace agentrt::conversation {

struct ImageLimits {
  std::size_t count_max = 20;               // per request; the newest come first
  std::size_t bytes_max = 15'000'000;       // of all images of a request
  std::size_t image_bytes_max = 3'750'000;  // as base64, at most 5 MB
  std::uint32_t pixels_max = 8'000;         // width and height
};

// Reads the bytes behind a ref. Blocks.
using ReadImage = std::function<Result<std::string>(const ports::StoredImage& image)>;

// Replaces `images` of every message by attachments, or by words at the end of its text. Blocks.
void attach_images(std::vector<ports::Message>& messages, ImagesSent sent, const ReadImage& read,
                   const ImageLimits& limits = {});

// Reads images that the session owns. Blocks.
ReadImage image_reader(ReadOutput read, SessionId session);

}  // namespace agentrt::conversation
