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

bool read_document_loosely(std::string_view text, void* object, std::span<const MemberRow> rows,
                           Met& met);

}  // namespace codec

// Adds to `met`. False when the text is not an object at all.
// REQUIRES: `text` passed check_json().
template <codec::Described T>
bool read_loosely(std::string_view text, T& out, Met& met) {
  return codec::read_document_loosely(text, &out, codec::rows_of<T>(), met);
}

}  // namespace agentrt::schema
