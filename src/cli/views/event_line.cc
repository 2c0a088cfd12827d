#include "cli/views/event_line.h"

#include <algorithm>

#include <fmt/format.h>
#include <simdjson.h>

namespace agentrt::cli {
namespace {

constexpr std::size_t kTypeWidth = 28;
constexpr std::size_t kDepthMax = 2;

Paint paint_of(std::string_view type) {
  if (type.ends_with(".failed") || type.ends_with(".error") || type.ends_with("not_possible"))
    return Paint::red;
  if (type.ends_with(".warning") || type.ends_with(".blocked")) return Paint::yellow;
  if (type.ends_with(".completed")) return Paint::green;
  return Paint::cyan;
}

void add_value(std::string& out, const std::string& name, const simdjson::dom::element& value,
               std::size_t depth);

// Shows the values of an array of strings, or else the size of the array.
void add_array(std::string& out, const std::string& name, const simdjson::dom::array& array) {
  if (array.size() == 0) return;
  std::string words;
  for (const simdjson::dom::element element : array) {
    std::string_view text;
    if (element.get(text)) {
      out += fmt::format("{}[{}] ", name, array.size());
      return;
    }
    words += fmt::format("{}{}", words.empty() ? "" : ",", one_line(text));
  }
  out += fmt::format("{}={} ", name, words);
}

void add_object(std::string& out, const std::string& name, const simdjson::dom::object& object,
                std::size_t depth) {
  if (depth >= kDepthMax) {
    out += fmt::format("{}={{…}} ", name);
    return;
  }
  for (const auto field : object)
    add_value(out, fmt::format("{}.{}", name, one_line(field.key)), field.value, depth + 1);
}

void add_value(std::string& out, const std::string& name, const simdjson::dom::element& value,
               std::size_t depth) {
  switch (value.type()) {
    case simdjson::dom::element_type::OBJECT:
      return add_object(out, name, value.get_object().value_unsafe(), depth);
    case simdjson::dom::element_type::ARRAY:
      return add_array(out, name, value.get_array().value_unsafe());
    case simdjson::dom::element_type::STRING: {
      const std::string text = one_line(value.get_string().value_unsafe());
      const bool quoted = text.empty() || text.find(' ') != std::string::npos;
      out += quoted ? fmt::format("{}=\"{}\" ", name, text) : fmt::format("{}={} ", name, text);
      return;
    }
    default:
      out += fmt::format("{}={} ", name, simdjson::to_string(value));
  }
}

// Members that carry no information for a person.
bool dull(std::string_view name) {
  return name == "bootId" || name == "paramsHash" || name == "requestRef" || name == "visibility";
}

std::string members_of(const std::string& payload) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  simdjson::dom::object object;
  if (parser.parse(payload).get(root) || root.get(object)) return {};
  std::string out;
  for (const auto field : object)
    if (!dull(field.key)) add_value(out, one_line(field.key), field.value, 1);
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

}  // namespace

std::string event_line(const Envelope& event, std::size_t width, Colour colour) {
  const std::string time = format(event.timestamp).substr(11, 12);
  const std::string type = one_line(event.type);
  const std::string head = fmt::format("{:>6}  {}  ", event.sequence, time);
  const std::string padding(kTypeWidth > width_of(type) ? kTypeWidth - width_of(type) : 1, ' ');
  const std::size_t used = head.size() + width_of(type) + padding.size();
  const std::size_t left = width > used ? std::max<std::size_t>(width - used, 16) : 16;
  std::string line = paint(head, Paint::dim, colour) + paint(type, paint_of(type), colour);
  if (const std::string members = members_of(event.payload.text); !members.empty())
    line += padding + fit(members, left);
  return line;
}

}  // namespace agentrt::cli
