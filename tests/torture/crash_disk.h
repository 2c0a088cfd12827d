// tests/torture/crash_disk.h: simulates a power cut: which changes of a file survive it.
//
// A CrashDisk is notified of every write, truncation and sync of some files. Writes go to the real
// files at once; the disk remembers the content at the last sync of each file and the changes
// since. cut() restores each file to its last sync and then applies some of the later changes,
// depending on the kind of damage. Synced data is never touched.
//
// A file that was created and never synced may vanish. A file that was removed without a sync of
// its folder may reappear. Syncing a new file also syncs its folder, as SQLite's own VFS does.
//
// Threads: one at a time; the VFS around it holds a lock.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace agentrt::torture {

enum class Damage {
  drop,     // no unsynced change survives
  tear,     // each sector of an unsynced write survives or not
  reorder,  // some unsynced changes survive, in another order
  late,     // the sync succeeds, then all other unsynced changes are lost
};

std::optional<Damage> damage_named(std::string_view name);

constexpr std::uint64_t kSectorBytes = 512;

class CrashDisk {
 public:
  // Reads up to `size` bytes of the current file; fewer at its end.
  using Read = std::function<std::string(std::uint64_t at, std::uint64_t size)>;

  enum class Origin { found, made };
  // Called before the first change of an opened file. A file that was opened before is recognised.
  void opened(const std::string& path, Origin origin, std::uint64_t size);
  // Call these before the change happens.
  void write(const std::string& path, std::uint64_t at, std::string_view bytes, const Read& read);
  void truncate(const std::string& path, std::uint64_t size, const Read& read);
  // Call this after the sync.
  void synced(const std::string& path, std::uint64_t size);

  enum class FolderSync { yes, no };
  // Called before a file is removed. `content` is its complete content.
  void removed(const std::string& path, std::string content, FolderSync folder);

  // Leaves the files as after a power cut. Returns the number of unsynced changes.
  std::size_t cut(Damage damage, std::uint64_t seed);

 private:
  struct Change {
    std::uint64_t at = 0;
    std::optional<std::string> bytes;  // nullopt: the file was truncated to `at` bytes
  };
  struct File {
    bool entry_synced = false;                   // its name is durable in the folder
    std::uint64_t size = 0;                      // at the last sync
    std::map<std::uint64_t, std::string> saved;  // sectors as of the last sync, by offset
    std::vector<Change> changes;                 // since the last sync, oldest first
  };

  static void save(File& file, std::uint64_t from, std::uint64_t to, const Read& read);
  void restore(const std::string& path, const File& file) const;
  std::vector<Change> survivors(const File& file, Damage damage, std::mt19937_64& random) const;

  std::map<std::string, File> files_;
  std::map<std::string, std::string> ghosts_;  // removed, but their folder is not synced since
};

}  // namespace agentrt::torture
