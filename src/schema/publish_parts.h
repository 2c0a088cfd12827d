// schema/publish_parts.h: building blocks shared by several published documents.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schema/command.h"
#include "schema/json_schema.h"

namespace agentrt::schema {

// One command with the schemas of its params and reply.
struct CommandSchemas {
  CommandTraits traits;
  std::string params;
  std::string reply;
};
// `event_ref` is the $ref of the event schema in the current document.
std::vector<CommandSchemas> command_schemas(SchemaWriter& writer, std::string_view event_ref);

// The members that an event may have and must have, without the enclosing braces.
std::string envelope_schema_members();

// {"error": {"code": one of the closed list, "message": …, "details": {…}}}
std::string error_schema();

// Quotes the words and joins them: "a", "b", "c".
template <class Words>
std::string quoted(const Words& words) {
  std::string out;
  for (const auto& word : words) {
    if (!out.empty()) out += ',';
    out += '"';
    out += word;
    out += '"';
  }
  return out;
}

// ,"Name":{…} for each definition that the writer has collected.
std::string definition_members(const SchemaWriter& writer);

}  // namespace agentrt::schema
