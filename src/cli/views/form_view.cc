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

// One value as JSON; nothing where it is not of the field's type.
std::optional<std::string> value_of(const FormField& field, std::string_view text) {
  if (field.type == "boolean") {
    if (text == "true" || text == "yes" || text == "y") return "true";
    if (text == "false" || text == "no" || text == "n") return "false";
    return std::nullopt;
  }
  if (field.type == "integer" || field.type == "number") {
    if (!is_number(text, field.type == "integer")) return std::nullopt;
    return std::string(text);
  }
  if (!field.choices.empty() && std::ranges::find(field.choices, text) == field.choices.end())
    return std::nullopt;
  return to_json(std::string(text));
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

std::optional<Json> read_form(const std::vector<FormField>& fields, std::string_view line) {
  line = trimmed(line);
  if (line.starts_with('{')) {
    if (!check_json(std::string(line))) return std::nullopt;
    return Json{std::string(line)};
  }
  if (fields.size() == 1) {
    const auto value = value_of(fields.front(), line);
    if (!value) return std::nullopt;
    return Json{fmt::format("{{{}:{}}}", to_json(fields.front().name), *value)};
  }
  std::string out;
  while (!line.empty()) {
    const std::size_t comma = std::min(line.find(','), line.size());
    const std::string_view part = line.substr(0, comma);
    line.remove_prefix(std::min(comma + 1, line.size()));
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const auto field = std::ranges::find(fields, trimmed(part.substr(0, equals)), &FormField::name);
    if (field == fields.end()) return std::nullopt;
    const auto value = value_of(*field, trimmed(part.substr(equals + 1)));
    if (!value) return std::nullopt;
    out += fmt::format("{}{}:{}", out.empty() ? "" : ",", to_json(field->name), *value);
  }
  if (out.empty() && !fields.empty()) return std::nullopt;
  return Json{"{" + out + "}"};
}

}  // namespace agentrt::cli
