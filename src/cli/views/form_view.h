// cli/views/form_view.h: what a server asks a person for, as questions and as the answer. Pure.
//
// The schema is a flat object; a person answers on one line: the value where there is one member,
// else `name=value, name=value`, or the JSON object itself. Of choices the number in the list is
// typed, or the title, or the constant that the server gets; of several, one after another with
// commas between them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "schema/json.h"

namespace agentrt::cli {

struct FormChoice {
  std::string value;  // what the server gets
  std::string title;  // what a person reads

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

// Empty where the schema names no members.
std::vector<FormField> form_fields(const schema::Json& schema);

// What was typed, as the object that the server gets; else a sentence about what is wrong with it.
Result<schema::Json> read_form(const std::vector<FormField>& fields, std::string_view line);

}  // namespace agentrt::cli
