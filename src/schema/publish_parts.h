// schema/publish_parts.h: the pieces that several published documents are put together from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schema/command.h"
#include "schema/json_schema.h"

namespace agentrt::schema {

// One command with the schemas of what it takes and gives.
struct CommandSchemas {
  CommandTraits traits;
  std::string params;
  std::string reply;
};
// `event_ref` is where the document at hand keeps the schema of an event.
std::vector<CommandSchemas> command_schemas(SchemaWriter& writer, std::string_view event_ref);

// The members of any event and which of them every event has, without the braces around them.
std::string envelope_schema_members();

// {"error": {"code": one of the closed list, "message": …, "details": {…}}}
std::string error_schema();

// "a", "b", "c": quoted and joined.
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

// ,"Name":{…} for each definition that the writer has gathered.
std::string definition_members(const SchemaWriter& writer);

}  // namespace agentrt::schema
