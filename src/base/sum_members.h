// base/sum_members.h: definitions of the members that base/sum.h declares. Include only in the
// translation unit that instantiates the Sum.
#pragma once

#include <utility>

#include "base/sum.h"

namespace agentrt {

template <class... Types>
Sum<TypeList<Types...>>::Sum() = default;
template <class... Types>
Sum<TypeList<Types...>>::Sum(const Sum&) = default;
template <class... Types>
Sum<TypeList<Types...>>::Sum(Sum&&) noexcept = default;
template <class... Types>
Sum<TypeList<Types...>>& Sum<TypeList<Types...>>::operator=(const Sum&) = default;
template <class... Types>
Sum<TypeList<Types...>>& Sum<TypeList<Types...>>::operator=(Sum&&) noexcept = default;
template <class... Types>
Sum<TypeList<Types...>>::~Sum() = default;

template <class... Types>
bool Sum<TypeList<Types...>>::operator==(const Sum& other) const
  requires(requires(const Types& one) { one == one; } && ...)
{
  using Variant = std::variant<Types...>;
  return static_cast<const Variant&>(*this) == static_cast<const Variant&>(other);
}

template <class... Types>
Sum<TypeList<Types...>>::Sum(std::size_t index, void* one) {
  using Emplace = void (*)(std::variant<Types...>&, void*);
  static constexpr Emplace kEmplace[] = {[](std::variant<Types...>& sum, void* from) {
    sum.template emplace<Types>(std::move(*static_cast<Types*>(from)));
  }...};
  kEmplace[index](*this, one);
}

}  // namespace agentrt
