#include "base/near_names.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace agentrt {
namespace {

std::string small(std::string_view name) {
  std::string out(name);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  });
  return out;
}

// The edit distance: letters to add, remove or replace.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::vector<std::string> near_names(std::string_view wanted,
                                    const std::vector<std::string>& names) {
  const std::string want = small(wanted);
  const std::size_t far = want.size() / 3 + 1;
  std::vector<std::pair<std::size_t, std::string>> near;
  for (std::size_t i = 0; i < std::min(names.size(), kNamesLookedAtMax); ++i) {
    const std::string name = small(names[i]);
    const std::size_t apart =
        name.size() > want.size() ? name.size() - want.size() : want.size() - name.size();
    if (apart > far) continue;
    if (const std::size_t changed = distance(want, name); changed <= far)
      near.emplace_back(changed, names[i]);
  }
  std::ranges::sort(near);
  std::vector<std::string> out;
  for (auto& [changed, name] : near)
    if (out.size() < kNearNamesMax) out.push_back(std::move(name));
  return out;
}

}  // namespace agentrt
