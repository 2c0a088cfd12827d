// schema/arguments.h: JSON against the JSON Schema of whoever takes it: the arguments of a tool
// before they are used, a result of a server before it is believed.
//
// Schemas come from strangers, so judging one takes bounded time and memory: patterns are matched
// in linear time (RE2), references are followed within the schema alone, and work and depth have
// limits. Judged are the words of draft 2020-12 and the older spellings that tools still use
// (definitions, items as a list, dependencies). Not judged, and so no reason to refuse: format and
// the other annotations, unevaluatedProperties, unevaluatedItems, $dynamicRef, references by
// anchor or to elsewhere, and patterns that RE2 does not know; the tool itself judges those.
//
// Pure; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "schema/json.h"

namespace agentrt::schema {

inline constexpr std::size_t kSchemaStepsMax = 200'000;  // words and values looked at, of one check
inline constexpr std::size_t kSchemaDepthMax = 128;      // of schemas within schemas
inline constexpr std::size_t kPatternBytesMax = 1'024;
inline constexpr std::size_t kWrongBytesMax = 1'024;

// Why arguments cannot be judged by it at all, as a sentence without its end: it is no schema of an
// object.
std::optional<std::string> unusable_schema(const Json& schema);

// What is wrong, for a model to mend: "files[0].path: expected a string, and this is a number".
// Nothing when they fit.
std::optional<std::string> wrong_arguments(const Json& schema, const Json& args);

}  // namespace agentrt::schema
