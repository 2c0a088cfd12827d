// adapters/tools/walk.h: a walk through all folders below one.
//
// Links are entries like others and are never followed, so a walk ends and stays beneath where it
// began. What .gitignore files leave out, of the folders walked and of those above them that belong
// to the session, is passed over. Entries, folders, depth and time have limits; what was not
// reached is said. One thread at a time.
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
  std::string path;  // relative to where the walk began
  EntryKind kind = EntryKind::other;
  const Descriptor* folder = nullptr;  // that it stands in
  std::string_view name;
  std::string real_path;
};

enum class Next { go_on, stop };

// Why a walk ended before everything was seen.
enum class WalkEnd { all_seen, stopped, time, entries };

struct WalkReport {
  WalkEnd end = WalkEnd::all_seen;
  std::size_t left_out = 0;    // what is hidden or refused by policy; a folder counts once
  std::size_t ignored = 0;     // what .gitignore files leave out; a folder counts once
  std::size_t unreadable = 0;  // folders that the system does not let be read
};

enum class Ignored { passed_over, seen };

struct WalkLimits {
  std::uint64_t depth = kWalkDepthMax;  // 1: the entries of the folder itself
  std::size_t entries = kWalkEntriesMax;
  std::size_t folders = kWalkFoldersMax;
  Ignored ignored = Ignored::passed_over;
};

// Every entry below the folder in order, each folder before what it holds; `.git` is passed over,
// and so are files that are about to replace others.
WalkReport walk_folder(const Grounds& grounds, const Opened& start, const WalkLimits& limits,
                       const Until& until, const std::function<Next(const Walked&)>& visit);

// Adds what was not shown, and why. `narrower` says how to ask for less.
void note_walk(const WalkReport& report, std::string_view narrower, BoundedText& out);

}  // namespace agentrt::adapters::tools
