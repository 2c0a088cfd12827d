// cli/option_word.h: parses an option whose value is one of a fixed set of words. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/result.h"
#include "schema/wire_names.h"

namespace agentrt::cli {

// nullopt if the option is absent. Fails with invalid_params and the list of valid words for any
// other value.
template <class E>
Result<std::optional<E>> option_word(std::string_view option,
                                     const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  if (const auto word = schema::enum_of<E>(*text)) return word;
  std::vector<std::string_view> words;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>(
      [&](auto each) { words.push_back(schema::name_of(each.value)); });
  return fail(Code::invalid_params, fmt::format("{} {} is not valid; use one of {}.", option, *text,
                                                fmt::join(words, ", ")));
}

}  // namespace agentrt::cli
