#include "cli/views/form_view.h"

#include <algorithm>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "schema/codec.h"
#include "schema/json_loose.h"

namespace agentrt::cli {
namespace {

using namespace schema;

// One entry of a list of titled choices.
struct TitledChoice {
  std::string const_;
  std::optional<std::string> title;
};
BOOST_DESCRIBE_STRUCT(TitledChoice, (), (const_, title))

// The places where a schema can list choices: in a member, or in the items of an array member.
// Strings only.
struct ChoiceLists {
  std::optional<std::vector<std::string>> enum_;
  std::optional<std::vector<std::string>> enum_names;
  std::optional<std::vector<TitledChoice>> one_of;
  std::optional<std::vector<TitledChoice>> any_of;
};
BOOST_DESCRIBE_STRUCT(ChoiceLists, (), (enum_, enum_names, one_of, any_of))

struct FormMember {
  std::optional<std::string> type;
  std::optional<std::string> title;
  std::optional<std::string> description;
  std::optional<Json> items;
};
BOOST_DESCRIBE_STRUCT(FormMember, (), (type, title, description, items))

struct FormSchema {
  std::optional<std::map<std::string, Json>> properties;
  std::optional<std::vector<std::string>> required;
};
BOOST_DESCRIBE_STRUCT(FormSchema, (), (properties, required))

// The form again, to keep the server's order of members.
struct FormText {
  std::optional<Json> properties;
};
BOOST_DESCRIBE_STRUCT(FormText, (), (properties))
struct NoMembers {};
BOOST_DESCRIBE_STRUCT(NoMembers, (), ())

template <class T>
T read(const Json& json) {
  T out;
  Met met;
  (void)read_loosely(json.text, out, met);
  return out;
}

std::vector<std::string> names_in_order(const Json& schema) {
  const auto text = read<FormText>(schema);
  NoMembers none;
  Met met;
  if (text.properties) (void)read_loosely(text.properties->text, none, met);
  return std::move(met.others);
}

std::vector<FormChoice> choices_in(const Json& schema) {
  const auto lists = read<ChoiceLists>(schema);
  std::vector<FormChoice> out;
  for (const auto* titled : {&lists.one_of, &lists.any_of})
    if (*titled && out.empty())
      for (const TitledChoice& each : **titled)
        out.push_back({each.const_, each.title.value_or(each.const_)});
  if (!out.empty() || !lists.enum_) return out;
  const bool named = lists.enum_names && lists.enum_names->size() == lists.enum_->size();
  for (std::size_t i = 0; i < lists.enum_->size(); ++i)
    out.push_back({(*lists.enum_)[i], named ? (*lists.enum_names)[i] : (*lists.enum_)[i]});
  return out;
}

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

std::string titles_of(const FormField& field) {
  std::string out;
  for (const FormChoice& choice : field.choices) out += (out.empty() ? "" : ", ") + choice.title;
  return out;
}

// Finds a choice by its number in the list, its title or its value.
const FormChoice* find_choice(const FormField& field, std::string_view text) {
  for (std::size_t i = 0; i < field.choices.size(); ++i)
    if (text == std::to_string(i + 1)) return &field.choices[i];
  auto at = std::ranges::find(field.choices, text, &FormChoice::title);
  if (at == field.choices.end()) at = std::ranges::find(field.choices, text, &FormChoice::value);
  return at == field.choices.end() ? nullptr : &*at;
}

Result<std::string> text_value(const FormField& field, std::string_view text) {
  if (field.choices.empty()) return to_json(std::string(text));
  if (const FormChoice* choice = find_choice(field, text)) return to_json(choice->value);
  return wrong(fmt::format("{} must be {} of {}", field.name,
                           field.takes_several() ? "some" : "one", titles_of(field)));
}

// Each choice may occur once. A single title may contain a comma.
Result<std::string> several_values(const FormField& field, std::string_view text) {
  if (find_choice(field, text)) {
    TRY_ASSIGN(const std::string one, text_value(field, text));
    return "[" + one + "]";
  }
  std::vector<std::string> values;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    TRY_ASSIGN(std::string value, text_value(field, trimmed(text.substr(0, comma))));
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (std::ranges::find(values, value) == values.end()) values.push_back(std::move(value));
  }
  return fmt::format("[{}]", fmt::join(values, ","));
}

// One value as JSON.
Result<std::string> value_of(const FormField& field, std::string_view text) {
  if (field.type == "boolean") {
    if (text == "true" || text == "yes" || text == "y") return "true";
    if (text == "false" || text == "no" || text == "n") return "false";
    return wrong(fmt::format("{} must be yes or no", field.name));
  }
  if (field.type == "integer" || field.type == "number") {
    if (is_number(text, field.type == "integer")) return std::string(text);
    return wrong(fmt::format("{} must be {}", field.name,
                             field.type == "integer" ? "a whole number" : "a number"));
  }
  return field.takes_several() ? several_values(field, text) : text_value(field, text);
}

std::string names_of(const std::vector<FormField>& fields) {
  std::string out;
  for (const FormField& field : fields) out += (out.empty() ? "" : ", ") + field.name;
  return out;
}

const FormField* find_field(const std::vector<FormField>& fields, std::string_view part) {
  const auto field =
      std::ranges::find(fields, trimmed(part.substr(0, part.find('='))), &FormField::name);
  return field == fields.end() ? nullptr : &*field;
}

// Removes `name=value` from the line. For a field that takes several values, text after a comma
// without a name belongs to the value.
std::string_view take_member(const std::vector<FormField>& fields, std::string_view& line) {
  const FormField* field = find_field(fields, line);
  std::size_t end = std::min(line.find(','), line.size());
  while (end < line.size() && field && field->takes_several()) {
    const std::size_t next = std::min(line.find(',', end + 1), line.size());
    if (line.substr(end, next - end).contains('=')) break;
    end = next;
  }
  const std::string_view part = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return part;
}

// Converts `name=value` to a member of the object.
Result<std::string> member_of(const std::vector<FormField>& fields, std::string_view part) {
  const std::size_t equals = part.find('=');
  if (equals == std::string_view::npos)
    return wrong(fmt::format("write {}=… for each value, separated by commas",
                             fields.empty() ? "name" : fields.front().name));
  const FormField* field = find_field(fields, part);
  if (!field)
    return wrong(fmt::format("there is no field {}; the server asks for {}",
                             trimmed(part.substr(0, equals)),
                             fields.empty() ? "nothing" : names_of(fields)));
  TRY_ASSIGN(const std::string value, value_of(*field, trimmed(part.substr(equals + 1))));
  return fmt::format("{}:{}", to_json(field->name), value);
}

}  // namespace

std::vector<FormField> form_fields(const Json& schema) {
  const auto form = read<FormSchema>(schema);
  if (!form.properties) return {};
  std::vector<FormField> fields;
  for (const std::string& name : names_in_order(schema)) {
    const auto found = form.properties->find(name);
    if (found == form.properties->end()) continue;
    const Json& json = found->second;
    const auto member = read<FormMember>(json);
    FormField field{name,
                    member.type.value_or("string"),
                    member.description.value_or(member.title.value_or("")),
                    {},
                    false};
    field.choices = choices_in(field.takes_several() ? member.items.value_or(Json{"{}"}) : json);
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
    if (!check_json(std::string(line)))
      return wrong("that starts like a JSON object but is not valid JSON");
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
    TRY_ASSIGN(const std::string member, member_of(fields, take_member(fields, line)));
    out += (out.empty() ? "" : ",") + member;
  }
  return Json{"{" + out + "}"};
}

}  // namespace agentrt::cli
