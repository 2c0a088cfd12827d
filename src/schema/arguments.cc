#include "schema/arguments.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <re2/re2.h>
#include <simdjson.h>

namespace agentrt::schema {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::element_type;
using simdjson::dom::object;

using Wrong = std::optional<std::string>;

constexpr std::int64_t kPatternMemory = 1 << 20;
constexpr std::size_t kShownBytes = 64;  // of a value or a name quoted in a message
constexpr std::size_t kShownMax = 20;    // allowed values listed in a message

bool is_number(const element& value) {
  return value.is_int64() || value.is_uint64() || value.is_double();
}
double number_of(const element& value) { return value.get_double().value_unsafe(); }

bool is_whole(const element& value) {
  if (value.is_int64() || value.is_uint64()) return true;
  return value.is_double() && std::floor(number_of(value)) == number_of(value);
}

std::string_view kind_of(const element& value) {
  switch (value.type()) {
    case element_type::ARRAY:
      return "an array";
    case element_type::OBJECT:
      return "an object";
    case element_type::STRING:
      return "a string";
    case element_type::BOOL:
      return "true or false";
    case element_type::NULL_VALUE:
      return "null";
    default:
      return "a number";
  }
}

std::string_view expected_of(std::string_view type) {
  if (type == "array") return "an array";
  if (type == "object") return "an object";
  if (type == "string") return "a string";
  if (type == "boolean") return "true or false";
  if (type == "null") return "null";
  if (type == "integer") return "a whole number";
  return "a number";
}

bool is_of_type(const element& value, std::string_view type) {
  if (type == "array") return value.is_array();
  if (type == "object") return value.is_object();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_bool();
  if (type == "null") return value.is_null();
  if (type == "integer") return is_whole(value);
  if (type == "number") return is_number(value);
  return true;  // ignore an unknown type name
}

std::string shown(const element& value) {
  const std::string text = simdjson::minify(value);
  const std::string_view cut = utf8_prefix(text, kShownBytes);
  return std::string(cut) + (cut.size() < text.size() ? "…" : "");
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
}

std::string member_path(const std::string& path, std::string_view name) {
  const std::string_view cut = utf8_prefix(name, kShownBytes);
  return path.empty() ? std::string(cut) : fmt::format("{}.{}", path, cut);
}

Wrong wrong(const std::string& path, std::string_view what) {
  return fmt::format("{}: {}", path.empty() ? "the arguments" : path, what);
}

// Validates one value against one schema. Stops when its step limit is exceeded.
class Judge {
 public:
  explicit Judge(element root) : root_(root) {}

  Wrong judge(element schema, element value, const std::string& path) {
    if (++depth_ > kSchemaDepthMax || !step()) {
      --depth_;
      return exhausted();
    }
    Wrong found = judge_here(schema, value, path);
    --depth_;
    return found;
  }

 private:
  bool step() { return ++steps_ <= kSchemaStepsMax; }
  static Wrong exhausted() {
    return "the arguments: the schema of this tool is too complex to check them";
  }

  Wrong judge_here(element schema, element value, const std::string& path) {
    if (schema.is_bool())
      return schema.get_bool().value_unsafe() ? Wrong() : wrong(path, "no value is allowed here");
    object words;
    if (schema.get_object().get(words)) return {};
    if (auto found = judge_type(words, value, path)) return found;
    if (auto found = judge_values(words, value, path)) return found;
    if (is_number(value))
      if (auto found = judge_number(words, number_of(value), path)) return found;
    if (value.is_string())
      if (auto found = judge_text(words, value.get_string().value_unsafe(), path)) return found;
    if (value.is_array())
      if (auto found = judge_array(words, value.get_array().value_unsafe(), path)) return found;
    if (value.is_object())
      if (auto found = judge_object(words, value, path)) return found;
    return judge_joined(words, value, path);
  }

  Wrong judge_type(const object& words, element value, const std::string& path) {
    element type;
    if (words["type"].get(type)) return {};
    std::vector<std::string_view> allowed;
    std::string_view name;
    array names;
    if (!type.get_string().get(name)) allowed.push_back(name);
    if (!type.get_array().get(names))
      for (const element each : names)
        if (!each.get_string().get(name)) allowed.push_back(name);
    if (allowed.empty()) return {};
    std::string expected;
    for (const std::string_view each : allowed) {
      if (is_of_type(value, each)) return {};
      expected += fmt::format("{}{}", expected.empty() ? "" : " or ", expected_of(each));
    }
    return wrong(path, fmt::format("expected {}, but got {}", expected, kind_of(value)));
  }

  Wrong judge_values(const object& words, element value, const std::string& path) {
    element only;
    if (!words["const"].get(only) && !same(only, value))
      return wrong(path, fmt::format("must be {}", shown(only)));
    array values;
    if (words["enum"].get(values)) return {};
    std::string list;
    std::size_t count = 0;
    for (const element each : values) {
      if (!step()) return exhausted();
      if (same(each, value)) return {};
      if (++count <= kShownMax) list += fmt::format("{}{}", list.empty() ? "" : ", ", shown(each));
    }
    return wrong(path, fmt::format("must be one of {}{}", list, count > kShownMax ? ", …" : ""));
  }

  static Wrong judge_number(const object& words, double value, const std::string& path) {
    double bound = 0;
    if (!words["minimum"].get_double().get(bound) && value < bound)
      return wrong(path, fmt::format("must be at least {}", bound));
    if (!words["maximum"].get_double().get(bound) && value > bound)
      return wrong(path, fmt::format("must be at most {}", bound));
    if (!words["exclusiveMinimum"].get_double().get(bound) && value <= bound)
      return wrong(path, fmt::format("must be more than {}", bound));
    if (!words["exclusiveMaximum"].get_double().get(bound) && value >= bound)
      return wrong(path, fmt::format("must be less than {}", bound));
    if (!words["multipleOf"].get_double().get(bound) && bound > 0) {
      const double times = value / bound;
      if (std::abs(times - std::round(times)) > 1e-9 * std::max(1.0, std::abs(times)))
        return wrong(path, fmt::format("must be a multiple of {}", bound));
    }
    return {};
  }

  Wrong judge_text(const object& words, std::string_view text, const std::string& path) {
    std::uint64_t bound = 0;
    if (!words["minLength"].get_uint64().get(bound) && characters(text) < bound)
      return wrong(path, bound == 1 ? "must not be empty"
                                    : fmt::format("must have at least {} characters", bound));
    if (!words["maxLength"].get_uint64().get(bound) && characters(text) > bound)
      return wrong(path, fmt::format("must have at most {} characters", bound));
    std::string_view pattern;
    if (!words["pattern"].get_string().get(pattern) && !fits(pattern, text))
      return wrong(path, fmt::format("must match the pattern {}", pattern));
    return {};
  }

  // A pattern that RE2 cannot compile or that is too long matches everything.
  bool fits(std::string_view pattern, std::string_view text) {
    if (pattern.size() > kPatternBytesMax) return true;
    steps_ += pattern.size();
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(kPatternMemory);
    const RE2 expression(re2::StringPiece(pattern.data(), pattern.size()), options);
    return !expression.ok() ||
           RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), expression);
  }

  Wrong judge_array(const object& words, const array& values, const std::string& path) {
    std::uint64_t bound = 0;
    std::size_t size = 0;
    for ([[maybe_unused]] const element each : values) ++size;
    if (!words["minItems"].get_uint64().get(bound) && size < bound)
      return wrong(path, fmt::format("must have at least {} entries", bound));
    if (!words["maxItems"].get_uint64().get(bound) && size > bound)
      return wrong(path, fmt::format("must have at most {} entries", bound));
    bool unique = false;
    if (!words["uniqueItems"].get_bool().get(unique) && unique) {
      std::set<std::string> seen;
      for (const element each : values)
        if (!seen.insert(simdjson::minify(each)).second)
          return wrong(path, fmt::format("contains {} twice", shown(each)));
    }
    if (auto found = judge_entries(words, values, path)) return found;
    return judge_contains(words, values, path);
  }

  // Validates array items: the first ones by position, the rest by one schema. Older drafts spell
  // both `items`.
  Wrong judge_entries(const object& words, const array& values, const std::string& path) {
    const bool prefixed = words["prefixItems"].is_array();
    const bool listed = words["items"].is_array();
    std::vector<element> firsts;
    array list;
    if (prefixed || listed)
      if (!words[prefixed ? "prefixItems" : "items"].get(list))
        for (const element each : list) firsts.push_back(each);
    element rest;
    const bool has_rest = !words[listed ? "additionalItems" : "items"].get(rest);
    std::size_t at = 0;
    for (const element value : values) {
      const std::string here = fmt::format("{}[{}]", path, at);
      if (at < firsts.size()) {
        if (auto found = judge(firsts[at], value, here)) return found;
      } else if (has_rest) {
        if (auto found = judge(rest, value, here)) return found;
      }
      ++at;
    }
    return {};
  }

  Wrong judge_contains(const object& words, const array& values, const std::string& path) {
    element wanted;
    if (words["contains"].get(wanted)) return {};
    std::uint64_t least = 1, most = ~std::uint64_t{0}, count = 0;
    if (words["minContains"].get_uint64().get(least)) least = 1;
    if (words["maxContains"].get_uint64().get(most)) most = ~std::uint64_t{0};
    for (const element each : values)
      if (!judge(wanted, each, path)) ++count;
    if (count >= least && count <= most) return {};
    return wrong(path, "does not contain the required number of matching entries");
  }

  Wrong judge_object(const object& words, element value, const std::string& path) {
    const object members = value.get_object().value_unsafe();
    array names;
    if (!words["required"].get(names))
      if (auto found = judge_required(names, members, path)) return found;
    std::uint64_t bound = 0;
    if (!words["minProperties"].get_uint64().get(bound) && members.size() < bound)
      return wrong(path, fmt::format("must have at least {} members", bound));
    if (!words["maxProperties"].get_uint64().get(bound) && members.size() > bound)
      return wrong(path, fmt::format("must have at most {} members", bound));
    for (const auto& member : members)
      if (auto found = judge_member(words, member.key, member.value, path)) return found;
    return judge_dependent(words, value, path);
  }

  static Wrong judge_required(const array& names, const object& members, const std::string& path) {
    std::string_view name;
    for (const element each : names)
      if (!each.get_string().get(name) && members.at_key(name).error())
        return wrong(member_path(path, name), "is required and missing");
    return {};
  }

  Wrong judge_member(const object& words, std::string_view name, element value,
                     const std::string& path) {
    if (!step()) return exhausted();
    const std::string here = member_path(path, name);
    bool known = false;
    object schemas;
    element schema;
    if (!words["properties"].get(schemas) && !schemas.at_key(name).get(schema)) {
      known = true;
      if (auto found = judge(schema, value, here)) return found;
    }
    if (!words["patternProperties"].get(schemas))
      for (const auto& each : schemas) {
        if (!fits(each.key, name)) continue;
        known = true;
        if (auto found = judge(each.value, value, here)) return found;
      }
    if (!words["propertyNames"].get(schema))
      if (auto found = judge_name(schema, name, here)) return found;
    if (known || words["additionalProperties"].get(schema)) return {};
    if (schema.is_bool() && !schema.get_bool().value_unsafe())
      return wrong(here, "is not a known argument" + known_members(words));
    return judge(schema, value, here);
  }

  static std::string known_members(const object& words) {
    object schemas;
    if (words["properties"].get(schemas) || schemas.size() == 0) return "";
    std::string list;
    std::size_t count = 0;
    for (const auto& each : schemas)
      if (++count <= kShownMax)
        list += fmt::format("{}{}", list.empty() ? "" : ", ", utf8_prefix(each.key, kShownBytes));
    return fmt::format("; known ones are {}{}", list, count > kShownMax ? ", …" : "");
  }

  Wrong judge_name(element schema, std::string_view name, const std::string& path) {
    std::string quoted;
    write_string(quoted, name);
    simdjson::dom::parser parser;
    element text;
    if (parser.parse(quoted).get(text)) return {};
    return judge(schema, text, path);
  }

  Wrong judge_dependent(const object& words, element value, const std::string& path) {
    const object members = value.get_object().value_unsafe();
    for (const char* const word : {"dependentRequired", "dependentSchemas", "dependencies"}) {
      object rules;
      if (words[word].get(rules)) continue;
      for (const auto& rule : rules) {
        if (members.at_key(rule.key).error()) continue;
        array names;
        if (!rule.value.get(names)) {
          if (auto found = judge_required(names, members, path)) return found;
        } else if (auto found = judge(rule.value, value, path)) {
          return found;
        }
      }
    }
    return {};
  }

  // Applies the subschemas that describe the same value: $ref, allOf and the like.
  Wrong judge_joined(const object& words, element value, const std::string& path) {
    std::string_view reference;
    if (!words["$ref"].get_string().get(reference))
      if (const auto target = resolve(reference))
        if (auto found = judge(*target, value, path)) return found;
    array schemas;
    if (!words["allOf"].get(schemas))
      for (const element each : schemas)
        if (auto found = judge(each, value, path)) return found;
    if (!words["anyOf"].get(schemas))
      if (auto found = judge_any(schemas, value, path, ~std::size_t{0})) return found;
    if (!words["oneOf"].get(schemas))
      if (auto found = judge_any(schemas, value, path, 1)) return found;
    element schema;
    if (!words["not"].get(schema) && !judge(schema, value, path))
      return wrong(path, "matches a schema that is not allowed");
    if (words["if"].get(schema)) return {};
    const bool holds = !judge(schema, value, path);
    if (words[holds ? "then" : "else"].get(schema)) return {};
    return judge(schema, value, path);
  }

  Wrong judge_any(const array& schemas, element value, const std::string& path, std::size_t most) {
    std::size_t fitting = 0;
    std::string reasons;
    for (const element each : schemas) {
      const Wrong found = judge(each, value, path);
      if (!found)
        ++fitting;
      else if (reasons.size() < kWrongBytesMax)
        reasons += fmt::format("{}{}", reasons.empty() ? "" : "; or ", *found);
    }
    if (fitting == 0)
      return wrong(path, fmt::format("matches none of the allowed schemas ({})", reasons));
    if (fitting > most)
      return wrong(path, "matches more than one schema, but must match exactly one");
    return {};
  }

  // Resolves a JSON pointer within this schema; nullopt if it is missing or in another document.
  std::optional<element> resolve(std::string_view reference) {
    if (!reference.starts_with('#')) return std::nullopt;
    reference.remove_prefix(1);
    if (reference.empty()) return root_;
    element target;
    if (root_.at_pointer(reference).get(target)) return std::nullopt;
    return target;
  }

  // JSON equality: ignores the order of members and the spelling of numbers.
  bool same(element a, element b) {
    if (!step()) return false;
    if (is_number(a) && is_number(b)) return number_of(a) == number_of(b);
    if (a.type() != b.type()) return false;
    if (a.is_array()) {
      auto at = b.get_array().value_unsafe().begin();
      const auto end = b.get_array().value_unsafe().end();
      for (const element each : a.get_array().value_unsafe()) {
        if (at == end || !same(each, *at)) return false;
        ++at;
      }
      return !(at != end);
    }
    if (!a.is_object()) return simdjson::minify(a) == simdjson::minify(b);
    const object other = b.get_object().value_unsafe();
    const object members = a.get_object().value_unsafe();
    if (members.size() != other.size()) return false;
    return std::all_of(members.begin(), members.end(), [&](const auto& member) {
      element there;
      return !other.at_key(member.key).get(there) && same(member.value, there);
    });
  }

  element root_;
  std::size_t steps_ = 0;
  std::size_t depth_ = 0;
};

}  // namespace

std::optional<std::string> unusable_schema(const Json& schema) {
  simdjson::dom::parser parser;
  object words;
  if (parser.parse(schema.text).get(words)) return "its schema is not an object";
  std::string_view type;
  if (!words["type"].get_string().get(type) && type != "object")
    return fmt::format("its schema requires {} as arguments, but arguments are always an object",
                       expected_of(type));
  return {};
}

std::optional<std::string> wrong_arguments(const Json& schema, const Json& args) {
  simdjson::dom::parser schema_parser, value_parser;
  element root, value;
  if (schema_parser.parse(schema.text).get(root)) return "the schema of this tool is not JSON";
  if (value_parser.parse(args.text).get(value)) return "the arguments are not JSON";
  auto found = Judge(root).judge(root, value, "");
  if (found) found->resize(utf8_prefix(*found, kWrongBytesMax).size());
  return found;
}

}  // namespace agentrt::schema
