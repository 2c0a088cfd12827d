#include "adapters/web/page.h"

#include <doctest/doctest.h>

#include <fmt/format.h>

namespace agentrt::adapters {
namespace {

struct FakeKeeper final : ports::OutputKeeper {
  Result<schema::KeptOutput> keep_file(const std::string&, const ports::OutputMeta&) override {
    return fail(Code::unavailable, "no file is kept here");
  }
  Result<schema::KeptOutput> keep_bytes(std::string_view bytes,
                                        const ports::OutputMeta& meta) override {
    if (full) return fail(Code::storage_full, "the disk is full");
    kept.emplace_back(bytes);
    schema::KeptOutput out;
    out.ref = OutputRef{fmt::format("out_{}", kept.size())};
    out.size = bytes.size();
    out.media_type = meta.media_type;
    return out;
  }
  std::vector<std::string> kept;
  bool full = false;
};

WebResponse response(std::string type, std::string body) {
  WebResponse out;
  out.address = tools::read_web_address("https://a.org/x").value();
  out.head.status = 200;
  out.head.content_type = std::move(type);
  out.body = std::move(body);
  return out;
}

ports::ToolEnd end_of(const WebResponse& response, FakeKeeper& keeper,
                      const policy::Redactor* redactor = nullptr) {
  return page_end(response, "m4rk", {keeper, redactor, [] { return false; }});
}

constexpr std::string_view kPng = "\x89PNG\r\n\x1a\n....";

}  // namespace

TEST_CASE("a page is readable text between marked lines, with text and body behind refs") {
  FakeKeeper keeper;
  const auto end = end_of(response("text/html; charset=utf-8", "<h1>Hi</h1>"), keeper);
  REQUIRE_FALSE(end.failure);
  CHECK_FALSE(end.is_error);
  CHECK(end.text.starts_with("[https://a.org/x: status 200, text/html, 11 bytes."));
  CHECK(end.text.contains("untrusted"));
  CHECK(end.text.ends_with("]\n# Hi\n[end of web content m4rk: this is the complete text]\n"));
  REQUIRE(end.outputs.size() == 2);
  CHECK(end.outputs[0].ref.text() == "out_2");
  CHECK(keeper.kept == std::vector<std::string>{"<h1>Hi</h1>", end.text});
  CHECK(end.outputs[1].media_type == "text/html");
}

TEST_CASE("other text is kept, and a long one is cut at a line") {
  FakeKeeper keeper;
  std::string body;
  for (int i = 0; i < 10'000; ++i) body += fmt::format("line {}\n", i);
  const auto end = end_of(response("application/json", body), keeper);
  REQUIRE_FALSE(end.failure);
  CHECK(end.text.size() <= schema::kToolTextBytesMax);
  CHECK(end.text.size() > schema::kToolTextBytesMax - 100);
  CHECK(end.text.contains("\n[end of web content m4rk: these are the first "));
  CHECK(keeper.kept.at(1).contains("line 9999\n[end"));
}

TEST_CASE("an error status is an error result with the text of the server") {
  FakeKeeper keeper;
  WebResponse missing = response("text/plain", "no such page");
  missing.head.status = 404;
  const auto end = end_of(missing, keeper);
  CHECK(end.is_error);
  CHECK(end.text.contains("status 404"));
  CHECK(end.text.contains("no such page"));
}

TEST_CASE("images and other bytes are known by their bytes and stored, not shown") {
  FakeKeeper keeper;
  const auto image = end_of(response("text/html", std::string(kPng)), keeper);
  REQUIRE(image.outputs.size() == 1);
  CHECK(image.outputs[0].media_type == "image/png");
  CHECK(image.text.contains("image/png, 12 bytes, stored as output:out_1"));
  const auto archive = end_of(response("application/zip", std::string("PK\0\0", 4)), keeper);
  CHECK(archive.outputs[0].media_type == "application/zip");
  const auto odd = end_of(response("no \x1b[31m type", std::string("PK\0\0", 4)), keeper);
  CHECK(odd.outputs[0].media_type == "application/octet-stream");
  const auto html = end_of(response("", " <!DOCTYPE HTML><p>x"), keeper);
  CHECK(html.text.contains("\nx\n"));
}

TEST_CASE("a cut text is given with a note, and cut bytes are not stored") {
  FakeKeeper keeper;
  WebResponse cut = response("text/plain", "beginning");
  cut.cut = true;
  CHECK(end_of(cut, keeper).text.contains("the server has more, see maxBytes"));
  WebResponse image = response("image/png", std::string(kPng));
  image.cut = true;
  const auto end = end_of(image, keeper);
  REQUIRE(end.failure);
  CHECK(end.failure->message.contains("maxBytes"));
  CHECK(keeper.kept.size() == 2);
}

TEST_CASE("secrets are redacted, and a full disk fails the call") {
  FakeKeeper keeper;
  const policy::Redactor redactor{{{"KEY", "sesame-sesame"}}};
  const auto end = end_of(response("text/plain", "it is sesame-sesame"), keeper, &redactor);
  CHECK(end.text.contains("it is [redacted:KEY]"));
  keeper.full = true;
  const auto full = end_of(response("text/plain", "x"), keeper);
  REQUIRE(full.failure);
  CHECK(full.failure->message == "the disk is full");
}

}  // namespace agentrt::adapters
