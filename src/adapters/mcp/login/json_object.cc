#include "adapters/mcp/login/json_object.h"

#include <charconv>

#include <simdjson.h>

namespace agentrt::adapters {
namespace {

namespace dom = simdjson::dom;

// Some servers write numbers as strings.
std::optional<std::int64_t> whole_number(const dom::element& element) {
  std::int64_t whole = 0;
  if (element.get_int64().get(whole) == simdjson::SUCCESS) return whole;
  std::string_view text;
  if (element.get_string().get(text) != simdjson::SUCCESS) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return whole;
}

std::optional<std::vector<std::string>> text_list(const dom::element& element) {
  dom::array list;
  if (element.get_array().get(list) != simdjson::SUCCESS) return std::nullopt;
  std::vector<std::string> out;
  for (const dom::element each : list) {
    std::string_view text;
    if (each.get_string().get(text) != simdjson::SUCCESS) return std::nullopt;
    out.emplace_back(text);
  }
  return out;
}

}  // namespace

Result<JsonObject> JsonObject::read(std::string_view text) {
  dom::parser parser;
  dom::object object;
  if (parser.parse(text.data(), text.size()).get_object().get(object) != simdjson::SUCCESS)
    return fail(Code::invalid_params, "is not a JSON object");
  JsonObject out;
  for (const auto& [name, element] : object) {
    Value value;
    std::string_view word;
    bool flag = false;
    if (element.get_string().get(word) == simdjson::SUCCESS) value.text = std::string(word);
    value.texts = text_list(element);
    value.number = whole_number(element);
    value.is_true = element.get_bool().get(flag) == simdjson::SUCCESS && flag;
    out.values_.try_emplace(std::string(name), std::move(value));
  }
  return out;
}

const JsonObject::Value* JsonObject::find(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

std::string JsonObject::text(std::string_view name) const {
  const Value* const value = find(name);
  return value ? value->text.value_or("") : std::string();
}

std::optional<std::vector<std::string>> JsonObject::texts(std::string_view name) const {
  const Value* const value = find(name);
  return value ? value->texts : std::nullopt;
}

bool JsonObject::is_true(std::string_view name) const {
  const Value* const value = find(name);
  return value && value->is_true;
}

std::optional<std::int64_t> JsonObject::number(std::string_view name) const {
  const Value* const value = find(name);
  return value ? value->number : std::nullopt;
}

}  // namespace agentrt::adapters
