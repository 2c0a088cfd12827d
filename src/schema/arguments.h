// schema/arguments.h: validates JSON against a JSON Schema: the arguments of a tool call before
// they are used, and the structured result of an MCP server before it is accepted.
//
// Schemas come from untrusted servers, so validation takes bounded time and memory: patterns are
// matched in linear time (RE2), references are resolved only within the schema, and steps and depth
// are limited. Supported are the keywords of draft 2020-12 and older spellings that tools still use
// (definitions, items as a list, dependencies). Ignored, so never a reason to reject: format and
// the other annotations, unevaluatedProperties, unevaluatedItems, $dynamicRef, references by anchor
// or to other documents, and patterns that RE2 does not support. The tool itself must check those.
//
// Pure; callable from any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "schema/json.h"

namespace agentrt::schema {

// keywords and values visited per validation
inline constexpr std::size_t kSchemaStepsMax = 200'000;
inline constexpr std::size_t kSchemaDepthMax = 128;  // nesting of schemas
inline constexpr std::size_t kPatternBytesMax = 1'024;
inline constexpr std::size_t kWrongBytesMax = 1'024;

// Why `schema` cannot be used for arguments, as a sentence without a full stop. nullopt if it is a
// usable schema of an object.
std::optional<std::string> unusable_schema(const Json& schema);

// The first violation, worded so that a model can correct it: "files[0].path: expected a string,
// and this is a number". nullopt if the arguments are valid. At most kWrongBytesMax bytes.
std::optional<std::string> wrong_arguments(const Json& schema, const Json& args);

}  // namespace agentrt::schema
