#include "schema/facts.h"

#include <algorithm>
#include <array>

namespace agentrt::schema {
namespace {

using Known = boost::mp11::mp_pop_front<PayloadTypes>;  // without UnknownPayload
using Reader = Result<Payload> (*)(std::string_view);

struct TypeRow {
  std::string_view type;
  Reader read;
};

template <class P>
Result<Payload> read_as(std::string_view text) {
  P payload;
  TRY(from_json(text, payload, Unknown::ignore));
  return Payload{std::move(payload)};
}

template <class... P>
constexpr auto rows_of(boost::mp11::mp_list<P...>) {
  std::array<TypeRow, sizeof...(P)> rows{TypeRow{P::kType, &read_as<P>}...};
  std::ranges::sort(rows, {}, &TypeRow::type);
  return rows;
}

const auto kRows = rows_of(boost::mp11::mp_rename<Known, boost::mp11::mp_list>{});

}  // namespace

std::string_view type_of(const Payload& payload) {
  return std::visit(
      [](const auto& p) -> std::string_view {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(p)>, UnknownPayload>)
          return p.type;
        else
          return std::remove_cvref_t<decltype(p)>::kType;
      },
      payload);
}

void write_payload(std::string& out, const Payload& payload) {
  std::visit(
      [&](const auto& p) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(p)>, UnknownPayload>)
          stop("a fact of an unknown type is never written");
        else
          write(out, p);
      },
      payload);
}

Result<Payload> read_payload(std::string_view type, std::string_view text) {
  const auto row = std::ranges::lower_bound(kRows, type, {}, &TypeRow::type);
  if (row == kRows.end() || row->type != type) return Payload{UnknownPayload{std::string(type)}};
  return row->read(text);
}

const std::vector<std::string_view>& known_types() {
  static const auto kTypes = [] {
    std::vector<std::string_view> types;
    boost::mp11::mp_for_each<boost::mp11::mp_transform<boost::mp11::mp_identity, Known>>(
        [&]<class P>(boost::mp11::mp_identity<P>) { types.push_back(P::kType); });
    return types;
  }();
  return kTypes;
}

}  // namespace agentrt::schema
