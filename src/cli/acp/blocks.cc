#include "cli/acp/blocks.h"

#include <fmt/format.h>

#include "base/base64.h"
#include "schema/json_loose.h"

namespace agentrt::cli {
namespace {

struct Resource {
  std::string uri;
  std::optional<std::string> text;
  std::optional<std::string> blob;
  std::optional<std::string> mime_type;
};
BOOST_DESCRIBE_STRUCT(Resource, (), (uri, text, blob, mime_type))

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

std::unexpected<Error> wrong(std::string_view what) {
  return fail(Code::invalid_params, fmt::format("prompt: {}", what));
}

Result<PromptPart> stored(const std::optional<std::string>& data,
                          const std::optional<std::string>& media_type) {
  auto bytes = from_base64(data.value_or(""));
  if (!data || !bytes) return wrong("expected base64");
  return PromptPart{{}, media_type.value_or("application/octet-stream"), *std::move(bytes)};
}

Result<PromptPart> read_block(const Block& block) {
  if (block.type == "text" && block.text) return PromptPart{*block.text, {}, {}};
  if (block.type == "image") return stored(block.data, block.mime_type.value_or("image/png"));
  if (block.type == "resource_link" && block.uri)
    return PromptPart{fmt::format("[{}]({})", block.name.value_or(*block.uri), *block.uri), {}, {}};
  if (block.type == "resource" && block.resource) {
    const Resource& resource = *block.resource;
    if (resource.text)
      return PromptPart{
          fmt::format("<resource uri=\"{}\">\n{}\n</resource>", resource.uri, *resource.text),
          {},
          {}};
    return stored(resource.blob, resource.mime_type);
  }
  return wrong(
      fmt::format("a block of type {} is not supported, or lacks a member; this agent "
                  "takes text, image, resource and resource_link",
                  schema::utf8_prefix(block.type, 64)));
}

}  // namespace

Result<std::vector<PromptPart>> read_blocks(const std::vector<schema::Json>& blocks) {
  if (blocks.empty()) return wrong("expected at least one block");
  if (blocks.size() > kPromptPartsMax)
    return wrong(fmt::format("expected at most {} blocks", kPromptPartsMax));
  std::vector<PromptPart> out;
  for (const schema::Json& json : blocks) {
    Block block;
    schema::Met met;
    if (!schema::read_loosely(json.text, block, met)) return wrong("expected objects");
    TRY_ASSIGN(PromptPart part, read_block(block));
    out.push_back(std::move(part));
  }
  return out;
}

}  // namespace agentrt::cli
