#include "adapters/mcp/tools_page.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "adapters/mcp/tool_names.h"
#include "schema/arguments.h"
#include "schema/json_loose.h"

namespace agentrt::adapters {
namespace {

struct Page {
  std::optional<std::vector<schema::Json>> tools;
  std::optional<std::string> next_cursor;
};
BOOST_DESCRIBE_STRUCT(Page, (), (tools, next_cursor))

struct Hints {
  std::optional<bool> read_only_hint;
  std::optional<bool> destructive_hint;
};
BOOST_DESCRIBE_STRUCT(Hints, (), (read_only_hint, destructive_hint))

struct Members {
  std::string name;
  std::optional<std::string> title;
  std::optional<std::string> description;
  std::optional<schema::Json> input_schema;
  std::optional<schema::Json> output_schema;
  std::optional<Hints> annotations;
};
BOOST_DESCRIBE_STRUCT(Members, (),
                      (name, title, description, input_schema, output_schema, annotations))

struct SchemaWords {
  std::map<std::string, schema::Json> all;
};
BOOST_DESCRIBE_STRUCT(SchemaWords, (), (all))

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

bool is_wanted(const McpServer& server, const std::string& name) {
  return (!server.tools || has(*server.tools, name)) && !has(server.disabled_tools, name);
}

std::string cut(std::string text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  constexpr std::string_view kMore = "…";
  text.resize(schema::utf8_prefix(text, bytes_max - kMore.size()).size());
  return text + std::string(kMore);
}

// Providers reject a whole request if a tool's schema is not of type object or lacks `properties`,
// even an empty one.
schema::Json offered_schema(const schema::Json& said) {
  SchemaWords words;
  if (!schema::from_json(fmt::format(R"({{"all":{}}})", said.text), words, schema::Unknown::ignore))
    return said;
  schema::Json& type = words.all["type"];
  schema::Json& properties = words.all["properties"];
  const bool says_type = type.text == R"("object")", says_properties = properties.text[0] == '{';
  if (says_type && says_properties) return said;
  if (!says_type) type.text = R"("object")";
  if (!says_properties) properties.text = "{}";
  return {schema::to_json(words.all)};
}

McpTool tool_of(Members&& members, std::string offered_as) {
  McpTool tool;
  tool.name = std::move(members.name);
  tool.offered_as = std::move(offered_as);
  tool.description = cut(members.description ? *std::move(members.description)
                                             : std::move(members.title).value_or(tool.name),
                         kMcpDescriptionBytesMax);
  tool.input_schema = *std::move(members.input_schema);
  tool.offered_schema = offered_schema(tool.input_schema);
  tool.output_schema = std::move(members.output_schema);
  const Hints hints = members.annotations.value_or(Hints{});
  tool.read_only = hints.read_only_hint.value_or(false);
  tool.destructive = !tool.read_only && hints.destructive_hint.value_or(true);
  return tool;
}

void add_tool(const schema::Json& json, const McpServer& server, McpToolList& list) {
  Members members;
  schema::Met met;
  if (!schema::read_loosely(json.text, members, met) || members.name.empty())
    return list.leave_out("a tool", "it has no name");
  const std::string name = members.name;
  if (!is_wanted(server, name)) return;
  if (!members.input_schema) return list.leave_out(name, "it has no input schema");
  if (members.input_schema->text.size() > kMcpSchemaBytesMax)
    return list.leave_out(
        name, fmt::format("its input schema is larger than {} bytes", kMcpSchemaBytesMax));
  if (const auto why = schema::unusable_schema(*members.input_schema))
    return list.leave_out(name, *why);
  if (list.tools.size() >= kMcpToolsMax)
    return list.leave_out(name, fmt::format("the server has more than {} tools", kMcpToolsMax));
  std::string offered_as = mcp_tool_name(mcp_server_part(server.name), name);
  if (list.find(offered_as) != nullptr)
    return list.leave_out(name, "another tool of the server already has this name");
  list.tools.push_back(tool_of(std::move(members), std::move(offered_as)));
}

}  // namespace

const McpTool* McpToolList::find(std::string_view offered_as) const {
  const auto at = std::ranges::find(tools, offered_as, &McpTool::offered_as);
  return at == tools.end() ? nullptr : &*at;
}

void McpToolList::leave_out(std::string_view name, std::string_view why) {
  if (++left_out_count <= kMcpLeftOutMax)
    left_out.push_back(
        fmt::format("{} ({})", schema::utf8_prefix(name, kProviderNameBytesMax), why));
}

std::optional<std::string> McpToolList::missing() const {
  if (left_out_count == 0) return std::nullopt;
  std::string more;
  if (left_out_count > left_out.size())
    more = fmt::format("; and {} more", left_out_count - left_out.size());
  return fmt::format("omitted: {}{}", fmt::join(left_out, "; "), more);
}

Result<std::optional<std::string>> add_page(const schema::Json& page, const McpServer& server,
                                            McpToolList& list) {
  Page read;
  schema::Met met;
  if (!schema::read_loosely(page.text, read, met) || !read.tools)
    return fail(Code::invalid_params, "its answer to tools/list is not a list of tools");
  for (const schema::Json& tool : *read.tools) add_tool(tool, server, list);
  if (read.next_cursor && read.next_cursor->empty()) read.next_cursor.reset();
  return std::move(read.next_cursor);
}

// A server's annotations are hints: they affect how a tool is shown and scheduled, never whether
// the user is asked for approval.
schema::CatalogTool catalog_tool(const McpTool& tool, const McpServer& server) {
  return {.tool_name = tool.offered_as,
          .description = tool.description,
          .input_schema = tool.offered_schema,
          .capabilities = {"mcp"},
          .policy = "asked",
          .runtime_owner = fmt::format("mcp:{}", server.name),
          .is_read_only = tool.read_only,
          .is_concurrency_safe = tool.read_only,
          .is_destructive = tool.destructive,
          .interrupt_behavior = "cancel"};
}

}  // namespace agentrt::adapters
