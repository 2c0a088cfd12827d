#include "schema/json_loose.h"

namespace agentrt::schema::codec {
namespace {

struct Reading {
  void* object;
  std::span<const MemberRow> rows;
  Met& met;
  std::size_t next = 0;  // members usually arrive in the order in which we write them

  void member(std::string_view name, Value value) {
    std::size_t left = rows.size();
    while (left > 0 && rows[next].name != name) {
      next = next + 1 == rows.size() ? 0 : next + 1;
      --left;
    }
    if (left == 0) {
      met.others.emplace_back(name);
    } else if (!value.is_null()) {
      const MemberRow& row = rows[next];
      if (auto done = row.read(value, object, Unknown::ignore); !done)
        met.misfits.push_back({row.name, std::move(done).error().message});
      else
        met.members.push_back(row.name);
    }
  }
};

}  // namespace

bool read_document_loosely(std::string_view text, void* object, std::span<const MemberRow> rows,
                           Met& met) {
  Reading reading{object, rows, met};
  return each_document_member(text, &reading,
                              [](void* given, std::string_view name, Value value) -> Result<void> {
                                static_cast<Reading*>(given)->member(name, value);
                                return {};
                              })
      .has_value();
}

}  // namespace agentrt::schema::codec
