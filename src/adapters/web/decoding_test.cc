#include "adapters/web/decoding.h"

#include <doctest/doctest.h>

namespace agentrt::adapters {

TEST_CASE("the encoding comes from the mark, the header, the page, or is UTF-8") {
  const auto plain = [](std::string_view bytes, std::string_view type) {
    return decoded(bytes, type, MarkUp::none);
  };
  CHECK(plain("\xC3\xA4", "text/plain") == "\xC3\xA4");
  CHECK(plain("\xE4", "text/plain; charset=ISO-8859-1") == "\xC3\xA4");
  CHECK(plain("\x80", "text/plain;charset=\"windows-1252\"") == "\xE2\x82\xAC");
  CHECK(plain("\x93\xFA", "text/plain; charset=Shift_JIS") == "\xE6\x97\xA5");
  CHECK(plain(std::string_view("\xFF\xFE\xE4\x00", 4), "text/plain") == "\xC3\xA4");
  CHECK(plain("\xEF\xBB\xBFx", "text/plain; charset=utf-16") == "x");
  CHECK(decoded("<meta charset='windows-1251'>\xE4", "text/html", MarkUp::html) ==
        "<meta charset='windows-1251'>\xD0\xB4");
  CHECK(decoded("charset=latin1 \xE4", "text/plain", MarkUp::none) ==
        "charset=latin1 \xEF\xBF\xBD");
}

TEST_CASE("invalid bytes and unknown encodings do no harm") {
  CHECK(decoded("a\xFFz", "text/plain", MarkUp::none) == "a\xEF\xBF\xBDz");
  CHECK(decoded("a\xE4", "text/plain; charset=ISO-2022-CN-EXT", MarkUp::none) == "a\xEF\xBF\xBD");
  CHECK(decoded("\x81", "text/plain; charset=shift_jis", MarkUp::none) == "\xEF\xBF\xBD");
  CHECK(decoded("a\r\nb\x1B[31m\x07\x7F", "text/plain", MarkUp::none) == "a\nb[31m");
  // Invisible tag characters that spell "hi".
  CHECK(decoded("a\xF3\xA0\x81\xA8\xF3\xA0\x81\xA9z", "text/plain", MarkUp::none) == "az");
  CHECK(decoded("\xF3\xA0\x84\x80", "text/plain", MarkUp::none) == "\xF3\xA0\x84\x80");
  CHECK(decoded("", "", MarkUp::html) == "");
}

TEST_CASE("bytes without zeros are text, and so is UTF-16") {
  CHECK(is_text("abc\xE4"));
  CHECK_FALSE(is_text(std::string_view("a\0b", 3)));
  CHECK(
      is_text(std::string_view("\xFF\xFE"
                               "a\0",
                               4)));
}

}  // namespace agentrt::adapters
