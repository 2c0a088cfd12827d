// schema/argument_schema.h: generates the JSON Schema of a tool's arguments from the struct that
// decodes them and one line of text per argument.
//
// The struct gives name, type and whether the argument is required; the text is the description for
// the model. If an argument has no text, or a text has no argument, the process aborts the first
// time the schema is generated.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "base/check.h"
#include "schema/codec.h"

namespace agentrt::schema {

struct Argument {
  std::string_view name;         // wire name
  std::string_view limits;       // further members of the argument's schema, such as "minLength":1
  std::string_view description;  // meaning, unit, default, an example where the format matters
};

namespace codec {

template <class T>
std::string_view argument_type() {
  if constexpr (kIs<T, std::optional>)
    return argument_type<typename T::value_type>();
  else if constexpr (std::is_same_v<T, std::string>)
    return "string";
  else if constexpr (std::is_same_v<T, bool>)
    return "boolean";
  else if constexpr (std::is_integral_v<T>)
    return "integer";
  else if constexpr (kIs<T, std::vector>)
    return "array";
  else
    static_assert(false, "an argument is a string, a boolean, a whole number or an array");
}

}  // namespace codec

template <codec::Described Args>
std::string argument_schema(std::span<const Argument> arguments) {
  std::string properties, required;
  std::size_t told = 0;
  boost::mp11::mp_for_each<codec::Members<Args>>([&](auto member) {
    using Type = std::remove_cvref_t<decltype(std::declval<Args&>().*member.pointer)>;
    const std::string_view name = codec::kWireName<decltype(member)>.view();
    const auto argument = std::ranges::find(arguments, name, &Argument::name);
    check(argument != arguments.end(), "every argument of a tool is described");
    ++told;
    if (!properties.empty()) properties += ',';
    write_string(properties, name);
    properties += R"(:{"type":")";
    properties += codec::argument_type<Type>();
    properties += R"(",)";
    properties += argument->limits;
    if (!argument->limits.empty()) properties += ',';
    properties += R"("description":)";
    write_string(properties, argument->description);
    properties += '}';
    if (codec::kIs<Type, std::optional>) return;
    required += required.empty() ? R"(,"required":[)" : ",";
    write_string(required, name);
  });
  check(told == arguments.size(), "a description belongs to an argument of the tool");
  if (!required.empty()) required += ']';
  return R"({"type":"object","properties":{)" + properties + '}' + required +
         R"(,"additionalProperties":false})";
}

}  // namespace agentrt::schema
