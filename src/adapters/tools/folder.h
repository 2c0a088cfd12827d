// adapters/tools/folder.h: lists the entries of one folder. Any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "adapters/tools/outcome.h"
#include "base/descriptor.h"

namespace agentrt::adapters::tools {

inline constexpr std::size_t kFolderEntriesMax = 100'000;

// Name prefix of a temporary file that is about to replace another file.
inline constexpr std::string_view kStagedPrefix = ".agentrt-new-";

enum class EntryKind { file, folder, link, other };

struct FolderEntry {
  std::string name;
  EntryKind kind = EntryKind::other;
};

struct FolderEntries {
  std::vector<FolderEntry> entries;  // sorted by name
  bool whole = true;                 // false: there are more than `entries_max`
};

// Returns at most `entries_max` entries. `folder` may be an O_PATH handle.
Outcome<FolderEntries> read_folder(const Descriptor& folder, std::size_t entries_max);

}  // namespace agentrt::adapters::tools
