#include "policy/redaction.h"

#include <chrono>
#include <random>

#include <doctest/doctest.h>

namespace agentrt::policy {
namespace {

const std::string kValue = "sk-live/4f9a\"2b\\8c";
const std::string kOther = "hunter2hunter2";

Redactor two() { return Redactor{{{"API_KEY", kValue}, {"PASSWORD", kOther}}}; }

std::string streamed(const Redactor& redactor, std::string_view text, std::size_t piece) {
  RedactingStream stream(&redactor);
  std::string out;
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size())))
    stream.put(text.substr(0, piece), out);
  stream.finish(out);
  return out;
}

}  // namespace

TEST_CASE("a value is replaced by its name wherever it stands") {
  const Redactor redactor = two();
  CHECK(redactor.redact("a " + kValue + " b") == "a [redacted:API_KEY] b");
  CHECK(redactor.redact(kOther + kValue) == "[redacted:PASSWORD][redacted:API_KEY]");
  CHECK_FALSE(redactor.redact("a " + kValue.substr(1) + " b"));
  CHECK(redactor.holds("x" + kOther));
}

TEST_CASE("secrets can be added; a stream keeps those that it began with") {
  Redactor redactor = two();
  RedactingStream before(&redactor);
  redactor.add({{"LATER", "added-later-1"}, {"AGAIN", kOther}});
  CHECK(redactor.redact("added-later-1 " + kOther) == "[redacted:LATER] [redacted:PASSWORD]");
  CHECK(redactor.redact_json(R"({"a":"added-later-1"})") == R"({"a":"[redacted:LATER]"})");
  CHECK(streamed(redactor, "an added-later-1 text", 3) == "an [redacted:LATER] text");
  std::string out;
  before.put("added-later-1 " + kOther, out);
  before.finish(out);
  CHECK(out == "added-later-1 [redacted:PASSWORD]");
}

TEST_CASE("short values, repeated ones and line ends are not secrets of their own") {
  const Redactor redactor{{{"SHORT", "1234567"}, {"A", "12345678\n"}, {"B", "12345678"}}};
  CHECK_FALSE(redactor.holds("1234567 "));
  CHECK(redactor.redact("12345678") == "[redacted:A]");
  CHECK(Redactor{}.empty());
  CHECK_FALSE(Redactor{}.redact(kValue));
  CHECK_FALSE(Redactor{}.redact_json("\"" + kOther + "\""));
}

TEST_CASE("base64 of a value is found at every alignment and in both alphabets") {
  // The base64 of "hunter2hunter2" after 0, 1 and 2 other bytes.
  const Redactor redactor = two();
  for (const std::string text :
       {"aHVudGVyMmh1bnRlcjI=", "eGh1bnRlcjJodW50ZXIy", "eHhodW50ZXIyaHVudGVyMg=="}) {
    CAPTURE(text);
    const auto out = redactor.redact(text);
    REQUIRE(out);
    CHECK(out->contains("[redacted:PASSWORD]"));
  }
  const Redactor odd{{{"ODD", "\xfb\xff\xfe\xfb\xff\xfe\xfb\xff\xfe"}}};
  CHECK(odd.holds("+//++//++//+"));
  CHECK(odd.holds("-__--__--__-"));
}

TEST_CASE("in JSON only strings count, in any spelling") {
  const Redactor redactor{{{"NUMBER", "12345678"}, {"PATH_KEY", "abc/def/ghi"}, {"Q", kValue}}};
  CHECK_FALSE(redactor.redact_json(R"({"size":12345678})"));
  CHECK(redactor.redact_json(R"({"size":12345678,"text":"x12345678"})") ==
        R"({"size":12345678,"text":"x[redacted:NUMBER]"})");
  CHECK(redactor.redact_json(R"({"t":"abc\/def\/ghi"})") == R"({"t":"[redacted:PATH_KEY]"})");
  CHECK(redactor.redact_json(R"({"t":"\u0061bc/d\u0065f/ghi"})") ==
        R"({"t":"[redacted:PATH_KEY]"})");
  CHECK(redactor.redact_json(R"({"12345678":1})") == R"({"[redacted:NUMBER]":1})");
  CHECK(redactor.redact_json(R"(["sk-live/4f9a\"2b\\8c\n"])") == R"(["[redacted:Q]\n"])");
  // Nested JSON: the value is escaped twice.
  CHECK(redactor.redact_json(R"(["{\"k\":\"sk-live/4f9a\\\"2b\\\\8c\"}"])") ==
        R"(["{\"k\":\"[redacted:Q]\"}"])");
  CHECK_FALSE(redactor.redact_json(R"({"t":"\ud83d\ude00 \u00e9 \/ nothing"})"));
}

TEST_CASE("a member's name that is a word stays, and a kept string stays") {
  const Redactor redactor{{{"WORD", "threadId"}}};
  CHECK_FALSE(redactor.redact_json(R"({"threadId":"t"})"));
  CHECK(redactor.redact_json(R"({"threadId":"threadId","a":"threadId"})", [](std::size_t i) {
    return i == 0;
  }) == R"({"threadId":"threadId","a":"[redacted:WORD]"})");
}

TEST_CASE("values that overlap leave nothing of either") {
  const Redactor redactor{{{"A", "abcdefgh"}, {"B", "efghijkl"}, {"LONG", "abcdefghij"}}};
  CHECK(redactor.redact("-abcdefghijkl-") == "-[redacted:LONG]-");
  CHECK(redactor.redact("abcdefgh") == "[redacted:A]");
}

TEST_CASE("a stream gives what the whole gives, however it is cut") {
  const Redactor redactor{{{"A", "abababab"}, {"B", "babababa-"}, {"C", "aaaaaaaaaa"}}};
  std::mt19937 random(7);
  for (int round = 0; round < 2'000; ++round) {
    std::string text;
    const std::size_t size = random() % 60;
    for (std::size_t i = 0; i < size; ++i) text += "aab-"[random() % 4];
    const std::string whole = redactor.redact(text).value_or(text);
    for (const std::size_t piece : {1, 2, 3, 7, 16}) {
      CAPTURE(text);
      CAPTURE(piece);
      REQUIRE(streamed(redactor, text, piece) == whole);
    }
  }
}

TEST_CASE("a stream holds back no more than the beginning of a secret") {
  const Redactor redactor = two();
  RedactingStream stream(&redactor);
  std::string out;
  stream.put("plain text", out);
  CHECK(out == "plain text");
  stream.put(" hunter2", out);
  CHECK(out == "plain text ");
  stream.put("hunter2!", out);
  CHECK(out == "plain text [redacted:PASSWORD]!");
  CHECK(stream.names() == std::vector<std::string>{"PASSWORD"});
  const Redactor ones{{{"ONES", std::string(20, '1')}}};
  RedactingStream endless(&ones);
  std::string all;
  for (int i = 0; i < 1'000; ++i) endless.put(std::string(100, '1'), all);
  endless.finish(all);
  CHECK(all == "[redacted:ONES]");
}

TEST_CASE("looking through a payload costs little, and next to nothing without secrets") {
  const std::string payload =
      R"({"text":")" + std::string(200, 'x') + R"( a plain sentence of a model, with words"})";
  const auto cost = [&](const Redactor& redactor) {
    constexpr int kRounds = 20'000;
    std::size_t found = 0;
    const auto before = std::chrono::steady_clock::now();
    for (int i = 0; i < kRounds; ++i) found += redactor.redact_json(payload).has_value();
    const auto took = std::chrono::steady_clock::now() - before;
    CHECK(found == 0);
    return static_cast<double>(std::chrono::nanoseconds(took).count()) / kRounds;
  };
  // Generous limits, because the machine may be busy. The measured times are printed.
  const double none = cost(Redactor{});
  const double some = cost(two());
  MESSAGE("without secrets ", none, " ns a payload, with two ", some, " ns");
  CHECK(none < 1'000);
  CHECK(some < 20'000);
}

TEST_CASE("of passing secrets the newest are known, and of the others all") {
  Redactor redactor{{{"API_KEY", kOther}}};
  for (std::size_t i = 0; i <= kPassingSecretsMax; ++i)
    redactor.add_passing({"login", "token-number-" + std::to_string(i) + "."});
  CHECK(!redactor.redact("token-number-0."));
  CHECK(redactor.redact("token-number-1.") == "[redacted:login]");
  CHECK(redactor.redact("token-number-" + std::to_string(kPassingSecretsMax) + ".") ==
        "[redacted:login]");
  CHECK(redactor.redact(kOther) == "[redacted:API_KEY]");
}

}  // namespace agentrt::policy
