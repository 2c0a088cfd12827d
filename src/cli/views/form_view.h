// cli/views/form_view.h: renders the form of an MCP server's elicitation and parses the answer.
// Pure.
//
// The schema is a flat object. The user answers on one line: the plain value if there is one
// member, else `name=value, name=value`, or the JSON object itself. A choice is given by its number
// in the list, its title, or its value; several choices are separated by commas.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "schema/json.h"

namespace agentrt::cli {

struct FormChoice {
  std::string value;  // sent to the server
  std::string title;  // shown to the user

  bool operator==(const FormChoice&) const = default;
};

struct FormField {
  std::string name;
  std::string type;         // string, integer, number, boolean, array
  std::string description;  // or title
  std::vector<FormChoice> choices;
  bool required = false;

  bool takes_several() const { return type == "array"; }
};

// Empty if the schema has no members.
std::vector<FormField> form_fields(const schema::Json& schema);

// Converts the typed line to the object for the server. The error explains what is wrong.
Result<schema::Json> read_form(const std::vector<FormField>& fields, std::string_view line);

}  // namespace agentrt::cli
