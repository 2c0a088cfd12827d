#include "adapters/tools/glob.h"

#include <algorithm>

#include <fmt/format.h>

#include "policy/paths.h"

namespace agentrt::adapters::tools {
namespace {

constexpr auto kNone = std::string_view::npos;

// The first balanced {…}, with the positions of its top-level commas.
struct Braces {
  std::size_t open = kNone, close = kNone;
  std::vector<std::size_t> commas;
};

Braces first_braces(std::string_view pattern) {
  for (std::size_t open = pattern.find('{'); open != kNone; open = pattern.find('{', open + 1)) {
    Braces found{.open = open};
    std::size_t depth = 0;
    for (std::size_t i = open; i < pattern.size(); ++i) {
      if (pattern[i] == '{') ++depth;
      if (pattern[i] == ',' && depth == 1) found.commas.push_back(i);
      if (pattern[i] == '}' && --depth == 0) {
        found.close = i;
        break;
      }
    }
    if (found.close != kNone && !found.commas.empty()) return found;
  }
  return {};
}

bool closes_its_braces(std::string_view pattern) {
  std::size_t open = 0;
  for (const char c : pattern) {
    if (c == '{') ++open;
    if (c == '}' && open > 0) --open;
  }
  return open == 0;
}

// False: too many alternatives.
bool expand(const std::string& pattern, std::vector<std::string>& out) {
  const Braces braces = first_braces(pattern);
  if (braces.close == kNone) {
    out.push_back(pattern);
    return out.size() <= kGlobChoicesMax;
  }
  std::size_t from = braces.open + 1;
  for (std::size_t i = 0; i <= braces.commas.size(); ++i) {
    const std::size_t to = i < braces.commas.size() ? braces.commas[i] : braces.close;
    if (!expand(pattern.substr(0, braces.open) + pattern.substr(from, to - from) +
                    pattern.substr(braces.close + 1),
                out))
      return false;
    from = to + 1;
  }
  return true;
}

}  // namespace

Outcome<Glob> Glob::read(std::string_view pattern) {
  while (pattern.starts_with("./")) pattern.remove_prefix(2);
  if (pattern.empty() || pattern.size() > kGlobBytesMax)
    return refuse(schema::Category::invalid_input,
                  fmt::format("The pattern must have 1 to {} bytes.", kGlobBytesMax));
  if (pattern.starts_with('/'))
    return refuse(schema::Category::invalid_input,
                  "The pattern must be relative; give the folder as path.");
  if (!closes_its_braces(pattern))
    return refuse(schema::Category::invalid_input, "A brace of the pattern is not closed.");
  Glob out;
  if (!expand(std::string(pattern), out.choices_))
    return refuse(
        schema::Category::invalid_input,
        fmt::format("The braces of the pattern expand to more than {} patterns.", kGlobChoicesMax));
  for (std::string& choice : out.choices_)
    if (!choice.contains('/')) choice.insert(0, "**/");
  return out;
}

bool Glob::fits(std::string_view path) const {
  return std::ranges::any_of(
      choices_, [&](const std::string& choice) { return policy::path_fits(path, choice); });
}

}  // namespace agentrt::adapters::tools
