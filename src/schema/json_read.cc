#include "schema/json_read.h"

#include <cmath>
#include <cstring>

#include <simdjson.h>

namespace agentrt::schema::codec {
namespace {

using simdjson::ondemand::json_type;
using Object = simdjson::ondemand::object;
using Array = simdjson::ondemand::array;

simdjson::ondemand::parser& parser_of_thread() {
  thread_local simdjson::ondemand::parser parser;
  return parser;
}

simdjson::padded_string_view padded(std::string_view text) {
  constexpr std::size_t kKeptMax = std::size_t{1} << 20;
  thread_local std::string buffer;
  if (buffer.capacity() > kKeptMax && text.size() < kKeptMax) buffer = {};
  buffer.clear();
  buffer.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  buffer.append(text);
  return simdjson::padded_string_view(buffer.data(), buffer.size(), buffer.capacity());
}

}  // namespace

struct ValueAccess {
  using Inner = simdjson::ondemand::value;
  static_assert(sizeof(Inner) == sizeof(Value) && alignof(Inner) <= alignof(Value));
  static_assert(std::is_trivially_copyable_v<Inner>);

  static Value wrap(const Inner& inner) {
    Value out;
    std::memcpy(&out.bytes_, &inner, sizeof inner);
    return out;
  }
  static Inner inner(const Value& value) {
    Inner out;
    std::memcpy(&out, &value.bytes_, sizeof out);
    return out;
  }
};

namespace {

// Calls visit(name, value) for each member of `object`; stops at the first error.
template <class Visit>
Result<void> walk(Object& object, const Visit& visit) {
  for (auto field : object) {
    std::string_view name;
    if (field.unescaped_key().get(name)) return wrong(": the object is damaged");
    ValueAccess::Inner value;
    if (field.value().get(value)) return wrong(": the object is damaged");
    TRY(visit(name, ValueAccess::wrap(value)));
  }
  return {};
}

Result<void> read_into(Object& object, void* out, std::span<const MemberRow> rows,
                       Unknown unknown) {
  std::uint64_t seen = 0;
  std::size_t next = 0;  // members usually arrive in the order in which we write them
  TRY(walk(object, [&](std::string_view name, Value value) -> Result<void> {
    std::size_t left = rows.size();
    while (left > 0 && rows[next].name != name) {
      next = next + 1 == rows.size() ? 0 : next + 1;
      --left;
    }
    if (left == 0) {
      if (unknown == Unknown::refuse) return wrong(std::string(name) + ": unknown member");
      return {};
    }
    const std::uint64_t mine = std::uint64_t{1} << next;
    if ((seen & mine) && unknown == Unknown::refuse)
      return wrong(std::string(name) + ": given twice");
    seen |= mine;
    if (auto done = rows[next].read(value, out, unknown); !done)
      return at(name, std::move(done).error());
    return {};
  }));
  if (unknown == Unknown::ignore) return {};
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].required && !(seen >> i & 1))
      return wrong(std::string(rows[i].name) + ": required member is missing");
  return {};
}

// Opens `text` as an object; valid until this thread opens another document.
Result<Object> open_document(std::string_view text) {
  thread_local simdjson::ondemand::document document;
  if (parser_of_thread().iterate(padded(text)).get(document))
    return wrong("the text is not valid JSON");
  Object object;
  if (document.get_object().get(object)) return wrong("expected a JSON object");
  return object;
}

}  // namespace

bool Value::get(bool& out) { return !ValueAccess::inner(*this).get_bool().get(out); }
bool Value::get(std::int64_t& out) { return !ValueAccess::inner(*this).get_int64().get(out); }
bool Value::get(std::uint64_t& out) { return !ValueAccess::inner(*this).get_uint64().get(out); }
bool Value::get(std::string_view& out) { return !ValueAccess::inner(*this).get_string().get(out); }

bool Value::get_whole(std::int64_t& out) {
  if (get(out)) return true;
  double number = 0;
  if (ValueAccess::inner(*this).get_double().get(number)) return false;
  if (std::trunc(number) != number || std::abs(number) > static_cast<double>(kWholeFloatMax))
    return false;
  out = static_cast<std::int64_t>(number);
  return true;
}

bool Value::get_whole(std::uint64_t& out) {
  if (get(out)) return true;
  std::int64_t number = 0;
  if (!get_whole(number) || number < 0) return false;
  out = static_cast<std::uint64_t>(number);
  return true;
}

bool Value::is_null() {
  json_type type;
  return !ValueAccess::inner(*this).type().get(type) && type == json_type::null;
}

Result<std::string> Value::raw_text() {
  auto value = ValueAccess::inner(*this);
  json_type type;
  if (value.type().get(type)) return wrong(": the value is damaged");
  std::string_view text;
  if (type == json_type::object) {
    Object object;
    if (value.get_object().get(object) || object.raw_json().get(text))
      return wrong(": the object is damaged");
  } else if (type == json_type::array) {
    Array array;
    if (value.get_array().get(array) || array.raw_json().get(text))
      return wrong(": the array is damaged");
  } else {
    text = value.raw_json_token();
  }
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  if (text.find_first_of("\n\r") == std::string_view::npos) return std::string(text);
  // Line breaks between tokens would break a stream of JSON lines. Other bytes stay as received.
  std::string out(text.size() + simdjson::SIMDJSON_PADDING, '\0');
  std::size_t size = 0;
  if (simdjson::minify(text.data(), text.size(), out.data(), size))
    return wrong(": the value is damaged");
  out.resize(size);
  return out;
}

Result<void> each_item(Value array, void* context, VisitItem visit) {
  Array items;
  if (ValueAccess::inner(array).get_array().get(items)) return wrong(": expected an array");
  std::size_t index = 0;
  for (auto element : items) {
    ValueAccess::Inner item;
    if (element.get(item)) return wrong(": the array is damaged");
    if (auto done = visit(context, ValueAccess::wrap(item)); !done)
      return at("[" + std::to_string(index) + "]", std::move(done).error());
    ++index;
  }
  return {};
}

Result<void> each_member(Value object, void* context, VisitMember visit) {
  Object members;
  if (ValueAccess::inner(object).get_object().get(members)) return wrong(": expected an object");
  return walk(members, [&](std::string_view name, Value value) -> Result<void> {
    if (auto done = visit(context, name, value); !done) return at(name, std::move(done).error());
    return {};
  });
}

Result<void> read_members(Value value, void* object, std::span<const MemberRow> rows,
                          Unknown unknown) {
  Object members;
  if (ValueAccess::inner(value).get_object().get(members)) return wrong(": expected an object");
  return read_into(members, object, rows, unknown);
}

Result<void> read_document(std::string_view text, void* object, std::span<const MemberRow> rows,
                           Unknown unknown) {
  TRY_ASSIGN(Object members, open_document(text));
  return read_into(members, object, rows, unknown);
}

Result<void> each_document_member(std::string_view text, void* context, VisitMember visit) {
  TRY_ASSIGN(Object members, open_document(text));
  return walk(members,
              [&](std::string_view name, Value value) { return visit(context, name, value); });
}

std::string allowed_names(std::string out, std::string_view name) {
  if (!out.empty()) out += ", ";
  out += name;
  return out;
}

}  // namespace agentrt::schema::codec
