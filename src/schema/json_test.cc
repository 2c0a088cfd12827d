#include "schema/json.h"

#include <doctest/doctest.h>

namespace agentrt::schema {
namespace {

std::string written(std::string_view text) {
  std::string out;
  write_string(out, text);
  return out;
}

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST_CASE("one well-formed value passes, anything else is refused") {
  for (const std::string_view text :
       {"{}", "[]", "0", "-1.5e+3", "\"\"", "null", " { \"a\" : [ true ] } ", "\"\\ud83d\\ude00\"",
        "9223372036854775808", "18446744073709551616", "-0"})
    CHECK_MESSAGE(check_json(text), text);
  for (const std::string_view text : {"",
                                      " ",
                                      "{",
                                      "[1,]",
                                      "{\"a\":1,}",
                                      "{'a':1}",
                                      "{} {}",
                                      "nul",
                                      "NaN",
                                      "Infinity",
                                      "01",
                                      "+1",
                                      "1.",
                                      "\"\t\"",
                                      "\"\\x\"",
                                      "\"open",
                                      "\xff",
                                      "\"\xc3\"",
                                      "\"\xed\xa0\x80\"",
                                      "// c\n1",
                                      "[1 2]",
                                      "{\"a\" 1}",
                                      "\"\\ud83d\"",
                                      "\"\\ude00\"",
                                      "\"\\ud83dx\""}) {
    const auto done = check_json(text);
    CHECK_MESSAGE(!done, text);
    if (!done) CHECK(done.error().code == Code::invalid_params);
  }
}

TEST_CASE("numbers that no type of ours can hold are still JSON") {
  CHECK(check_json("1e400"));
  CHECK(check_json("123456789012345678901234567890"));
  CHECK(check_json("[1.10,-0.0,1E-999]"));
}

TEST_CASE("JSON nested too deep is refused, however deep, and the next text is judged afresh") {
  CHECK(check_json(nested(kJsonDepthMax)));
  const auto deep = check_json(nested(kJsonDepthMax + 1));
  REQUIRE_FALSE(deep);
  CHECK(deep.error().message == "the JSON is nested deeper than 64 levels");
  CHECK_FALSE(check_json(nested(100'000)));
  CHECK_FALSE(check_json(std::string(2'000'000, '[')));
  CHECK_FALSE(check_json(nested(kJsonDepthMax + 1)));
  CHECK(check_json("[[1]]"));
}

TEST_CASE("a refusal says where the text went wrong") {
  CHECK(check_json("{\"a\":1,}").error().message == "the text is not valid JSON at byte 7");
  CHECK(check_json("[1").error().message == "the text is not valid JSON: it ends too early");
  CHECK(check_json("\xff").error().message == "the text is not valid JSON: it is not UTF-8");
}

TEST_CASE("a large text is judged like a small one") {
  const std::string large = "\"" + std::string(3'000'000, 'x') + "\"";
  CHECK(check_json(large));
  CHECK_FALSE(check_json(std::string_view(large).substr(0, large.size() - 1)));
  CHECK_FALSE(check_json(nested(kJsonDepthMax + 1)));
}

TEST_CASE("strings are escaped where JSON asks for it and nowhere else") {
  CHECK(written("plain / text \xc3\xa9 \xf0\x9f\x98\x80 \x7f") ==
        "\"plain / text \xc3\xa9 \xf0\x9f\x98\x80 \x7f\"");
  CHECK(written("\" \\ \n \r \t") == R"("\" \\ \n \r \t")");
  CHECK(written(std::string_view("\0\x1f\b", 3)) == R"("\u0000\u001f\u0008")");
}

TEST_CASE("an escape is found anywhere in a long text") {
  for (std::size_t size = 1; size < 40; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      for (const auto& [byte, escaped] :
           {std::pair{'"', "\\\""}, {'\\', "\\\\"}, {'\n', "\\n"}, {'\x1f', "\\u001f"}}) {
        std::string text(size, at % 2 ? '!' : '\x7f');
        text[at] = byte;
        const std::string expected = '"' + text.substr(0, at) + escaped + text.substr(at + 1) + '"';
        REQUIRE(written(text) == expected);
      }
    }
  }
}

TEST_CASE("bytes that are not UTF-8 become U+FFFD and the rest stays") {
  CHECK(written("a\xff"
                "b") ==
        "\"a\xef\xbf\xbd"
        "b\"");
  CHECK(written("\xc3") == "\"\xef\xbf\xbd\"");
  CHECK(written("\xe2\x82 \xc3\xa9\"") == "\"\xef\xbf\xbd\xef\xbf\xbd \xc3\xa9\\\"\"");
  for (const std::string_view bad :
       {"\xc0\xaf", "\xed\xa0\x80", "\xf8\x88\x80\x80", "\xf4\x90\x80\x80"})
    CHECK(check_json(written(bad)));
}

TEST_CASE("whole numbers are written in full") {
  std::string out;
  write_number(out, std::int64_t{-9'223'372'036'854'775'807 - 1});
  out += ' ';
  write_number(out, std::uint64_t{18'446'744'073'709'551'615U});
  CHECK(out == "-9223372036854775808 18446744073709551615");
}

TEST_CASE("a prefix never splits a character") {
  CHECK(utf8_prefix("abc", 3) == "abc");
  CHECK(utf8_prefix("abc", 2) == "ab");
  CHECK(utf8_prefix("a\xc3\xa9", 2) == "a");
  CHECK(utf8_prefix("\xf0\x9f\x98\x80", 3) == "");
  CHECK(utf8_prefix("", 0) == "");
}

TEST_CASE("an error has its code, its sentence and details where there are any") {
  std::string out;
  write_error(out, {Code::not_found, "no \"x\"", ""});
  CHECK(out == R"({"code":"not_found","message":"no \"x\""})");
  out.clear();
  write_error(out, {Code::conflict, "m", R"({"status":"running"})"});
  CHECK(out == R"({"code":"conflict","message":"m","details":{"status":"running"}})");
}

}  // namespace
}  // namespace agentrt::schema
