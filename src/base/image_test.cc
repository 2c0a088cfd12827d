#include "base/image.h"

#include <doctest/doctest.h>

#include <string>

namespace agentrt {
namespace {

using namespace std::string_literals;

const std::string kPng = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\2\0\0\0\3\x08\2\0\0\0"s + "pixels" +
                         "\0\0\0\0IEND\xAE\x42\x60\x82"s;
const std::string kJpeg =
    "\xFF\xD8\xFF\xE0\0\4ab\xFF\xFF\xC2\0\x0B\x08\0\3\1\2\1\0\0\0"s + "\xFF\xDA pixels\xFF\xD9";
const std::string kGif = "GIF89a\2\1\3\0 pixels    ;"s;

void check(const std::string& bytes, std::string_view type, std::uint32_t width,
           std::uint32_t height) {
  const auto header = image_header(bytes);
  REQUIRE(header);
  CHECK(header->media_type == type);
  CHECK(header->width == width);
  CHECK(header->height == height);
  CHECK(header->whole);
  CHECK(is_image_type(header->media_type));
}

}  // namespace

TEST_CASE("images are recognized by their bytes, with their size in pixels") {
  check(kPng, "image/png", 258, 3);
  check(kJpeg, "image/jpeg", 258, 3);
  check(kGif, "image/gif", 258, 3);
  check("RIFF\x16\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9D\1\x2A\2\1\3\0"s, "image/webp", 258, 3);
  check("RIFF\x12\0\0\0WEBPVP8L\5\0\0\0\x2F\1\x81\0\0\0"s, "image/webp", 258, 3);
  check("RIFF\x16\0\0\0WEBPVP8X\x0A\0\0\0\0\0\0\0\1\1\0\2\0\0"s, "image/webp", 258, 3);
}

TEST_CASE("a truncated image is recognised as one that is not whole; other bytes are no image") {
  CHECK_FALSE(image_header(kPng.substr(0, 40))->whole);
  CHECK_FALSE(image_header(kJpeg.substr(0, kJpeg.size() - 3))->whole);
  CHECK_FALSE(image_header(kGif.substr(0, 18))->whole);
  for (const std::string& bytes :
       {""s, "\x89PNG\r\n\x1a\n"s, "\x89PNG\r\n\x1a\n and then text"s,
        "GIF89a and then"s.substr(0, 9), "\xFF\xD8\xFF\xE0\0\0................"s,
        "\xFF\xD8\xFF\xDA................"s, "RIFF....WAVE............"s,
        "<svg width='3' height='3'/>"s, "plain text, quite long"s}) {
    CAPTURE(bytes);
    CHECK_FALSE(image_header(bytes));
  }
  CHECK_FALSE(is_image_type("image/svg+xml"));
}

}  // namespace agentrt
