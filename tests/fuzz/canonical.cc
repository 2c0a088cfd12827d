// Reads NUL-terminated shell texts from standard input and writes for each its canonical form, or
// nothing if it has none, and a NUL. For canonical_test.py.
#include <iostream>
#include <iterator>
#include <string>

#include "policy/shell/analysis.h"

int main() {
  const std::string all((std::istreambuf_iterator<char>(std::cin)), {});
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = std::min(all.find('\0', at), all.size());
    const auto analysis = agentrt::policy::shell::analyse(all.substr(at, end - at));
    std::cout << analysis.canonical.value_or("") << '\0';
    at = end + 1;
  }
}
