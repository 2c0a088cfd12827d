// cli/views/table.h: renders a Markdown table with aligned columns. Pure.
#pragma once

#include <string>
#include <vector>

namespace agentrt::cli {

// `rows`: the lines of the source, each beginning with |. The second one must be the rule below the
// head; otherwise, and if the terminal is too narrow for the columns, the lines are returned as
// they are, escaped. Cells that do not fit are wrapped. Ends with a newline.
std::string markdown_table(const std::vector<std::string>& rows, std::size_t width);

}  // namespace agentrt::cli
