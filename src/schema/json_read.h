// schema/json_read.h: decodes JSON text into described structs, strictly or leniently.
//
// An error names the path: "input[0].text: expected a string". Callable from any thread; each
// thread has its own parser and buffer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "schema/json.h"
#include "schema/wire_names.h"

namespace agentrt::schema {

// How to treat unknown members. `refuse` also rejects missing and repeated ones.
enum class Unknown { ignore, refuse };

namespace codec {

// The largest magnitude up to which a double represents every whole number exactly.
inline constexpr std::int64_t kWholeFloatMax = std::int64_t{1} << 53;

// A value of the document that this thread is decoding; valid until the thread opens another
// document. It hides simdjson's value type, whose header adds a second of compile time to every
// translation unit.
class Value {
 public:
  // Each returns false if the value has another type. Call at most one of them, once per value.
  bool get(bool& out);
  bool get(std::int64_t& out);
  bool get(std::uint64_t& out);
  bool get(std::string_view& out);  // valid as long as the value
  // As get(), and also accept a whole number written with a fraction or an exponent (1.0, 1e3), up
  // to kWholeFloatMax.
  bool get_whole(std::int64_t& out);
  bool get_whole(std::uint64_t& out);

  bool is_null();
  // The value's JSON text, without line breaks between tokens.
  Result<std::string> raw_text();

 private:
  friend struct ValueAccess;  // json_read.cc: converts to and from simdjson's value
  alignas(8) std::array<std::byte, 24> bytes_;
};

// Calls `visit` with `context` for each item or member in order; stops at the first error.
using VisitItem = Result<void> (*)(void* context, Value item);
using VisitMember = Result<void> (*)(void* context, std::string_view name, Value value);
Result<void> each_item(Value array, void* context, VisitItem visit);
Result<void> each_member(Value object, void* context, VisitMember visit);
Result<void> each_document_member(std::string_view text, void* context, VisitMember visit);

inline std::unexpected<Error> wrong(std::string what) {
  return fail(Code::invalid_params, std::move(what));
}

// Prepends `step` to the path at the start of an inner error message.
inline std::unexpected<Error> at(std::string_view step, Error inner) {
  const bool joined = !inner.message.starts_with('[') && !inner.message.starts_with(": ");
  inner.message = std::string(step) + (joined ? "." : "") + inner.message;
  return std::unexpected(std::move(inner));
}

std::string allowed_names(std::string out, std::string_view name);

template <class T>
Result<void> read(Value value, T& out, Unknown unknown);

inline constexpr std::size_t kMembersMax = 64;  // per struct

// One member of a struct: its wire name, and the function that decodes it into such a struct.
struct MemberRow {
  std::string_view name;
  bool required;
  Result<void> (*read)(Value value, void* object, Unknown unknown);
};

// Decodes the members of `value`, or of the document `text`, into the struct at `object`, which
// `rows` describe.
Result<void> read_members(Value value, void* object, std::span<const MemberRow> rows,
                          Unknown unknown);
Result<void> read_document(std::string_view text, void* object, std::span<const MemberRow> rows,
                           Unknown unknown);

// How a whole number may be written. `digits`: only as the codec writes it, so that what is stored
// has one spelling. `any`: as JSON Schema defines an integer, so that 1.0 and 1e3 are whole.
enum class Spelling { digits, any };

// Many models write whole numbers as 1.0. A struct of tool arguments accepts them: it defines
// kFromModel.
template <class T>
inline constexpr Spelling kSpelling = Spelling::digits;
template <class T>
  requires requires { T::kFromModel; }
inline constexpr Spelling kSpelling<T> = Spelling::any;

template <class T>
Result<void> read_integer(Value value, T& out, Spelling spelling) {
  const auto get = [&](auto& number) {
    return spelling == Spelling::any ? value.get_whole(number) : value.get(number);
  };
  if constexpr (std::is_unsigned_v<T>) {
    std::uint64_t number = 0;
    if (!get(number)) return wrong(": expected a whole number, 0 or more");
    if (number > std::numeric_limits<T>::max()) return wrong(": the number is too large");
    out = static_cast<T>(number);
  } else {
    std::int64_t number = 0;
    if (!get(number)) return wrong(": expected a whole number");
    if (number > std::numeric_limits<T>::max() || number < std::numeric_limits<T>::min())
      return wrong(": the number is out of range");
    out = static_cast<T>(number);
  }
  return {};
}

template <class T>
Result<void> read_enum(Value value, T& out) {
  std::string_view name;
  if (!value.get(name)) return wrong(": expected a string");
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
  struct Context {
    std::vector<T>& items;
    Unknown unknown;
  } context{out, unknown};
  out.clear();
  return each_item(value, &context, [](void* given, Value item) {
    auto& into = *static_cast<Context*>(given);
    return read(item, into.items.emplace_back(), into.unknown);
  });
}

template <class Key, class T>
Result<void> read_map(Value value, std::map<Key, T>& out, Unknown unknown) {
  struct Context {
    std::map<Key, T>& entries;
    Unknown unknown;
  } context{out, unknown};
  out.clear();
  return each_member(value, &context, [](void* given, std::string_view name, Value item) {
    auto& into = *static_cast<Context*>(given);
    return read(item, into.entries[Key{std::string(name)}], into.unknown);
  });
}

template <Described T>
std::span<const MemberRow> rows_of();

template <class T>
Result<void> read(Value value, T& out, Unknown unknown) {
  if constexpr (std::is_same_v<T, bool>) {
    if (!value.get(out)) return wrong(": expected true or false");
  } else if constexpr (std::is_same_v<T, Json>) {
    TRY_ASSIGN(out.text, value.raw_text());
  } else if constexpr (std::is_same_v<T, Timestamp>) {
    std::string_view text;
    if (!value.get(text)) return wrong(": expected a string");
    const auto parsed = parse_timestamp(text);
    if (!parsed) return wrong(": expected an instant like 2026-05-08T02:30:00.000Z");
    out = *parsed;
  } else if constexpr (kIsId<T>) {
    std::string_view text;
    if (!value.get(text)) return wrong(": expected a string");
    if (unknown == Unknown::refuse && !well_formed_id(text))
      return wrong(": an id is 1 to 128 of the characters A-Z a-z 0-9 . _ : -");
    out = T{std::string(text)};
  } else if constexpr (std::is_same_v<T, std::string>) {
    std::string_view text;
    if (!value.get(text)) return wrong(": expected a string");
    out = text;
  } else if constexpr (DescribedEnum<T>) {
    return read_enum(value, out);
  } else if constexpr (std::is_integral_v<T>) {
    return read_integer(value, out, Spelling::digits);
  } else if constexpr (kIs<T, std::optional>) {
    auto done = read(value, out.emplace(), unknown);
    if (!done) out.reset();  // an invalid value counts as absent
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
    auto done = read_members(value, &out, rows_of<T>(), unknown);
    if (!done) out = T{};
    return done;
  }
  return {};
}

// Decodes one member of a struct whose whole numbers may be spelled as `kHow` allows.
template <Spelling kHow, class T>
Result<void> read_member(Value value, T& out, Unknown unknown) {
  if constexpr (kHow == Spelling::any && kIs<T, std::optional>) {
    auto done = read_member<kHow>(value, out.emplace(), unknown);
    if (!done) out.reset();
    return done;
  } else if constexpr (kHow == Spelling::any && std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    return read_integer(value, out, kHow);
  } else {
    return read(value, out, unknown);
  }
}

template <class T, class... D>
constexpr std::array<MemberRow, sizeof...(D)> member_rows(boost::mp11::mp_list<D...>) {
  static_assert(sizeof...(D) <= kMembersMax, "the members seen are kept in one word");
  return {MemberRow{
      kWireName<D>.view(),
      !kIs<std::remove_cvref_t<decltype(std::declval<T&>().*D::pointer)>, std::optional>,
      [](Value value, void* object, Unknown unknown) {
        return read_member<kSpelling<T>>(value, static_cast<T*>(object)->*D::pointer, unknown);
      }}...};
}

template <class T>
inline constexpr auto kMemberRows =
    member_rows<T>(boost::mp11::mp_rename<Members<T>, boost::mp11::mp_list>{});

template <Described T>
std::span<const MemberRow> rows_of() {
  return kMemberRows<T>;
}

}  // namespace codec

// Decodes one object. REQUIRES: `text` passed check_json(), or was written by write().
template <codec::Described T>
Result<void> from_json(std::string_view text, T& out, Unknown unknown) {
  return codec::read_document(text, &out, codec::rows_of<T>(), unknown);
}

}  // namespace agentrt::schema
