// schema/wire_names.h: maps C++ names to wire names, and the type traits that the codec uses.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <type_traits>

#include <boost/describe.hpp>
#include <boost/mp11.hpp>

#include "base/ids.h"

namespace agentrt::schema {

namespace codec {

template <class T, template <class...> class Of>
inline constexpr bool kIs = false;
template <template <class...> class Of, class... Args>
inline constexpr bool kIs<Of<Args...>, Of> = true;
template <class T>
inline constexpr bool kIsId = kIs<T, Id>;
template <class T>
concept Described = boost::describe::has_describe_members<T>::value;
template <class T>
concept DescribedEnum = boost::describe::has_describe_enumerators<T>::value;
template <class T>
using Members = boost::describe::describe_members<T, boost::describe::mod_public |
                                                         boost::describe::mod_inherited>;

struct WireName {
  std::array<char, 64> text{};
  std::size_t size = 0;
  constexpr std::string_view view() const { return {text.data(), size}; }
};

// turn_id -> turnId, default_ -> default
constexpr WireName wire_name(std::string_view name) {
  WireName out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '_') {
      out.text[out.size++] = name[i];
    } else if (i + 1 < name.size()) {
      const char c = name[++i];
      out.text[out.size++] = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    }
  }
  return out;
}

template <class D>
inline constexpr WireName kWireName = wire_name(D::name);

// "name": as written in an object, so that writing a key is one append.
struct WireKey {
  std::array<char, 72> text{};
  std::size_t size = 0;
  constexpr std::string_view view() const { return {text.data(), size}; }
};
constexpr WireKey wire_key(std::string_view name) {
  const WireName wire = wire_name(name);
  WireKey out;
  out.text[out.size++] = '"';
  for (const char c : wire.view()) out.text[out.size++] = c;
  out.text[out.size++] = '"';
  out.text[out.size++] = ':';
  return out;
}
template <class D>
inline constexpr WireKey kWireKey = wire_key(D::name);

constexpr std::string_view enum_wire_name(std::string_view name) {
  return name.ends_with('_') ? name.substr(0, name.size() - 1) : name;
}

template <class T>
bool absent(const T& value) {
  if constexpr (kIs<T, std::optional>)
    return !value.has_value();
  else if constexpr (kIsId<T>)
    return value.empty();
  else
    return false;
}

}  // namespace codec

template <codec::DescribedEnum E>
std::string_view name_of(E value) {
  std::string_view out = "unknown";
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>([&](auto d) {
    if (d.value == value) out = codec::enum_wire_name(d.name);
  });
  return out;
}

template <codec::DescribedEnum E>
std::optional<E> enum_of(std::string_view name) {
  std::optional<E> out;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>([&](auto d) {
    if (codec::enum_wire_name(d.name) == name) out = d.value;
  });
  return out;
}

}  // namespace agentrt::schema
