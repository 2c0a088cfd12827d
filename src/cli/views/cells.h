// cli/views/cells.h: how many terminal columns a character occupies.
//
// Uses its own table, since the C library's table depends on a locale that a process may not have.
// Where terminals disagree, the larger width is returned: wrapping a line slightly early does no
// harm. Pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace agentrt::cli {

// Returns 0, 1 or 2. `character` is one complete UTF-8 character.
std::size_t cells_of(std::string_view character);

}  // namespace agentrt::cli
