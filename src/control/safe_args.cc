#include "control/safe_args.h"

#include <algorithm>

#include <fmt/format.h>

#include "schema/json.h"

namespace agentrt::control {

using namespace schema;

namespace {

// Copies the JSON text, and passes the content of each string, without its quotes, through
// `change`. REQUIRES: `json` is valid.
template <class Change>
std::string with_strings(std::string_view json, const Change& change) {
  std::string out;
  for (std::size_t at = 0; at < json.size();) {
    const std::size_t open = std::min(json.find('"', at), json.size());
    out += json.substr(at, open - at);
    if (open == json.size()) break;
    std::size_t end = open + 1;
    while (end < json.size() && json[end] != '"') end += json[end] == '\\' ? 2 : 1;
    end = std::min(end, json.size());
    out += '"';
    out += change(json.substr(open + 1, end - open - 1));
    out += '"';
    at = end + 1;
  }
  return out;
}

std::string inside_of(std::string_view text) {
  std::string quoted;
  write_string(quoted, text);
  return quoted.substr(1, quoted.size() - 2);
}

std::string shortened(std::string_view inside) {
  if (inside.size() <= kShownTextBytesMax) return std::string(inside);
  // Cut the decoded text, so that no escape sequence is split.
  return inside_of(unescaped(utf8_prefix(inside, kShownTextBytesMax))) +
         fmt::format("… ({} bytes)", inside.size());
}

// One way to write each string. Secrets are searched for as they are written this way.
std::string canonical(std::string_view json) {
  if (!json.contains("\\u")) return std::string(json);
  return with_strings(json, [](std::string_view inside) { return inside_of(unescaped(inside)); });
}

}  // namespace

Json safe_args(const Json& args) {
  if (args.text.size() <= kSafeArgsBytesMax) return args;
  Json out{with_strings(args.text, shortened)};
  return out.text.size() <= kSafeArgsBytesMax ? out : Json{"{}"};
}

void add_full_args(Facts& facts, const ToolScope& call, const Json& args) {
  const std::string text = canonical(args.text);
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view part = utf8_prefix(rest, kArgsDeltaBytesMax);
    if (part.empty()) part = rest.substr(0, kArgsDeltaBytesMax);  // not valid UTF-8
    facts.add(call, ToolArgs{std::string(part)});
    rest.remove_prefix(part.size());
  }
}

}  // namespace agentrt::control
