// schema/json_write.h: encodes described structs as JSON. Absent optionals and empty ids are
// omitted.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "schema/json.h"
#include "schema/wire_names.h"

namespace agentrt::schema {

template <class T>
void write(std::string& out, const T& value);

// Writes the members of `value` without the enclosing braces. Returns whether any was written.
template <codec::Described T>
bool write_members(std::string& out, const T& value) {
  bool any = false;
  boost::mp11::mp_for_each<codec::Members<T>>([&](auto d) {
    const auto& member = value.*d.pointer;
    if (codec::absent(member)) return;
    if (any) out.push_back(',');
    any = true;
    out += codec::kWireKey<decltype(d)>.view();
    write(out, member);
  });
  return any;
}

template <class T>
void write(std::string& out, const T& value) {
  using namespace codec;
  if constexpr (std::is_same_v<T, bool>) {
    out += value ? "true" : "false";
  } else if constexpr (std::is_same_v<T, Json>) {
    out += value.text;
  } else if constexpr (std::is_same_v<T, Timestamp>) {
    out.push_back('"');
    append(out, value);
    out.push_back('"');
  } else if constexpr (kIsId<T>) {
    write_string(out, value.text());
  } else if constexpr (std::is_convertible_v<T, std::string_view>) {
    write_string(out, value);
  } else if constexpr (DescribedEnum<T>) {
    out.push_back('"');
    out += name_of(value);
    out.push_back('"');
  } else if constexpr (std::is_unsigned_v<T>) {
    write_number(out, std::uint64_t{value});
  } else if constexpr (std::is_integral_v<T>) {
    write_number(out, std::int64_t{value});
  } else if constexpr (kIs<T, std::optional>) {
    if (value)
      write(out, *value);
    else
      out += "null";
  } else if constexpr (kIs<T, std::vector>) {
    out.push_back('[');
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (i > 0) out.push_back(',');
      write(out, value[i]);
    }
    out.push_back(']');
  } else if constexpr (kIs<T, std::map>) {
    out.push_back('{');
    bool any = false;
    for (const auto& [key, entry] : value) {
      if (any) out.push_back(',');
      any = true;
      write(out, key);
      out.push_back(':');
      write(out, entry);
    }
    out.push_back('}');
  } else {
    static_assert(Described<T>, "describe the struct with BOOST_DESCRIBE_STRUCT");
    out.push_back('{');
    write_members(out, value);
    out.push_back('}');
  }
}

template <class T>
std::string to_json(const T& value) {
  std::string out;
  write(out, value);
  return out;
}

}  // namespace agentrt::schema
