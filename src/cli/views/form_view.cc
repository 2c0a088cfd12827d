#include "cli/views/form_view.h"

#include <algorithm>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "schema/codec.h"

namespace agentrt::cli {
namespace {

using namespace schema;

struct FormMember {
  std::optional<std::string> type;
  std::optional<std::string> title;
  std::optional<std::string> description;
  std::optional<std::vector<std::string>> enum_;  // texts alone
};
BOOST_DESCRIBE_STRUCT(FormMember, (), (type, title, description, enum_))

struct FormSchema {
  std::optional<std::map<std::string, Json>> properties;
  std::optional<std::vector<std::string>> required;
};
BOOST_DESCRIBE_STRUCT(FormSchema, (), (properties, required))

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool is_number(std::string_view text, bool whole) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool digits = !whole || text.find_first_of(".eE") == std::string_view::npos;
  return error == std::errc{} && end == text.data() + text.size() && digits &&
         check_json(std::string(text)).has_value();
}

std::unexpected<Error> wrong(std::string sentence) {
  return fail(Code::invalid_params, std::move(sentence));
}

// One value as JSON.
Result<std::string> value_of(const FormField& field, std::string_view text) {
  if (field.type == "boolean") {
    if (text == "true" || text == "yes" || text == "y") return "true";
    if (text == "false" || text == "no" || text == "n") return "false";
    return wrong(fmt::format("{} is yes or no", field.name));
  }
  if (field.type == "integer" || field.type == "number") {
    if (is_number(text, field.type == "integer")) return std::string(text);
    return wrong(fmt::format("{} is {}", field.name,
                             field.type == "integer" ? "a whole number" : "a number"));
  }
  if (!field.choices.empty() && std::ranges::find(field.choices, text) == field.choices.end())
    return wrong(fmt::format("{} is one of {}", field.name, fmt::join(field.choices, ", ")));
  return to_json(std::string(text));
}

std::string names_of(const std::vector<FormField>& fields) {
  std::string out;
  for (const FormField& field : fields) out += (out.empty() ? "" : ", ") + field.name;
  return out;
}

// `name=value` as a member of the object.
Result<std::string> member_of(const std::vector<FormField>& fields, std::string_view part) {
  const std::size_t equals = part.find('=');
  if (equals == std::string_view::npos)
    return wrong(fmt::format("write {}=… for each value, with commas between them",
                             fields.empty() ? "name" : fields.front().name));
  const std::string_view name = trimmed(part.substr(0, equals));
  const auto field = std::ranges::find(fields, name, &FormField::name);
  if (field == fields.end())
    return wrong(fmt::format("{} is not asked for; the server asks for {}", name,
                             fields.empty() ? "nothing" : names_of(fields)));
  TRY_ASSIGN(const std::string value, value_of(*field, trimmed(part.substr(equals + 1))));
  return fmt::format("{}:{}", to_json(field->name), value);
}

}  // namespace

std::vector<FormField> form_fields(const Json& schema) {
  FormSchema form;
  if (!from_json(schema.text, form, Unknown::ignore) || !form.properties) return {};
  std::vector<FormField> fields;
  for (const auto& [name, json] : *form.properties) {
    FormMember member;
    (void)from_json(json.text, member, Unknown::ignore);
    FormField field{name,
                    member.type.value_or("string"),
                    member.description.value_or(member.title.value_or("")),
                    {},
                    false};
    field.choices = member.enum_.value_or(std::vector<std::string>{});
    if (form.required) field.required = std::ranges::count(*form.required, name) > 0;
    const auto behind =
        field.required ? std::ranges::find(fields, false, &FormField::required) : fields.end();
    fields.insert(behind, std::move(field));
  }
  return fields;
}

Result<Json> read_form(const std::vector<FormField>& fields, std::string_view line) {
  line = trimmed(line);
  if (line.starts_with('{')) {
    if (!check_json(std::string(line))) return wrong("that begins like a JSON object and is none");
    return Json{std::string(line)};
  }
  if (fields.size() == 1) {
    TRY_ASSIGN(const std::string value, value_of(fields.front(), line));
    return Json{fmt::format("{{{}:{}}}", to_json(fields.front().name), value)};
  }
  if (line.empty() && !fields.empty())
    return wrong(fmt::format("nothing was typed; the server asks for {}", names_of(fields)));
  std::string out;
  while (!line.empty()) {
    const std::size_t comma = std::min(line.find(','), line.size());
    TRY_ASSIGN(const std::string member, member_of(fields, line.substr(0, comma)));
    line.remove_prefix(std::min(comma + 1, line.size()));
    out += (out.empty() ? "" : ",") + member;
  }
  return Json{"{" + out + "}"};
}

}  // namespace agentrt::cli
