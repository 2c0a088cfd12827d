// Tests the conversion of an MCP call result into the end of a tool call.
#include "adapters/mcp/content.h"

#include <doctest/doctest.h>

#include <fmt/format.h>

using namespace agentrt;
using namespace agentrt::adapters;

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
    out.ref = OutputRef{fmt::format("r{}", kept.size())};
    out.size = bytes.size();
    out.media_type = meta.media_type;
    return out;
  }
  std::vector<std::string> kept;
  bool full = false;
};

}  // namespace

TEST_CASE("texts are joined, and short ones need no ref") {
  FakeKeeper keeper;
  const auto end = tool_end(
      {R"({"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"isError":true})"}, {},
      keeper);
  CHECK(!end.failure);
  CHECK(end.is_error);
  CHECK(end.text == "a\nb");
  CHECK(end.outputs.empty());
}

TEST_CASE("a long text is cut, with the whole behind the first ref") {
  FakeKeeper keeper;
  const std::string text(schema::kToolTextBytesMax + 100, 'x');
  const auto end =
      tool_end({fmt::format(R"({{"content":[{{"type":"text","text":"{}"}}]}})", text)}, {}, keeper);
  CHECK(end.text.size() == schema::kToolTextBytesMax);
  REQUIRE(end.outputs.size() == 1);
  CHECK(keeper.kept[0] == text);
}

TEST_CASE("images and resources are kept behind refs, each with a line in the text") {
  FakeKeeper keeper;
  const auto end =
      tool_end({R"({"content":[{"type":"text","text":"see"},)"
                R"({"type":"image","data":"aGVsbG8=","mimeType":"image/png"},)"
                R"({"type":"image","data":"R0lGODlhAgEDACBwaXhlbHM7","mimeType":"image/png"},)"
                R"({"type":"resource","resource":{"uri":"x://1","text":"words"}},)"
                R"({"type":"resource","resource":{"uri":"x://2","blob":"AAE","mimeType":"a/b"}},)"
                R"({"type":"resource_link","uri":"x://3","name":"three"},)"
                R"({"type":"audio","data":"!"},{"type":"hologram"}]})"},
               {}, keeper);
  CHECK(end.text ==
        "see\n[image, application/octet-stream, 5 bytes: output:r1]\n[image, image/gif, 18 bytes: "
        "output:r2]\n[resource x://1, text/plain, 5 bytes: output:r3]\n[resource x://2, a/b, 2 "
        "bytes: output:r4]\n[resource three: x://3]\n[audio that is not base64]\n[content of "
        "unknown type hologram]");
  REQUIRE(end.outputs.size() == 5);
  CHECK(keeper.kept == std::vector<std::string>{"hello", std::string("GIF89a\2\1\3\0 pixels;", 18),
                                                "words", std::string("\0\1", 2), end.text});
  CHECK(end.outputs[0].ref.text() == "r5");  // the full text comes first
  CHECK(end.outputs[1].media_type == "application/octet-stream");
  CHECK(end.outputs[2].media_type == "image/gif");
}

TEST_CASE("structured content is kept and held to what the tool promises") {
  FakeKeeper keeper;
  const schema::Json promise{R"({"type":"object","properties":{"n":{"type":"integer"}}})"};
  const auto end = tool_end({R"({"structuredContent":{"n":1}})"}, promise, keeper);
  REQUIRE(end.structured);
  CHECK(end.structured->media_type == "application/json");
  CHECK(end.text == R"({"n":1})");
  CHECK(tool_end({R"({"structuredContent":{"n":"x"}})"}, promise, keeper).failure->message ==
        "the result of the MCP server does not match its output schema: n: expected a whole "
        "number, but got a string");
  CHECK(tool_end({R"({"content":[]})"}, promise, keeper).failure);
  CHECK(!tool_end({R"({"content":[],"isError":true})"}, promise, keeper).failure);
  CHECK(tool_end({R"({"contents":[]})"}, {}, keeper).failure);
}

TEST_CASE("a full disk is a failure of the call, and many pieces are counted") {
  FakeKeeper keeper;
  std::string pieces;
  for (std::size_t i = 0; i < kMcpContentBlocksMax + 3; ++i)
    pieces += fmt::format(R"({}{{"type":"text","text":"."}})", i == 0 ? "" : ",");
  const auto end = tool_end({fmt::format(R"({{"content":[{}]}})", pieces)}, {}, keeper);
  CHECK(end.text.ends_with("[3 more content items]"));
  keeper.full = true;
  CHECK(tool_end({R"({"structuredContent":{}})"}, {}, keeper).failure->message ==
        "the disk is full");
}
