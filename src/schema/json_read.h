// schema/json_read.h: JSON text to described structs, strictly or leniently.
//
// A refusal says where: "input[0].text: expected a string". Thread rule: any thread; each has a
// parser and a buffer of its own.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <simdjson.h>

#include "base/result.h"
#include "base/time.h"
#include "schema/json.h"
#include "schema/wire_names.h"

namespace agentrt::schema {

// What becomes of members that a struct does not have, and of missing and repeated ones.
enum class Unknown { ignore, refuse };

namespace codec {

using Value = simdjson::ondemand::value;
using Object = simdjson::ondemand::object;

inline std::unexpected<Error> wrong(std::string what) {
  return fail(Code::invalid_params, std::move(what));
}

// Puts `step` in front of the path that an inner error message starts with.
inline std::unexpected<Error> at(std::string_view step, Error inner) {
  const bool joined = !inner.message.starts_with('[') && !inner.message.starts_with(": ");
  inner.message = std::string(step) + (joined ? "." : "") + inner.message;
  return std::unexpected(std::move(inner));
}

Result<std::string> raw_text(Value value);
std::string allowed_names(std::string out, std::string_view name);

template <class T>
Result<void> read(Value value, T& out, Unknown unknown);

template <Described T>
Result<void> read_object(Object object, T& out, Unknown unknown);

template <class T>
Result<void> read_integer(Value value, T& out) {
  if constexpr (std::is_unsigned_v<T>) {
    std::uint64_t number = 0;
    if (value.get_uint64().get(number)) return wrong(": expected a whole number, 0 or more");
    if (number > std::numeric_limits<T>::max()) return wrong(": the number is too large");
    out = static_cast<T>(number);
  } else {
    std::int64_t number = 0;
    if (value.get_int64().get(number)) return wrong(": expected a whole number");
    if (number > std::numeric_limits<T>::max() || number < std::numeric_limits<T>::min())
      return wrong(": the number is out of range");
    out = static_cast<T>(number);
  }
  return {};
}

template <class T>
Result<void> read_enum(Value value, T& out) {
  std::string_view name;
  if (value.get_string().get(name)) return wrong(": expected a string");
  if (const auto found = enum_of<T>(name)) {
    out = *found;
    return {};
  }
  std::string allowed;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>(
      [&](auto d) { allowed = allowed_names(std::move(allowed), enum_wire_name(d.name)); });
  return wrong(": expected one of " + allowed);
}

template <class T>
Result<void> read_array(Value value, std::vector<T>& out, Unknown unknown) {
  simdjson::ondemand::array array;
  if (value.get_array().get(array)) return wrong(": expected an array");
  out.clear();
  for (auto element : array) {
    Value item;
    if (element.get(item)) return wrong(": the array is damaged");
    T& slot = out.emplace_back();
    if (auto done = read(item, slot, unknown); !done)
      return at("[" + std::to_string(out.size() - 1) + "]", std::move(done).error());
  }
  return {};
}

template <class Key, class T>
Result<void> read_map(Value value, std::map<Key, T>& out, Unknown unknown) {
  Object object;
  if (value.get_object().get(object)) return wrong(": expected an object");
  out.clear();
  for (auto field : object) {
    std::string_view name;
    if (field.unescaped_key().get(name)) return wrong(": the object is damaged");
    const Key key{std::string(name)};
    Value item;
    if (field.value().get(item)) return wrong(": the object is damaged");
    if (auto done = read(item, out[key], unknown); !done) return at(name, std::move(done).error());
  }
  return {};
}

template <class T>
Result<void> read(Value value, T& out, Unknown unknown) {
  if constexpr (std::is_same_v<T, bool>) {
    if (value.get_bool().get(out)) return wrong(": expected true or false");
  } else if constexpr (std::is_same_v<T, Json>) {
    TRY_ASSIGN(out.text, raw_text(value));
  } else if constexpr (std::is_same_v<T, Timestamp>) {
    std::string_view text;
    if (value.get_string().get(text)) return wrong(": expected a string");
    const auto parsed = parse_timestamp(text);
    if (!parsed) return wrong(": expected an instant like 2026-05-08T02:30:00.000Z");
    out = *parsed;
  } else if constexpr (kIsId<T>) {
    std::string_view text;
    if (value.get_string().get(text)) return wrong(": expected a string");
    if (unknown == Unknown::refuse && !well_formed_id(text))
      return wrong(": an id is 1 to 128 of the characters A-Z a-z 0-9 . _ : -");
    out = T{std::string(text)};
  } else if constexpr (std::is_same_v<T, std::string>) {
    std::string_view text;
    if (value.get_string().get(text)) return wrong(": expected a string");
    out = text;
  } else if constexpr (DescribedEnum<T>) {
    return read_enum(value, out);
  } else if constexpr (std::is_integral_v<T>) {
    return read_integer(value, out);
  } else if constexpr (kIs<T, std::optional>) {
    auto done = read(value, out.emplace(), unknown);
    if (!done) out.reset();  // what does not fit is not there
    return done;
  } else if constexpr (kIs<T, std::vector>) {
    auto done = read_array(value, out, unknown);
    if (!done) out.clear();
    return done;
  } else if constexpr (kIs<T, std::map>) {
    auto done = read_map(value, out, unknown);
    if (!done) out.clear();
    return done;
  } else {
    Object object;
    if (value.get_object().get(object)) return wrong(": expected an object");
    auto done = read_object(object, out, unknown);
    if (!done) out = T{};
    return done;
  }
  return {};
}

template <class T>
struct MemberRow {
  std::string_view name;
  bool required;
  Result<void> (*read)(Value value, T& out, Unknown unknown);
};

template <class T, class... D>
constexpr std::array<MemberRow<T>, sizeof...(D)> member_rows(boost::mp11::mp_list<D...>) {
  return {MemberRow<T>{
      kWireName<D>.view(),
      !kIs<std::remove_cvref_t<decltype(std::declval<T&>().*D::pointer)>, std::optional>,
      [](Value value, T& out, Unknown unknown) {
        return read(value, out.*D::pointer, unknown);
      }}...};
}

template <class T>
inline constexpr auto kMemberRows =
    member_rows<T>(boost::mp11::mp_rename<Members<T>, boost::mp11::mp_list>{});

template <Described T>
Result<void> read_object(Object object, T& out, Unknown unknown) {
  constexpr auto& rows = kMemberRows<T>;
  static_assert(rows.size() <= 64, "the members seen are kept in one word");
  std::uint64_t seen = 0;
  std::size_t next = 0;  // members mostly come in the order in which we write them
  for (auto field : object) {
    std::string_view name;
    if (field.unescaped_key().get(name)) return wrong(": the object is damaged");
    Value item;
    if (field.value().get(item)) return wrong(": the object is damaged");
    std::size_t left = rows.size();
    while (left > 0 && rows[next].name != name) {
      next = next + 1 == rows.size() ? 0 : next + 1;
      --left;
    }
    if (left == 0) {
      if (unknown == Unknown::refuse) return wrong(std::string(name) + ": unknown member");
      continue;
    }
    const std::uint64_t mine = std::uint64_t{1} << next;
    if ((seen & mine) && unknown == Unknown::refuse)
      return wrong(std::string(name) + ": given twice");
    seen |= mine;
    if (auto done = rows[next].read(item, out, unknown); !done)
      return at(name, std::move(done).error());
  }
  if (unknown == Unknown::ignore) return {};
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].required && !(seen >> i & 1))
      return wrong(std::string(rows[i].name) + ": required member is missing");
  return {};
}

// A parser with a padded buffer, reused by the calling thread.
simdjson::ondemand::parser& parser_of_thread();
simdjson::padded_string_view padded(std::string_view text);

}  // namespace codec

// Reads one object. REQUIRES: `text` passed check_json(), or was written by write().
template <codec::Described T>
Result<void> from_json(std::string_view text, T& out, Unknown unknown) {
  simdjson::ondemand::document document;
  if (codec::parser_of_thread().iterate(codec::padded(text)).get(document))
    return codec::wrong("the text is not valid JSON");
  codec::Object object;
  if (document.get_object().get(object)) return codec::wrong("expected a JSON object");
  return codec::read_object(object, out, unknown);
}

}  // namespace agentrt::schema
