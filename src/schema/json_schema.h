// schema/json_schema.h: generates JSON Schema (draft 2020-12) from the declarations that the codec
// uses.
//
// A SchemaWriter collects definitions: a struct or enum used inside another type is written once,
// under its C++ name, and referenced from elsewhere.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/check.h"
#include "schema/codec.h"
#include "schema/text_limits.h"

namespace agentrt::schema {

namespace codec {

template <class T>
struct Unwrap {
  using type = T;
};
template <class T>
struct Unwrap<std::optional<T>> {
  using type = T;
};

// The last part of T's qualified name, such as InputPart.
template <class T>
constexpr std::string_view type_name() {
  const std::string_view whole = __PRETTY_FUNCTION__;  // "… [T = agentrt::schema::InputPart]"
  const std::size_t from = whole.rfind("::") + 2;
  return whole.substr(from, whole.size() - 1 - from);
}

}  // namespace codec

class SchemaWriter {
 public:
  // `home`: the prefix of references to definitions, such as "#/$defs/".
  explicit SchemaWriter(std::string home) : home_(std::move(home)) {}

  // The schema of T. Unknown::refuse forbids additional properties, like strict decoding.
  template <class T>
  std::string of(Unknown unknown) {
    std::string out;
    if constexpr (codec::DescribedEnum<T>)
      write_enum<T>(out);
    else if constexpr (codec::Described<T>)
      write_object<T>(out, unknown);
    else
      write<T>(out, unknown);
    return out;
  }

  // The definitions that of() has referenced so far, by name.
  const std::map<std::string, std::string>& definitions() const { return definitions_; }

 private:
  // `member`: in a strict schema, the member name that selects the size limits.
  template <class T>
  void write(std::string& out, Unknown unknown, std::string_view member = {});
  template <class T>
  void write_object(std::string& out, Unknown unknown);
  template <class T>
  void write_enum(std::string& out);

  // A name stands for one schema. A struct that is strict in params and lenient in a reply has a
  // second name there, such as TaskWorkerRead.
  void refer(std::string& out, std::string_view name, const std::string& schema) {
    std::string own(name);
    for (;; own += "Read") {
      const auto [entry, added] = definitions_.emplace(own, schema);
      if (added || entry->second == schema) break;
    }
    out += R"({"$ref":")" + home_ + own + R"("})";
  }

  std::string home_;
  std::map<std::string, std::string> definitions_;
};

template <class T>
void SchemaWriter::write(std::string& out, Unknown unknown, std::string_view member) {
  using namespace codec;
  const bool limited = unknown == Unknown::refuse;
  if constexpr (std::is_same_v<T, bool>) {
    out += R"({"type":"boolean"})";
  } else if constexpr (std::is_same_v<T, Json>) {
    out += limited ? fmt::format(R"({{"x-maxBytes":{}}})", json_limit(member)) : "true";
  } else if constexpr (std::is_same_v<T, Timestamp>) {
    out += R"({"type":"string","format":"date-time"})";
  } else if constexpr (kIsId<T>) {
    out += unknown == Unknown::refuse ? R"({"type":"string","pattern":"^[A-Za-z0-9._:-]{1,128}$"})"
                                      : R"({"type":"string","minLength":1})";
  } else if constexpr (std::is_same_v<T, std::string>) {
    out += R"({"type":"string")";
    if (limited) out += fmt::format(R"(,"maxLength":{})", text_limit(member));
    out += "}";
  } else if constexpr (std::is_unsigned_v<T>) {
    out += R"({"type":"integer","minimum":0})";
  } else if constexpr (std::is_integral_v<T>) {
    out += R"({"type":"integer"})";
  } else if constexpr (kIs<T, std::vector>) {
    out += R"({"type":"array","items":)";
    write<typename T::value_type>(out, unknown, member);
    if (limited) out += fmt::format(R"(,"maxItems":{})", list_limit(member));
    out += "}";
  } else if constexpr (kIs<T, std::map>) {
    out += R"({"type":"object","additionalProperties":)";
    write<typename T::mapped_type>(out, unknown);
    out += "}";
  } else {
    refer(out, type_name<T>(), of<T>(unknown));
  }
}

template <class T>
void SchemaWriter::write_object(std::string& out, Unknown unknown) {
  using namespace codec;
  out += R"({"type":"object","properties":{)";
  std::string required;
  bool any = false;
  boost::mp11::mp_for_each<Members<T>>([&](auto d) {
    using M = std::remove_cvref_t<decltype(std::declval<T&>().*d.pointer)>;
    if (any) out.push_back(',');
    any = true;
    out += kWireKey<decltype(d)>.view();
    write<typename Unwrap<M>::type>(out, unknown, kWireName<decltype(d)>.view());
    if (kIs<M, std::optional>) return;
    if (!required.empty()) required.push_back(',');
    required += "\"" + std::string(kWireName<decltype(d)>.view()) + "\"";
  });
  out += "}";
  if (!required.empty()) out += R"(,"required":[)" + required + "]";
  if (unknown == Unknown::refuse) out += R"(,"additionalProperties":false)";
  out += "}";
}

template <class T>
void SchemaWriter::write_enum(std::string& out) {
  std::string names;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>([&](auto d) {
    if (!names.empty()) names.push_back(',');
    names += "\"" + std::string(codec::enum_wire_name(d.name)) + "\"";
  });
  out += R"({"type":"string","enum":[)" + names + "]}";
}

}  // namespace agentrt::schema
