#include "schema/json_members.h"

#include <functional>
#include <set>

#include <simdjson.h>

namespace agentrt::schema {

std::optional<std::string> repeated_member(std::string_view text) {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parser.parse(text.data(), text.size()).get(object)) return std::nullopt;
  std::set<std::string_view, std::less<>> seen;
  for (const auto field : object)
    if (!seen.insert(field.key).second) return std::string(field.key);
  return std::nullopt;
}

}  // namespace agentrt::schema
