// adapters/tools/walk.h: walks all folders below a starting folder.
//
// Symlinks are reported as entries and never followed, so a walk terminates and stays beneath its
// start. Entries excluded by .gitignore files are skipped; these files are read from the walked
// folders and from the session's folders above them. In a git repository the user's global excludes
// apply too; any line of a .gitignore file takes precedence over them. Entries, folders, depth and
// time are limited; the report says what was not reached. One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "adapters/tools/folder.h"
#include "adapters/tools/grounds.h"
#include "adapters/tools/text.h"
#include "adapters/tools/until.h"

namespace agentrt::adapters::tools {

inline constexpr std::size_t kWalkEntriesMax = 500'000;
inline constexpr std::size_t kWalkFoldersMax = 50'000;
inline constexpr std::uint64_t kWalkDepthMax = 64;

struct Walked {
  std::string path;  // relative to the start of the walk
  EntryKind kind = EntryKind::other;
  const Descriptor* folder = nullptr;  // the folder that contains it
  std::string_view name;
  std::string real_path;
};

enum class Next { go_on, stop };

// Why the walk ended.
enum class WalkEnd { all_seen, stopped, time, entries };

struct WalkReport {
  WalkEnd end = WalkEnd::all_seen;
  std::size_t left_out = 0;    // hidden or refused by policy; a folder counts once
  std::size_t ignored = 0;     // excluded as git excludes it; a folder counts once
  std::size_t unreadable = 0;  // folders without read permission
};

enum class Ignored { passed_over, seen };

struct WalkLimits {
  std::uint64_t depth = kWalkDepthMax;  // 1: only the folder's own entries
  std::size_t entries = kWalkEntriesMax;
  std::size_t folders = kWalkFoldersMax;
  Ignored ignored = Ignored::passed_over;
  std::string_view excludes;  // the text of the user's global git excludes
};

// Visits every entry below the folder in order, each folder before its content. Skips `.git` and
// temporary files that are about to replace others.
WalkReport walk_folder(const Grounds& grounds, const Opened& start, const WalkLimits& limits,
                       const Until& until, const std::function<Next(const Walked&)>& visit);

// Adds a note about what was not shown and why. `narrower` tells the model how to request less.
void note_walk(const WalkReport& report, std::string_view narrower, BoundedText& out);

}  // namespace agentrt::adapters::tools
