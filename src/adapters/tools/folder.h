// adapters/tools/folder.h: the entries of one folder. Any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "adapters/tools/outcome.h"
#include "base/descriptor.h"

namespace agentrt::adapters::tools {

inline constexpr std::size_t kFolderEntriesMax = 100'000;

// How a file is named that is about to stand in the place of another.
inline constexpr std::string_view kStagedPrefix = ".agentrt-new-";

enum class EntryKind { file, folder, link, other };

struct FolderEntry {
  std::string name;
  EntryKind kind = EntryKind::other;
};

struct FolderEntries {
  std::vector<FolderEntry> entries;  // by name
  bool whole = true;                 // false: there are more than were asked for
};

// At most `entries_max` of them. `folder` is a handle, with or without rights.
Outcome<FolderEntries> read_folder(const Descriptor& folder, std::size_t entries_max);

}  // namespace agentrt::adapters::tools
