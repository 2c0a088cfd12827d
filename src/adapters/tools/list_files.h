// adapters/tools/list_files.h: the list_files tool: lists the files below a folder by name. Blocks;
// any thread.
#pragma once

#include "adapters/tools/grounds.h"
#include "adapters/tools/until.h"
#include "tools/list_files.h"

namespace agentrt::adapters::tools {

inline constexpr std::size_t kListEntriesMax = 1'000;  // per listing

Outcome<std::string> list_files(const Grounds& grounds, const agentrt::tools::ListFilesArgs& args,
                                std::string_view excludes, const Until& until);

}  // namespace agentrt::adapters::tools
