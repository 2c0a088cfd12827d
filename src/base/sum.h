// base/sum.h: a std::variant of many types whose special members are compiled in one translation
// unit.
//
// Copying, moving, destroying and comparing a variant of seventy structs adds seconds of compile
// time to every translation unit that does it. A Sum only declares these members. The one unit that
// owns the list of types includes base/sum_members.h and instantiates the class: `template class
// Sum<MyTypes>;`. std::visit, std::get_if and std::holds_alternative accept a Sum, since it derives
// from std::variant.
#pragma once

#include <cstddef>
#include <type_traits>
#include <variant>

namespace agentrt {

template <class... Types>
struct TypeList {};

// The index of T in Types.
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
  Sum();  // holds the first type
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
  // Move-constructs the alternative at `index` from the object at `one`.
  Sum(std::size_t index, void* one);
};

}  // namespace agentrt
