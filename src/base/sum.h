// base/sum.h: a std::variant of many types whose special members are compiled in one unit.
//
// Copying, moving, destroying and comparing a variant of seventy structs costs every unit that does
// it seconds to compile. A Sum only declares them; the one unit that owns the list of types
// includes base/sum_members.h and instantiates the class: `template class Sum<MyTypes>;`.
// std::visit, std::get_if and std::holds_alternative take a Sum like the variant that it is.
#pragma once

#include <cstddef>
#include <type_traits>
#include <variant>

namespace agentrt {

template <class... Types>
struct TypeList {};

// The place of T among the types.
template <class T, class... Types>
constexpr std::size_t index_of() {
  std::size_t at = 0;
  static_cast<void>((... || (std::is_same_v<T, Types> || (++at, false))));
  return at;
}

template <class List>
class Sum;

template <class... Types>
class Sum<TypeList<Types...>> : public std::variant<Types...> {
 public:
  Sum();  // the first type
  template <class T>
    requires(std::is_same_v<T, Types> || ...)
  Sum(T one) : Sum(index_of<T, Types...>(), &one) {}
  Sum(const Sum& other);
  Sum(Sum&& other) noexcept;
  Sum& operator=(const Sum& other);
  Sum& operator=(Sum&& other) noexcept;
  ~Sum();

  bool operator==(const Sum& other) const
    requires(requires(const Types& one) { one == one; } && ...);

 private:
  // Moves the object of the type at `index` from `one`.
  Sum(std::size_t index, void* one);
};

}  // namespace agentrt
