// cli/views/cells.h: how many columns of a terminal a character takes.
//
// A table of our own, since the C library's depends on a locale that a process may not have. Where
// terminals disagree, the wider answer is given: a line that is broken a little early does no harm.
// Pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace agentrt::cli {

// 0, 1 or 2. `character` is one character of UTF-8, whole.
std::size_t cells_of(std::string_view character);

}  // namespace agentrt::cli
