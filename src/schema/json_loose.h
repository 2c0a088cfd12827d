// schema/json_loose.h: reading an object that someone else wrote, member by member.
//
// A member that does not fit is left at its default and remembered, and the rest is read on; null
// counts as absent. What is inside a member is read as a whole: it fits or it does not.
#pragma once

#include <algorithm>

#include "schema/json_read.h"

namespace agentrt::schema {

struct Misfit {
  std::string_view member;
  std::string what;  // "expected a string"
};

// What a reading met. Kept from one reading to the next, so that nothing is allocated anew.
struct Met {
  std::vector<std::string_view> members;  // known ones that fit
  std::vector<std::string> others;        // that the struct does not have
  std::vector<Misfit> misfits;

  void clear() {
    members.clear();
    others.clear();
    misfits.clear();
  }
  bool has(std::string_view member) const {
    return std::find(members.begin(), members.end(), member) != members.end() ||
           std::find(others.begin(), others.end(), member) != others.end();
  }
};

namespace codec {

template <Described T>
void read_member_loosely(const MemberRow<T>& row, Value value, T& out, Met& met) {
  simdjson::ondemand::json_type type;
  if (value.type().get(type)) return;
  if (type == simdjson::ondemand::json_type::null) return;
  if (auto done = row.read(value, out, Unknown::ignore); !done)
    met.misfits.push_back({row.name, std::move(done).error().message});
  else
    met.members.push_back(row.name);
}

}  // namespace codec

// Adds to `met`. False when the text is not an object at all.
// REQUIRES: `text` passed check_json().
template <codec::Described T>
bool read_loosely(std::string_view text, T& out, Met& met) {
  simdjson::ondemand::document document;
  codec::Object object;
  if (codec::parser_of_thread().iterate(codec::padded(text)).get(document)) return false;
  if (document.get_object().get(object)) return false;
  constexpr auto& rows = codec::kMemberRows<T>;
  std::size_t next = 0;  // members mostly come in the order in which we write them
  for (auto field : object) {
    std::string_view name;
    codec::Value value;
    if (field.unescaped_key().get(name) || field.value().get(value)) return false;
    std::size_t left = rows.size();
    while (left > 0 && rows[next].name != name) {
      next = next + 1 == rows.size() ? 0 : next + 1;
      --left;
    }
    if (left > 0)
      codec::read_member_loosely(rows[next], value, out, met);
    else
      met.others.emplace_back(name);
  }
  return true;
}

}  // namespace agentrt::schema
