#include "adapters/mcp/content.h"

#include <array>

#include <fmt/format.h>

#include "base/base64.h"
#include "base/image.h"
#include "schema/arguments.h"
#include "schema/json_loose.h"

namespace agentrt::adapters {
namespace {

using ports::ToolEnd;
using schema::Json;

constexpr std::size_t kNameBytesMax = 512;  // of a resource's name, as shown

struct CallResult {
  std::optional<std::vector<Json>> content;
  std::optional<Json> structured_content;
  std::optional<bool> is_error;
};
BOOST_DESCRIBE_STRUCT(CallResult, (), (content, structured_content, is_error))

struct Resource {
  std::optional<std::string> uri;
  std::optional<std::string> mime_type;
  std::optional<std::string> text;
  std::optional<std::string> blob;
};
BOOST_DESCRIBE_STRUCT(Resource, (), (uri, mime_type, text, blob))

struct Block {
  std::string type;
  std::optional<std::string> text;
  std::optional<std::string> data;
  std::optional<std::string> mime_type;
  std::optional<std::string> uri;
  std::optional<std::string> name;
  std::optional<Resource> resource;
};
BOOST_DESCRIBE_STRUCT(Block, (), (type, text, data, mime_type, uri, name, resource))

ToolEnd failed(schema::Category category, std::string why) {
  ToolEnd end;
  end.failure = schema::Failure{category, std::move(why), false};
  return end;
}

// Images are known by their bytes, not by what the server says.
std::string media_type_of(std::string_view bytes, const std::string& declared) {
  if (const auto image = image_header(bytes)) return std::string(image->media_type);
  return is_image_type(declared) ? "application/octet-stream" : declared;
}

std::string shown(const std::optional<std::string>& text) {
  return std::string(schema::utf8_prefix(text.value_or("unnamed"), kNameBytesMax));
}

// Assembles the text and the refs of stored parts, piece by piece.
class Assembly {
 public:
  explicit Assembly(ports::OutputKeeper& keeper) : keeper_(keeper) {}

  Result<void> add(const Block& block) {
    if (block.type == "text") {
      add_line(block.text.value_or(""));
      return {};
    }
    if (block.type == "image" || block.type == "audio")
      return add_encoded(block.type, block.data.value_or(""),
                         block.mime_type.value_or("application/octet-stream"));
    if (block.type == "resource" && block.resource) return add_resource(*block.resource);
    if (block.type == "resource_link")
      add_line(fmt::format("[resource {}: {}]", shown(block.name), shown(block.uri)));
    else
      add_line(fmt::format("[content of unknown type {}]", shown(block.type)));
    return {};
  }
  void add_line(std::string_view line) {
    if (!text_.empty()) text_.push_back('\n');
    text_ += line;
  }
  bool empty() const { return text_.empty(); }

  Result<void> finish(ToolEnd& end) {
    const std::string_view cut = schema::utf8_prefix(text_, schema::kToolTextBytesMax);
    if (cut.size() < text_.size() || !outputs_.empty()) {
      TRY_ASSIGN(schema::KeptOutput whole, keeper_.keep_bytes(text_, {}));
      end.outputs.push_back(std::move(whole));
    }
    for (schema::KeptOutput& output : outputs_) end.outputs.push_back(std::move(output));
    end.text = cut;
    return {};
  }

 private:
  Result<void> add_resource(const Resource& resource) {
    const std::string what = fmt::format("resource {}", shown(resource.uri));
    if (resource.text)
      return add_bytes(what, *resource.text, resource.mime_type.value_or("text/plain"));
    return add_encoded(what, resource.blob.value_or(""),
                       resource.mime_type.value_or("application/octet-stream"));
  }

  Result<void> add_encoded(const std::string& what, std::string_view data,
                           const std::string& media_type) {
    const auto bytes = from_base64(data);
    if (bytes) return add_bytes(what, *bytes, media_type);
    add_line(fmt::format("[{} that is not base64]", what));
    return {};
  }

  Result<void> add_bytes(const std::string& what, std::string_view bytes,
                         const std::string& declared) {
    const std::string media_type = media_type_of(bytes, declared);
    TRY_ASSIGN(schema::KeptOutput kept,
               keeper_.keep_bytes(bytes, {.media_type = media_type, .whole_size = std::nullopt}));
    add_line(fmt::format("[{}, {}, {} bytes: output:{}]", what, media_type, bytes.size(),
                         kept.ref.text()));
    outputs_.push_back(std::move(kept));
    return {};
  }

  ports::OutputKeeper& keeper_;
  std::string text_;
  std::vector<schema::KeptOutput> outputs_;
};

Result<void> add_blocks(const std::vector<Json>& blocks, Assembly& assembly) {
  schema::Met met;
  for (std::size_t i = 0; i < blocks.size() && i < kMcpContentBlocksMax; ++i) {
    Block block;
    met.clear();
    (void)schema::read_loosely(blocks[i].text, block, met);
    TRY(assembly.add(block));
  }
  if (blocks.size() > kMcpContentBlocksMax)
    assembly.add_line(fmt::format("[{} more content items]", blocks.size() - kMcpContentBlocksMax));
  return {};
}

Result<ToolEnd> assembled(const CallResult& result, ports::OutputKeeper& keeper) {
  ToolEnd end;
  end.is_error = result.is_error.value_or(false);
  Assembly assembly(keeper);
  if (result.content) TRY(add_blocks(*result.content, assembly));
  if (result.structured_content) {
    if (assembly.empty()) assembly.add_line(result.structured_content->text);
    TRY_ASSIGN(end.structured,
               keeper.keep_bytes(result.structured_content->text,
                                 {.media_type = "application/json", .whole_size = std::nullopt}));
  }
  TRY(assembly.finish(end));
  return end;
}

}  // namespace

ToolEnd tool_end(const Json& result, const std::optional<Json>& output_schema,
                 ports::OutputKeeper& keeper) {
  CallResult read;
  schema::Met met;
  if (!schema::read_loosely(result.text, read, met) || (!read.content && !read.structured_content))
    return failed(schema::Category::provider, "the result of the MCP server has no content");
  if (output_schema && !read.is_error.value_or(false)) {
    if (!read.structured_content)
      return failed(schema::Category::provider,
                    "the result of the MCP server lacks the structured content that its output "
                    "schema requires");
    if (const auto wrong = schema::wrong_arguments(*output_schema, *read.structured_content))
      return failed(
          schema::Category::provider,
          fmt::format("the result of the MCP server does not match its output schema: {}", *wrong));
  }
  auto end = assembled(read, keeper);
  if (!end) return failed(schema::Category::unavailable, end.error().message);
  return *std::move(end);
}

}  // namespace agentrt::adapters
