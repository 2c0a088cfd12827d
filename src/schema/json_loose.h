// schema/json_loose.h: tolerant decoding of objects from other programs, member by member.
//
// A member with an invalid value keeps its default and is recorded as a misfit; decoding continues
// with the next member. null counts as absent. A nested value is accepted or rejected as a whole.
#pragma once

#include <algorithm>

#include "schema/json_read.h"

namespace agentrt::schema {

struct Misfit {
  std::string_view member;
  std::string what;  // "expected a string"
};

// The outcome of a decoding. Reuse one object for several decodings to avoid allocations.
struct Met {
  std::vector<std::string_view> members;  // known members with valid values
  std::vector<std::string> others;        // members that the struct does not have
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

// Appends the findings to `met`. Returns false if the text is not an object. REQUIRES: `text`
// passed check_json().
template <codec::Described T>
bool read_loosely(std::string_view text, T& out, Met& met) {
  return codec::read_document_loosely(text, &out, codec::rows_of<T>(), met);
}

}  // namespace agentrt::schema
