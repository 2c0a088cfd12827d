#include "schema/json_member.h"

#include <simdjson.h>

namespace agentrt::schema {

std::optional<Json> member_of(std::string_view object, std::string_view name) {
  simdjson::dom::parser parser;
  simdjson::dom::element found;
  if (parser.parse(object.data(), object.size()).at_key(name).get(found) != simdjson::SUCCESS)
    return std::nullopt;
  return Json{simdjson::minify(found)};
}

}  // namespace agentrt::schema
