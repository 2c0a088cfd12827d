#include "schema/json_read.h"

namespace agentrt::schema::codec {

Result<std::string> raw_text(Value value) {
  simdjson::ondemand::json_type type;
  if (value.type().get(type)) return wrong(": the value is damaged");
  std::string_view text;
  if (type == simdjson::ondemand::json_type::object) {
    Object object;
    if (value.get_object().get(object) || object.raw_json().get(text))
      return wrong(": the object is damaged");
  } else if (type == simdjson::ondemand::json_type::array) {
    simdjson::ondemand::array array;
    if (value.get_array().get(array) || array.raw_json().get(text))
      return wrong(": the array is damaged");
  } else {
    text = value.raw_json_token();
  }
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  if (text.find_first_of("\n\r") == std::string_view::npos) return std::string(text);
  // Line ends between tokens would break a stream of JSON lines; numbers and strings stay as sent.
  std::string out(text.size() + simdjson::SIMDJSON_PADDING, '\0');
  std::size_t size = 0;
  if (simdjson::minify(text.data(), text.size(), out.data(), size))
    return wrong(": the value is damaged");
  out.resize(size);
  return out;
}

std::string allowed_names(std::string out, std::string_view name) {
  if (!out.empty()) out += ", ";
  out += name;
  return out;
}

simdjson::ondemand::parser& parser_of_thread() {
  thread_local simdjson::ondemand::parser parser;
  return parser;
}

simdjson::padded_string_view padded(std::string_view text) {
  constexpr std::size_t kKeptMax = std::size_t{1} << 20;
  thread_local std::string buffer;
  if (buffer.capacity() > kKeptMax && text.size() < kKeptMax) buffer = {};
  buffer.clear();
  buffer.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  buffer.append(text);
  return simdjson::padded_string_view(buffer.data(), buffer.size(), buffer.capacity());
}

}  // namespace agentrt::schema::codec
